"""How latent states may move."""
