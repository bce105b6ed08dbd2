"""scikit-learn estimators."""

from .forecaster import GPForecaster
from .semi_described import SemiDescribedGPRegressor

__all__ = ["GPForecaster", "SemiDescribedGPRegressor"]
