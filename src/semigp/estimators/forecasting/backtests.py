"""Scores of forecasts from several origins of a series."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from ...progress import steps as in_steps
from ...series.timeline import Timeline


def backtest(
    forecaster: Any,
    values: np.ndarray,
    covariates: np.ndarray,
    timeline: Timeline,
    horizon: int,
    n_origins: int,
    propagation: str,
    season: int,
) -> list[dict[str, Any]]:
    """The model is fitted up to the first origin, and updated for the others."""
    last, first = len(values) - horizon, len(values) // 2
    if last < first:
        raise ValueError(f"A horizon of {horizon} leaves no room in the second half of {len(values)} steps.")
    origins = np.unique(np.linspace(first, last, n_origins).astype(int))
    flat = values[:, 0] if timeline.is_flat else values
    known = covariates if covariates.shape[1] else None

    def some(start: int, stop: int) -> Any:
        return None if known is None else known[start:stop]

    found = []
    beginning, time = _framed(flat[: origins[0]], timeline)
    model = clone(forecaster).fit(beginning, some(0, origins[0]), time)
    for i, origin in enumerate(in_steps(origins, "forecasts")):
        if i:
            model.update(flat[origins[i - 1] : origin], some(origins[i - 1], origin))
        forecast = model.forecast(horizon, propagation, covariates=some(origin, origin + horizon))
        truth = flat[origin : origin + horizon]
        found.append({"origin": int(origin), **forecast.score(truth, season=season)})
    return found


def _framed(values: np.ndarray, timeline: Timeline) -> tuple[Any, str | None]:
    """The beginning of a series, with its times if it has some, and the column in which they are.

    The calendar is then seen.
    """
    if timeline.index is None:
        return values, None
    columns = dict(zip(timeline.names, values.reshape(len(values), -1).T, strict=True))
    frame = timeline.frame(columns, timeline.index[: len(values)])
    if timeline.library is None or timeline.library.is_pandas():  # the times are the index
        return frame[timeline.names[0]] if timeline.is_flat else frame, None
    return frame, timeline.time_name
