"""Gaussian processes for data with holes."""

from .estimators import (
    BayesianGPLVM,
    GPForecaster,
    GPImputer,
    SemiDescribedGPRegressor,
    SemiSupervisedGPClassifier,
    load,
)

__all__ = [
    "BayesianGPLVM",
    "GPForecaster",
    "GPImputer",
    "SemiDescribedGPRegressor",
    "SemiSupervisedGPClassifier",
    "load",
]
__version__ = "0.1.0.dev0"
