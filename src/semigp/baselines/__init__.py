"""What semi-described regression is compared with: the paper's competitors, and what practitioners use.

Those of regression have the same interface: `fit(X, y)` with NaN in X, and `predict(X, return_std=False)` at complete
inputs. So have those of forecasting: `fit(series)` with NaN for gaps, and `forecast(steps, n_paths=500)`.
"""

from .gp import CompleteRowsGP, ExactGP
from .gp_series import GirardGP, NaiveGP, PublishedGP
from .imputation import GPLVMImputation, ImputedGP, JointGaussianImputer, MultipleImputationGP
from .series import AutoRegression, BoostedRecursion, Climatology, Persistence
from .simple import LinearBaseline, MeanBaseline, NearestNeighbour

__all__ = [
    "AutoRegression",
    "BoostedRecursion",
    "Climatology",
    "CompleteRowsGP",
    "ExactGP",
    "GPLVMImputation",
    "GirardGP",
    "ImputedGP",
    "JointGaussianImputer",
    "LinearBaseline",
    "MeanBaseline",
    "MultipleImputationGP",
    "NaiveGP",
    "NearestNeighbour",
    "Persistence",
    "PublishedGP",
]
