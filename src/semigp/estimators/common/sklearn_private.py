"""All that is used of scikit-learn's private modules, so that a new version can break one file only.

`_parameter_constraints` of an estimator is public by use: scikit-learn's own estimators and their checks rely on it.
"""

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = ["HasMethods", "Interval", "StrOptions", "check_sample_weight"]
