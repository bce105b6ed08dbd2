"""How estimators read their inputs: plain numbers as scikit-learn does, other columns through `Columns`."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from ...columns import Columns, Kind, Levels
from ...columns.columns import holds_only_numbers
from ...columns.tables import is_frame
from ...core.numerics import checks
from .checks import check_error_bars
from .numbers import told_of_text
from .sklearn_private import check_feature_names, check_n_features

_TEXT_IN_ARRAY = "The array X holds text. Give a frame, or say which columns hold categories: categorical_features=[…]."
_HOW = {"dtype": np.float64, "ensure_all_finite": "allow-nan", "order": "C"}


def learn_inputs(
    estimator: Any, X: Any, categorical_features: Any = None, keeps_identifiers: bool = False, **how: Any
) -> np.ndarray:
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
    keeps_identifiers : bool
        Whether a frame of numbers is plain even if one of them is an identifier. Where every process sees rows of its
        own, they could not agree on what an identifier is.
    **how
        Further options of scikit-learn's `validate_data`, of which other tables heed `ensure_min_samples`.
    """
    estimator._columns = None
    if _is_plain(X, categorical_features, keeps_identifiers):
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


def names_of_inputs(estimator: Any) -> Any:
    """The names of the columns that `learn_inputs` returned, or None if they have none."""
    if estimator._columns is not None:
        return estimator._columns.names_of_used
    return getattr(estimator, "feature_names_in_", None)


def kinds_of_inputs(estimator: Any, order: np.ndarray) -> list[Kind | None]:
    """The kinds of the columns that `learn_inputs` returned, in an order; None for those of plain tables of numbers."""
    columns = estimator._columns
    return [None if columns is None else columns.used[j] for j in order]


def expanded(estimator: Any, codes: np.ndarray) -> np.ndarray:
    """Inputs in which levels without an order are groups of 0 and 1; plain numbers unchanged."""
    return codes if estimator._columns is None else estimator._columns.expand(codes)


def read_error_bars(estimator: Any, X_std: Any, codes: np.ndarray) -> np.ndarray:
    """Error bars of the same shape as the codes, from those of all columns of X. They are 0 if `X_std` is None.

    Raises ValueError if the error bar of a level is not 0.
    """
    columns = estimator._columns
    if columns is None or X_std is None:
        return check_error_bars(X_std, codes, estimator)
    rows = np.full((len(codes), estimator.n_features_in_), np.nan)
    rows[:, columns.places] = codes
    bars = check_error_bars(X_std, rows, estimator)[:, columns.places]
    for kind, column in zip(columns.used, bars.T, strict=True):
        if isinstance(kind, Levels) and column.any():
            raise ValueError(f"X_std is not 0 in column {kind.name!r}, which has levels. Only numbers have error bars.")
    return bars


def expanded_bars(estimator: Any, bars: np.ndarray) -> np.ndarray:
    """Error bars of an expanded table: one for each of its columns."""
    columns = estimator._columns
    return bars if columns is None else np.repeat(bars, [kind.width for kind in columns.used], axis=1)


def collapsed(estimator: Any, filled: np.ndarray, std: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes and their standard deviations from those of an expanded table. A level that was filled in has NaN."""
    columns = estimator._columns
    if columns is None:
        return filled, std
    first = [group[0] for group in columns.groups]
    is_level = np.array([isinstance(kind, Levels) for kind in columns.used])
    return columns.collapse(filled), np.where(is_level & (std[:, first] > 0), np.nan, std[:, first])


def largest_of_groups(estimator: Any, values: np.ndarray) -> np.ndarray:
    """For every used column, the largest value in its group of an expanded table."""
    columns = estimator._columns
    return values if columns is None else np.array([values[list(group)].max() for group in columns.groups])


def _is_plain(X: Any, categorical_features: Any, keeps_identifiers: bool) -> bool:
    if categorical_features is not None and len(categorical_features):
        return False
    return not is_frame(X) or holds_only_numbers(X, keeps_identifiers)


def _validated(estimator: Any, X: Any, **how: Any) -> np.ndarray:
    """The array of a table of numbers. Infinite values are refused, with their place, unless the caller does so."""
    try:
        found = validate_data(estimator, X, **(_HOW | how | {"ensure_all_finite": False}))
    except ValueError as error:
        if "could not convert string" not in str(error):
            raise
        raise ValueError(told_of_text(X, "X") if is_frame(X) else _TEXT_IN_ARRAY) from error
    if (_HOW | how)["ensure_all_finite"]:
        checks.check_finite("X", found, allow_nan=True)
    return found
