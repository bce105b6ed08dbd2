"""Several views of the same rows: a GP for each view, and one q(X) for all of them."""
