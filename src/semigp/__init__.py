"""Gaussian processes for data with holes."""

from .estimators import BayesianGPLVM, GPForecaster, SemiDescribedGPRegressor

__all__ = ["BayesianGPLVM", "GPForecaster", "SemiDescribedGPRegressor"]
__version__ = "0.1.0.dev0"
