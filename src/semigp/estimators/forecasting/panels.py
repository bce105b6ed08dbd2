"""A panel of series: all are learned side by side, and what is common to them is learned first.

A few of the series are learned by themselves. They choose the window and the seasons together, and tell how the
parameters of a function of time usually differ from their medians, and how much from series to series. The less that
is, the more a short series learns from the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from ...core.exact.over_time import hyperprior
from ...core.search.report import Callback, FitReport
from ...progress import steps as in_steps
from ...series import Panel, read_panel
from .learning import Settings, Shared, learn
from .series_model import SeriesModel

_PILOTS = 8  # series that are learned by themselves first
_LEAST_SHARED = 5  # with fewer series, nothing is shared
_LEAST_SPREAD = 0.3


def read_whole_panel(frame: Any, covariates: Any, time: str | None, id: str, value: str | None) -> tuple[Panel, list]:  # noqa: A002
    """The panel of a long frame, and the names of its covariates, of which there may be one or several."""
    if value is None:
        raise ValueError("A panel needs value=, the column that holds the values.")
    names = [] if covariates is None else [covariates] if isinstance(covariates, str) else list(covariates)
    return read_panel(frame, id, time, value, names), names


def learn_panel(
    panel: Panel, settings: Settings, n_jobs: int | None, callback: Callback | None
) -> tuple[list[SeriesModel], list[FitReport]]:
    """The models of all series, and the reports of their last fits."""
    parts = list(zip(panel.series, panel.covariates, panel.timelines, strict=True))
    shared = None
    if len(parts) >= _LEAST_SHARED:
        longest = np.argsort([-len(values) for values in panel.series], kind="stable")
        pilots = longest[np.unique(np.linspace(0, len(parts) - 1, _PILOTS).astype(int))]
        some = [parts[i] for i in pilots]
        shared = _shared([learn(v, c, t, settings, callback)[0] for v, c, t in in_steps(some, "pilots")])
    if n_jobs in (None, 1):
        found = [learn(v, c, t, settings, callback, shared) for v, c, t in in_steps(parts, "series")]
    else:
        found = Parallel(n_jobs)(delayed(learn)(v, c, t, settings, None, shared) for v, c, t in parts)
    models, reports = zip(*found, strict=True)
    return list(models), [report for each in reports for report in each]


def _shared(models: list[SeriesModel]) -> Shared:
    """What series have in common."""
    window = Counter(model.window for model in models).most_common(1)[0][0]
    seasons = Counter(model.seasons for model in models).most_common(1)[0][0]
    deviations = []
    for model in models:
        for column, own in zip(model.standard().T, model.over_time.models, strict=True):
            if own.seasons == seasons:
                deviations.append(own.logs - hyperprior(column, seasons)[0])
    if not deviations:  # all series are too short for their seasons
        return Shared(window, seasons, None)
    median, spread = np.median(deviations, axis=0), np.std(deviations, axis=0)
    return Shared(window, seasons, (median, np.sqrt(spread**2 + _LEAST_SPREAD**2)))


def extend_panel(
    panel: Panel, models: list[SeriesModel], frame: Any, covariates: Sequence[str], settings: Settings
) -> tuple[Panel, list[SeriesModel]]:
    """The panel and its models after new values, which need not concern all of the series."""
    found = panel.read_more(frame, panel.value_name, covariates)
    unknown = [name for name in found.names if name not in panel.names]
    if unknown:
        raise ValueError(f"values has series that the panel does not have: {', '.join(map(repr, unknown[:3]))}.")
    longer = list(models)
    panel.check_follows(found, "values")
    for name, values, extra in zip(found.names, found.series, found.covariates, strict=True):
        place = panel.names.index(name)
        timeline = models[place].timeline.extended(len(values))
        longer[place] = models[place].extended(values, extra, timeline, settings)
    parts = zip(*((model.values, model.covariates, model.timeline) for model in longer), strict=True)
    series, known, timelines = map(list, parts)
    return replace(panel, series=series, covariates=known, timelines=timelines), longer
