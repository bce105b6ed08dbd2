"""scikit-learn estimators."""

from ..core.sharding import row_mesh
from .forecaster import GPForecaster
from .gplvm import BayesianGPLVM
from .imputer import GPImputer
from .row_sources import ParquetRows
from .saving import load
from .semi_described import SemiDescribedGPRegressor
from .semi_supervised import SemiSupervisedGPClassifier
from .streaming import StreamingGPRegressor

__all__ = [
    "BayesianGPLVM",
    "GPForecaster",
    "GPImputer",
    "ParquetRows",
    "SemiDescribedGPRegressor",
    "SemiSupervisedGPClassifier",
    "StreamingGPRegressor",
    "load",
    "row_mesh",
]
