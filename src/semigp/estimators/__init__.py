"""scikit-learn estimators."""

from .forecaster import GPForecaster
from .gplvm import BayesianGPLVM
from .saving import load
from .semi_described import SemiDescribedGPRegressor
from .semi_supervised import SemiSupervisedGPClassifier

__all__ = ["BayesianGPLVM", "GPForecaster", "SemiDescribedGPRegressor", "SemiSupervisedGPClassifier", "load"]
