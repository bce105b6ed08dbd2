"""StateSpaceGP: series as noisy functions of latent states that move."""
