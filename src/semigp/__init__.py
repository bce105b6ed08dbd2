"""Gaussian processes for data with holes."""

__version__ = "0.1.0.dev0"
