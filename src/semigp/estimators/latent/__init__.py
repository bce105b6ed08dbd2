"""Finding latent inputs of rows for which no inputs were recorded."""
