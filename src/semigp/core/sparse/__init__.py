"""The variationally constrained GP: inducing points, inputs that are beliefs."""
