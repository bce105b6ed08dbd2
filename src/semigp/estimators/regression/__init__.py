"""A table with holes, and outputs to predict."""
