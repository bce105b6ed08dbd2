"""Covariance functions with exact expectations under Gaussian inputs."""

from .base import Kernel
from .constant import Bias, White
from .linear import Linear
from .separable import RBF, Matern32, Matern52, Product
from .sums import Sum

__all__ = ["RBF", "Bias", "Kernel", "Linear", "Matern32", "Matern52", "Product", "Sum", "White"]
