"""Gaussian processes for data with holes.

The estimators are loaded when they are first asked for: that takes a second, most of it scikit-learn and JAX.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .version import __version__

if TYPE_CHECKING:
    from .comparison import Comparison, compare
    from .estimators import (
        BayesianGPLVM,
        DeepGPRegressor,
        GPForecaster,
        GPImputer,
        ParquetRows,
        SemiDescribedGPRegressor,
        SemiSupervisedGPClassifier,
        SharedGPLVM,
        StateSpaceGP,
        StreamingGPRegressor,
        load,
        row_mesh,
    )
    from .reports import report

__all__ = [
    "BayesianGPLVM",
    "Comparison",
    "DeepGPRegressor",
    "GPForecaster",
    "GPImputer",
    "ParquetRows",
    "SemiDescribedGPRegressor",
    "SemiSupervisedGPClassifier",
    "SharedGPLVM",
    "StateSpaceGP",
    "StreamingGPRegressor",
    "__version__",
    "compare",
    "load",
    "report",
    "row_mesh",
]


def __getattr__(name: str) -> Any:
    if name in ("Comparison", "compare"):
        from . import comparison

        return getattr(comparison, name)
    if name == "report":
        from . import reports

        return reports.report
    if name in __all__:
        from . import estimators

        return getattr(estimators, name)
    raise AttributeError(f"module 'semigp' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
