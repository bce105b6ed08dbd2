"""StateSpaceGP: latent nonlinear dynamics."""
