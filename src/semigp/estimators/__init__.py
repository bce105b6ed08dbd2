"""What a user calls: estimators in the manner of scikit-learn. Each is loaded when it is first asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..core.devices.row_mesh import row_mesh
    from .deep.regressor import DeepGPRegressor
    from .dynamics.state_space import StateSpaceGP
    from .few_labels.classifier import SemiSupervisedGPClassifier
    from .forecasting.forecaster import GPForecaster
    from .imputation.imputer import GPImputer
    from .latent.gplvm import BayesianGPLVM
    from .regression.regressor import SemiDescribedGPRegressor
    from .stored import load
    from .streaming.regressor import StreamingGPRegressor
    from .streaming.row_sources import ParquetRows
    from .views.shared import SharedGPLVM

__all__ = [
    "BayesianGPLVM",
    "DeepGPRegressor",
    "GPForecaster",
    "GPImputer",
    "ParquetRows",
    "SemiDescribedGPRegressor",
    "SemiSupervisedGPClassifier",
    "SharedGPLVM",
    "StateSpaceGP",
    "StreamingGPRegressor",
    "load",
    "row_mesh",
]
_MODULES = {
    "BayesianGPLVM": ".latent.gplvm",
    "DeepGPRegressor": ".deep.regressor",
    "GPForecaster": ".forecasting.forecaster",
    "GPImputer": ".imputation.imputer",
    "ParquetRows": ".streaming.row_sources",
    "SemiDescribedGPRegressor": ".regression.regressor",
    "SemiSupervisedGPClassifier": ".few_labels.classifier",
    "SharedGPLVM": ".views.shared",
    "StateSpaceGP": ".dynamics.state_space",
    "StreamingGPRegressor": ".streaming.regressor",
    "load": ".stored",
    "row_mesh": "..core.devices.row_mesh",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(_MODULES[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
