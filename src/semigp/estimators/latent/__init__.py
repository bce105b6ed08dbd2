"""Rows and no inputs: a latent space."""
