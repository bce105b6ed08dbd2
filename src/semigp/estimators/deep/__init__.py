"""Stacked GPs as a regressor."""
