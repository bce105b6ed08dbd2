"""How the priors of one series are learned: from values to priors with weights, and draws of the gaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.search.report import Callback, FitReport
from ...series import cycles
from ...series.timeline import Timeline
from ..common.reports import worst
from ..common.units import Units
from .dynamics import candidates, choose_lags, fit_models, has_enough_windows, with_seasons
from .exceptions import is_spike, shifts
from .gap_beliefs import GapBelief, gaps_over_time
from .priors import Driven, Increments, OverTime, Past
from .scale import SeriesScale
from .searches import Searches
from .seasons import find_seasons, seasonal_lags
from .series_model import SeriesModel, features, standard_covariates
from .weights import weigh

# Beside a function of time learned from all values there is one learned from the latest third of them, if these are
# enough.
_RECENT, _LEAST_RECENT = 1 / 3, 100
# From so many values on, a series with lagged covariates is learned as a driven system. Its function of the past then
# only fills gaps and propagates moments; the window of this is not chosen.
_LEAST_DRIVEN, _DRIVEN_WINDOW = 60, 10
ONLY: dict[str, str] = {"increments": "increments", "time": "time"}  # what `trend` may ask for: the name of the prior


@dataclass(frozen=True)
class Settings:
    """What a user has asked for."""

    window: int | str
    season: Any
    trend: str | None
    positive: bool | str
    covariate_lags: int
    n_draws: int
    max_iter: int
    seed: int


@dataclass(frozen=True)
class Shared:
    """What a panel has learned from all of its series."""

    window: int
    seasons: tuple[float, ...]
    over_time: tuple[np.ndarray, np.ndarray] | None  # of `fit_over_time`


def learn(
    values: np.ndarray,
    covariates: np.ndarray,
    timeline: Timeline,
    settings: Settings,
    callback: Callback | None,
    shared: Shared | None = None,
) -> tuple[SeriesModel, list[FitReport]]:
    """The model of one series, and the reports of its last fits."""
    searches, is_driven = Searches(callback), _is_driven(covariates, settings)
    # Spikes and jumps of a driven system may be due to its inputs.
    usual = values if is_driven else np.where(is_spike(values), np.nan, values)
    offsets = np.zeros(values.shape) if is_driven or settings.trend is None else shifts(usual)
    rough = Units.of(usual + offsets).standard(usual + offsets)
    seasons = shared.seasons if shared else _seasons(rough, settings.season, timeline, searches)
    scale = SeriesScale.of(usual, seasons, settings.positive, offsets, searches)
    standard = scale.standard(usual + offsets)
    covariate_scale = Units.of(covariates)
    has_calendar = settings.season is not None and timeline.index is not None and bool(cycles(timeline))
    model = SeriesModel(
        values, covariates, timeline, scale, covariate_scale, offsets, seasons, settings.covariate_lags, has_calendar
    )
    extra = features(model, standard_covariates(covariate_scale, covariates), len(values))
    over_time = OverTime.fitted(
        standard, seasons, settings.max_iter, searches, shared=shared.over_time if shared else None
    )
    windows = [shared.window] if shared else _windows(settings.window, len(values), is_driven)
    past, window, reports = _past(standard, extra, over_time, seasons, windows, settings, searches)
    model = model.with_past(past, window).with_gaps(standard, extra, over_time, settings)
    if is_driven:
        inputs = covariates.shape[1], settings.covariate_lags
        driven = Driven.fitted(model.pasts[0], extra, *inputs, settings.max_iter, searches)
        priors: dict[str, Any] = {"driven": driven}
    else:
        priors = _priors(model, extra, over_time, past, seasons, settings, searches)
    first = int(past.lags[0]) + 5
    weights = weigh(priors, model.pasts[0], extra, ~np.isnan(standard), first)
    if searches.interrupted is not None and worst(reports).status != "interrupted":
        reports = [searches.interrupted]
    return model.with_priors(priors, weights), reports


def _is_driven(covariates: np.ndarray, settings: Settings) -> bool:
    """Whether a series is learned as a system that is driven by its covariates."""
    has_lags = covariates.shape[1] > 0 and settings.covariate_lags > 0
    return has_lags and settings.trend == "auto" and len(covariates) >= _LEAST_DRIVEN


def _windows(window: int | str, count: int, is_driven: bool) -> list[int]:
    """The windows to choose from."""
    if is_driven and isinstance(window, str):
        return [min(_DRIVEN_WINDOW, count // 4)]
    return candidates(window, count)


def _seasons(standard: np.ndarray, season: Any, timeline: Timeline, searches: Searches) -> tuple[float, ...]:
    """The seasons that were asked for, or that the series has."""
    if season is None:
        return ()
    if isinstance(season, str):
        calendar = cycles(timeline) if timeline.index is not None else ()
        return find_seasons(standard, calendar, searches)
    return tuple(float(each) for each in np.unique(season))


def _past(standard, extra, over_time, seasons, windows, settings, searches) -> tuple[Past, int, list[FitReport]]:
    """The function of the past, its window, and the reports of its fit."""
    how = settings.max_iter, searches
    has_gaps = bool(np.isnan(standard).any())
    filled = gaps_over_time(standard, over_time).filled(standard) if has_gaps else standard
    seasonal = seasonal_lags(seasons, len(standard))
    starts: list = []
    if len(windows) > 1 or len(seasonal):
        window, lags, starts, reports = choose_lags(filled, extra, windows, seasonal, *how)
        if searches.interrupted:
            return Past(starts, lags), window, reports
    else:
        window, lags = windows[0], with_seasons(windows[0], seasonal)
    # The first fit uses the windows without gaps, if there are enough of them. The second uses all windows, with the
    # gaps filled by a draw: their means would fit too well, and the noise would be underestimated.
    is_enough = has_enough_windows(standard, extra, lags)
    models, reports = fit_models(standard if is_enough else filled, extra, lags, *how, starts)
    if has_gaps and not searches.interrupted:
        belief = GapBelief.of(standard, extra, over_time, Past(models, lags))
        drawn = belief.filled(standard, belief.draws(1, settings.seed)[0])
        models, reports = fit_models(drawn, extra, lags, *how)
    return Past(models, lags), window, reports


def _priors(model, extra, over_time, past, seasons, settings, searches) -> dict[str, Any]:
    """The priors that take part, by name."""
    if settings.trend is None:
        return {"past": past}
    drawn, seasonal = model.pasts[0], seasonal_lags(seasons, len(model.values))
    own = settings.max_iter, searches
    priors: dict[str, Any] = {
        "past": past,
        "increments": Increments.fitted(drawn, extra, seasonal, *own),
        "time": over_time,
    }
    if settings.trend in ONLY:
        return {ONLY[settings.trend]: priors[ONLY[settings.trend]]}
    latest = max(_LEAST_RECENT, round(_RECENT * len(drawn)))
    if latest < 0.8 * len(drawn):
        priors["recent"] = OverTime.fitted(drawn, seasons, *own, latest)
    return priors
