"""Scores of forecasts from several origins of a series."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from ...progress import steps as in_steps
from ...series.timeline import Timeline


def backtest(
    model: Any, values: np.ndarray, inputs: np.ndarray, timeline: Timeline, horizon: int, n_origins: int, season: int
) -> list[dict[str, Any]]:
    """The model is fitted up to every origin."""
    last, first = len(values) - horizon, len(values) // 2
    if last < first:
        raise ValueError(f"A horizon of {horizon} leaves no room in the second half of {len(values)} steps.")
    flat = values[:, 0] if timeline.is_flat else values
    found = []
    for origin in in_steps(np.unique(np.linspace(first, last, n_origins).astype(int)), "forecasts"):
        end = origin + horizon
        before, ahead = (inputs[:origin], inputs[origin:end]) if inputs.shape[1] else (None, None)
        forecast = clone(model).fit(flat[:origin], before).forecast(horizon, inputs=ahead)
        found.append({"origin": int(origin), **forecast.score(flat[origin:end], season=season)})
    return found
