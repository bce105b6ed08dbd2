"""Checks of what a forecaster is given, with messages that say what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...series import in_order, read_series


def read_covariates(
    covariates: Any, steps: int, names: list[str] | None = None, what: str = "covariates"
) -> tuple[np.ndarray, list[str]]:
    """The values and names of the covariates. If `names` is given, the columns of a frame are put in that order."""
    if covariates is None:
        return np.zeros((steps, 0)), []
    values, found = read_series(covariates, what)
    if len(values) != steps:
        raise ValueError(f"{what} has {len(values)} rows; {steps} are needed, one for every step.")
    if names is not None:
        if values.shape[1] != len(names):
            raise ValueError(f"{what} has {values.shape[1]} columns; the model was fitted with {len(names)}.")
        values = in_order(values, found, names, what)
        if np.isnan(values).any():
            raise ValueError(f"{what} holds NaN; of steps to come, all {what} must be known.")
    elif np.isnan(values).all(axis=0).any():
        raise ValueError(f"{what} has no value in column {int(np.argmax(np.isnan(values).all(axis=0)))}.")
    return values, found.names


def read_scenarios(scenarios: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Covariates of several futures, by name."""
    if not scenarios:
        raise ValueError("covariates is an empty dictionary; give at least one scenario.")
    return scenarios


def check_season(season: Any) -> None:
    """Raise ValueError if seasons that were given are not lengths of two steps or more."""
    if season is None or isinstance(season, str):
        return
    try:
        lengths = np.asarray(season, float)
    except (TypeError, ValueError):
        lengths = np.full(1, np.nan)
    if lengths.ndim > 1 or not np.all(lengths >= 2.0) or not np.all(np.isfinite(lengths)):
        raise ValueError(f"season must be one length in steps, 2 or more, or a list of such lengths; got {season!r}.")


def check_length(values: np.ndarray, window: int | str, what: str = "series") -> None:
    """Raise ValueError if a series is too short, constant or of absurd size."""
    known = (~np.isnan(values)).sum(axis=0)
    if known.min() == 0:
        raise ValueError(f"{what} has no value in column {int(np.argmin(known))}: there is nothing to learn from.")
    spans, sizes = np.nanmax(values, axis=0) - np.nanmin(values, axis=0), np.nanmax(np.abs(values), axis=0)
    if np.any(spans <= 1e-12 * sizes):
        column = int(np.argmax(spans <= 1e-12 * sizes))
        raise ValueError(f"{what} is constant in column {column}: there are no dynamics to learn.")
    if not (spans.min() > 1e-150 and sizes.max() < 1e150):
        raise ValueError(f"{what} has values beyond 1e150, or that differ by less than 1e-150; change its units.")
    least = 3 if isinstance(window, str) else window + 2
    if len(values) < least:
        raise ValueError(f"{what} has {len(values)} steps; a window of {window} needs {least} or more.")
    if known.min() < 3:
        raise ValueError(f"{what} has {known.min()} known values in column {int(np.argmin(known))}; 3 are needed.")
