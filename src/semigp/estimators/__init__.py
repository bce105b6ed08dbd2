"""scikit-learn estimators."""

from .semi_described import SemiDescribedGPRegressor

__all__ = ["SemiDescribedGPRegressor"]
