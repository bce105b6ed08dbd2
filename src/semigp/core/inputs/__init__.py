"""What is known about the inputs: beliefs, and the priors with which they are compared."""
