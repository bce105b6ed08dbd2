"""Engine: latent states that follow a GP from step to step, and outputs that are GPs of the states."""
