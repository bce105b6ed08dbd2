"""How estimators read their inputs: plain numbers as scikit-learn does, other columns through `Columns`."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils.validation import validate_data

from ...columns import Columns
from ...columns.columns import holds_only_numbers
from ...columns.tables import is_frame
from .checks import check_error_bars
from .sklearn_private import check_feature_names, check_n_features

_HOW = {"dtype": np.float64, "ensure_all_finite": "allow-nan", "order": "C"}


def learn_inputs(estimator: Any, X: Any, categorical_features: Any = None, **how: Any) -> np.ndarray:
    """The inputs of a fit as floats (n, q), NaN where missing.

    Sets `n_features_in_`, `feature_names_in_` and `_columns`. A table of numbers is checked by scikit-learn, and
    `_columns` is None. Of other tables the codes are returned, which have no columns for what is left out.

    Parameters
    ----------
    estimator : estimator
        The one that is being fitted.
    X : frame or array
    categorical_features : list of names or numbers, or mask, optional
        Columns that hold categories, whatever their type.
    **how
        Further options of scikit-learn's `validate_data`, of which other tables heed `ensure_min_samples`.
    """
    estimator._columns = None
    if _is_plain(X, categorical_features):
        return _validated(estimator, X, **how)
    columns = Columns.learn(X, categorical_features)
    codes = columns.encode(X)
    fewest = how.get("ensure_min_samples", 1)
    if len(codes) < fewest:
        raise ValueError(f"Found array with {len(codes)} sample(s) while a minimum of {fewest} is required.")
    check_n_features(estimator, X, reset=True)
    check_feature_names(estimator, X, reset=True)
    estimator._columns = columns
    return codes


def read_inputs(estimator: Any, X: Any, **how: Any) -> np.ndarray:
    """The inputs of new rows as floats (n, q), with the columns that `learn_inputs` has found."""
    if estimator._columns is None:
        return _validated(estimator, X, reset=False, **how)
    check_feature_names(estimator, X, reset=False)
    check_n_features(estimator, X, reset=False)
    return estimator._columns.encode(X)


def read_error_bars(estimator: Any, X_std: Any, codes: np.ndarray) -> np.ndarray:
    """Error bars of the codes of a table, 0 where exact. They are given for all columns of the table, or not at all."""
    if estimator._columns is None or X_std is None:
        return check_error_bars(X_std, codes, estimator)
    frame = nw.from_native(X_std, eager_only=True, pass_through=True)
    bars = np.asarray(frame.to_numpy() if isinstance(frame, nw.DataFrame) else X_std, dtype=float)
    if bars.ndim != 2 or bars.shape[1] != estimator.n_features_in_:
        raise ValueError(f"X_std has shape {bars.shape}; give an error bar, or 0, for all {estimator.n_features_in_} columns.")
    return check_error_bars(bars[:, list(estimator._columns.places)], codes)


def _is_plain(X: Any, categorical_features: Any) -> bool:
    if categorical_features is not None and len(categorical_features):
        return False
    return not is_frame(X) or holds_only_numbers(X)


def _validated(estimator: Any, X: Any, **how: Any) -> np.ndarray:
    try:
        return validate_data(estimator, X, **(_HOW | how))
    except ValueError as error:
        if "could not convert string" not in str(error) or is_frame(X):
            raise
        raise ValueError(
            "The array X holds text. Give a frame, or say which columns hold categories: categorical_features=[…]."
        ) from error
