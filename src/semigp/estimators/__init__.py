"""scikit-learn estimators."""

from ..core.sharding import row_mesh
from .forecaster import GPForecaster
from .gplvm import BayesianGPLVM
from .imputer import GPImputer
from .saving import load
from .semi_described import SemiDescribedGPRegressor
from .semi_supervised import SemiSupervisedGPClassifier

__all__ = [
    "BayesianGPLVM",
    "GPForecaster",
    "GPImputer",
    "SemiDescribedGPRegressor",
    "SemiSupervisedGPClassifier",
    "load",
    "row_mesh",
]
