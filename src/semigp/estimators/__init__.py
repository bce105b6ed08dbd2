"""scikit-learn estimators."""

from .forecaster import GPForecaster
from .gplvm import BayesianGPLVM
from .semi_described import SemiDescribedGPRegressor

__all__ = ["BayesianGPLVM", "GPForecaster", "SemiDescribedGPRegressor"]
