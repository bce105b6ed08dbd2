"""A table to be filled."""
