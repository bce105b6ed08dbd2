"""Checks of a dictionary of views, with messages that say what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def check_views(views: Any) -> None:
    """Raise ValueError unless `views` is a dictionary with at least one view."""
    if not isinstance(views, Mapping):
        raise ValueError(f'views is a {type(views).__name__}; give a dictionary such as {{"a": table, "b": table}}.')
    if not views:
        raise ValueError('views is empty; give at least one view, such as {"a": table, "b": table}.')
    if len({str(name) for name in views}) < len(views):
        raise ValueError("Two views have names that look the same as text. Rename one of them.")
    for name, view in views.items():
        if np.ndim(view) not in (1, 2):
            raise ValueError(
                f"View {name!r} is a {type(view).__name__} of shape {np.shape(view)}; give rows and columns."
            )
    _check_indices(views)


def _check_indices(views: Mapping[Any, Any]) -> None:
    """Raise ValueError if pandas views have the same index labels in different orders: rows go by their place."""
    indices = {name: view.index for name, view in views.items() if type(view).__module__.startswith("pandas")}
    for name, index in indices.items():
        first, known = next(iter(indices.items()))
        if len(index) == len(known) and not index.equals(known) and index.sort_values().equals(known.sort_values()):
            raise ValueError(
                f"Views {first!r} and {name!r} have the same index in different orders, but row i must be the same in "
                f"all views. Sort one as the other: views[{name!r}].loc[views[{first!r}].index]."
            )


def check_rows(values: Mapping[Any, np.ndarray], n_components: int) -> None:
    """Raise ValueError if the rows of views are not aligned, too few, or if a view has none in common with others."""
    check_aligned(values)
    n = len(next(iter(values.values())))
    if n_components >= n:
        raise ValueError(f"n_components={n_components} needs {n_components + 1} rows or more, not {n}.")
    has_row = {name: ~np.isnan(rows).all(axis=1) for name, rows in values.items()}
    for name, own in has_row.items():
        others = [rows for other, rows in has_row.items() if other != name]
        if others and not np.any(own & np.any(others, axis=0)):
            raise ValueError(
                f"View {name!r} has values in {own.sum()} rows, but no other view has any in the same rows. Align the "
                "rows: row i must be the same in all views, with NaN where a view does not have it."
            )


def check_aligned(values: Mapping[Any, np.ndarray]) -> None:
    """Raise ValueError if views have different numbers of rows."""
    counts = {name: len(rows) for name, rows in values.items()}
    if len(set(counts.values())) > 1:
        told = ", ".join(f"{count} in {name!r}" for name, count in counts.items())
        raise ValueError(
            f"Views have different numbers of rows: {told}. Row i must be the same in all views; where a view does not "
            "have a row, give a row of NaN."
        )


def check_given(views: Any, names: Sequence[Any]) -> None:
    """Raise ValueError unless `views` has at least one of the views of the model, and no other."""
    check_views(views)
    for name in views:
        check_name(name, names)


def check_name(name: Any, names: Sequence[Any]) -> None:
    """Raise ValueError if there is no view with this name."""
    if name not in names:
        raise ValueError(f"There is no view {name!r}; the model has {', '.join(map(repr, names))}.")
