"""Methods with which our estimators are compared: the paper's competitors, and methods that practitioners use.

All methods for one task have the same interface.

- Regression: `fit(X, y)` with NaN in X, and `predict(X, return_std=False)` at complete inputs.
- Forecasting: `fit(series)` with NaN for gaps, and `forecast(steps, n_paths=500)`.
- Classification with few labels: `fit(X, y)` with -1 for unlabelled rows, `predict(X)` and mostly `predict_proba(X)`.
"""

from .gp import CompleteRowsGP, ExactGP
from .gp_series import GirardGP, NaiveGP, PublishedGP
from .imputation import GPLVMImputation, ImputedGP, JointGaussianImputer, MultipleImputationGP
from .labels import Embedded, LabelledRows, OneHotGP
from .series import AutoRegression, BoostedRecursion, Climatology, Persistence
from .simple import LinearBaseline, MeanBaseline, NearestNeighbour

__all__ = [
    "AutoRegression",
    "BoostedRecursion",
    "Climatology",
    "CompleteRowsGP",
    "Embedded",
    "ExactGP",
    "GPLVMImputation",
    "GirardGP",
    "ImputedGP",
    "JointGaussianImputer",
    "LabelledRows",
    "LinearBaseline",
    "MeanBaseline",
    "MultipleImputationGP",
    "NaiveGP",
    "NearestNeighbour",
    "OneHotGP",
    "Persistence",
    "PublishedGP",
]
