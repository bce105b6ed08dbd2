"""What a user calls: estimators in the manner of scikit-learn."""

from ..core.devices.row_mesh import row_mesh
from .few_labels.classifier import SemiSupervisedGPClassifier
from .forecasting.forecaster import GPForecaster
from .imputation.imputer import GPImputer
from .latent.gplvm import BayesianGPLVM
from .regression.regressor import SemiDescribedGPRegressor
from .stored import load
from .streaming.regressor import StreamingGPRegressor
from .streaming.row_sources import ParquetRows

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
