"""Gaussian processes for data with holes."""

from .estimators import GPForecaster, SemiDescribedGPRegressor

__all__ = ["GPForecaster", "SemiDescribedGPRegressor"]
__version__ = "0.1.0.dev0"
