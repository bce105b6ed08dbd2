"""What semi-described regression is compared with: the paper's competitors, and what practitioners use.

All have the same interface: `fit(X, y)` with NaN in X, and `predict(X, return_std=False)` at complete inputs.
"""

from .gp import CompleteRowsGP, ExactGP
from .imputation import GPLVMImputation, ImputedGP, JointGaussianImputer, MultipleImputationGP
from .simple import LinearBaseline, MeanBaseline, NearestNeighbour

__all__ = [
    "CompleteRowsGP",
    "ExactGP",
    "GPLVMImputation",
    "ImputedGP",
    "JointGaussianImputer",
    "LinearBaseline",
    "MeanBaseline",
    "MultipleImputationGP",
    "NearestNeighbour",
]
