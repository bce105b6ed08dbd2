"""Regression on a table with holes."""
