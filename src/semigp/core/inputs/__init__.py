"""What is known of inputs: beliefs, and the priors they are compared with."""
