"""The variationally constrained GP: a GP with inducing points whose inputs are beliefs."""
