"""Gaussian processes for data with holes."""

from .estimators import SemiDescribedGPRegressor

__all__ = ["SemiDescribedGPRegressor"]
__version__ = "0.1.0.dev0"
