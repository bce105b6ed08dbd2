"""Regression on more rows than fit in memory."""
