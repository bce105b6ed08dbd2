"""The sparse GP with latent inputs that move over time: q(X) under a GP over time, one for each latent input."""
