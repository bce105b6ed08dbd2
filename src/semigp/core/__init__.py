"""The engine: beliefs, kernels with exact expectations, the collapsed bound, and what it predicts."""

from .inputs.beliefs import InputBelief
from .inputs.priors import GaussianPrior, RowPrior, StandardPrior, error_bar_prior, kl_divergence
from .kernels import RBF, Bias, Kernel, Linear, Matern32, Matern52, Product, Sum, White
from .sparse.bound import collapsed_bound
from .sparse.posterior import Posterior, fit_posterior

__all__ = [
    "RBF",
    "Bias",
    "GaussianPrior",
    "InputBelief",
    "Kernel",
    "Linear",
    "Matern32",
    "Matern52",
    "Posterior",
    "Product",
    "RowPrior",
    "StandardPrior",
    "Sum",
    "White",
    "collapsed_bound",
    "error_bar_prior",
    "fit_posterior",
    "kl_divergence",
]
