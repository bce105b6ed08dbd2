"""Everything that we use from scikit-learn's private modules. A new version can then break this one file only.

The attribute `_parameter_constraints` of our estimators is also private by its name. But scikit-learn's own estimators
and its checks for estimators rely on it.
"""

from sklearn.utils import _safe_indexing as take_rows
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import _check_feature_names as check_feature_names
from sklearn.utils.validation import _check_n_features as check_n_features
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

OUTPUT_CONFIG = "_sklearn_output_config"  # where the choice of `set_output` is kept; a clone copies it

__all__ = [
    "OUTPUT_CONFIG",
    "HasMethods",
    "Interval",
    "StrOptions",
    "check_feature_names",
    "check_n_features",
    "check_sample_weight",
    "take_rows",
]
