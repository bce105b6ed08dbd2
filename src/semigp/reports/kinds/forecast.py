"""The report of a forecast."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ... import plotting
from ...estimators.forecasting.backtests import backtest
from ...series import Forecast, PanelForecast
from ...words import told_number, told_share
from ..figures import Drawing
from ..page import Report
from ..sections.beliefs import add_relevance
from ..sections.settings import add_left_out, add_settings
from .base import Subject

_MOST_SERIES, _MOST_STEPS, _ORIGINS, _HISTORY = 6, 24, 5, 200
_PRIORS = {
    "past": "a function of the past",
    "increments": "the last increments",
    "time": "a function of time",
    "recent": "a function of recent time",
}


def tell(subject: Subject) -> Report:
    """The fan, gaps, what the forecast is made of, and how earlier forecasts would have done."""
    model = subject.model
    forecast = subject.forecast if subject.forecast is not None else model.forecast(_steps(model))
    parts = list(zip(forecast, forecast.forecasts, strict=False)) if isinstance(forecast, PanelForecast) else []
    drawn = [(str(name), each) for name, each in parts[:_MOST_SERIES]] or [("", forecast)]
    tested, reasons = _backtested(model, drawn[0][1])
    page = Report("A forecast", _lead(drawn, len(parts), tested))
    _add_fans(page, drawn, len(parts))
    _add_gaps(page, drawn)
    _add_make_up(page, model)
    if tested:
        _add_backtest(page, tested, drawn[0][1])
    add_left_out(page, model, reasons)
    steps = len(drawn[0][1])
    python = f'model = {model!r}.fit(series)\nreport(model, "report.html", forecast=model.forecast({steps}))\n'
    add_settings(page, subject, "GPForecaster, report", python)
    return page


def _steps(model: Any) -> int:
    """A tenth of the series, and at most 24 steps."""
    first = model.forecast(1)
    past = (first.forecasts[0] if isinstance(first, PanelForecast) else first).past
    return max(1, min(_MOST_STEPS, len(past) // 10))


def _backtested(model: Any, forecast: Forecast) -> tuple[list[dict], list[str]]:
    """Scores of forecasts from earlier times, or why there are none."""
    if model._panel is not None or model._covariate_names:
        return [], ["Earlier forecasts are checked for one series without covariates only: see GPForecaster.backtest."]
    past = forecast.past
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            nothing = np.empty((len(past), 0))
            return backtest(model, past, nothing, forecast.timeline, len(forecast), _ORIGINS, "sample", 1), []
    except ValueError as error:
        return [], [f"Earlier forecasts could not be checked. {error}"]


def _lead(drawn: list[tuple[str, Forecast]], n_series: int, tested: list[dict]) -> str:
    forecast = drawn[0][1]
    gaps = sum(int(np.isnan(each.past).sum()) for _, each in drawn)
    told = f"{n_series} series, the first" if n_series else "A series"
    told += f" of {len(forecast.past)} steps; {len(forecast)} steps ahead; {gaps} missing values in what is drawn."
    if not tested:
        return told
    share = np.mean([row["coverage"] for row in tested])
    error = np.nanmean([row["MASE"] for row in tested])
    return (
        f"{told} Forecasts from {len(tested)} earlier times: of their 95 % intervals, {told_share(share)} hold what "
        f"came; their mean absolute error is {error:.2g} times the mean step from one value to the next."
    )


def _add_fans(page: Report, drawn: list[tuple[str, Forecast]], n_series: int) -> None:
    page.section("The forecast", "Each of many paths follows one function that agrees with the past. The bands hold "
                 "50, 80 and 95 % of the paths.")  # fmt: skip
    for name, forecast in drawn:
        count = len(forecast.timeline.names)
        drawing = Drawing((7.2, 0.6 + 2.6 * count), count)
        table = drawing.draw(plotting.draw_fan, forecast, history=max(_HISTORY, 2 * len(forecast)))
        if count == 1:
            ahead = ~np.isnan(table["median"])
            columns = [table[key][ahead] for key in ("time", "median", "q0.025", "q0.975")]
            texts = [
                f"{str(t)[:16]}: {told_number(m, 4)} ({told_number(a, 4)} to {told_number(b, 4)})"
                for t, m, a, b in zip(*columns, strict=True)
            ]
            drawing.spots(columns[0], columns[1], texts)
        what = f"{name}: the past" if name else "The past"
        page.figure(
            drawing, f"{what}, then the median and the bands.", "A fan chart: the past, then a median and bands."
        )
    if n_series > len(drawn):
        page.text(f"The first {len(drawn)} of {n_series} series are drawn.")


def _add_gaps(page: Report, drawn: list[tuple[str, Forecast]]) -> None:
    missing = {name: int(np.isnan(each.past).sum()) for name, each in drawn}
    if not any(missing.values()):
        return
    page.section(
        "Gaps",
        "Missing values inside a series are not filled by one line. They are averaged over. The method impute gives "
        "what is believed of them.",
    )
    sizes = [each.past.size for _, each in drawn]
    rows = [
        [name or "the series", str(count), told_share(count / size)]
        for (name, count), size in zip(missing.items(), sizes, strict=True)
    ]
    page.table("Missing values.", ["series", "missing", "share"], rows)


def _add_make_up(page: Report, model: Any) -> None:
    weights = model.weights_[0] if isinstance(model.weights_, list) else model.weights_
    page.section(
        "What the forecast is made of",
        "Paths come from several ideas of what a series is. Each has the share that it earned by forecasting stretches "
        "of the past that were held back.",
    )
    rows = [
        [_PRIORS.get(name, name), told_share(share)] for name, share in sorted(weights.items(), key=lambda x: -x[1])
    ]
    page.table("Share of the paths.", ["idea", "share"], rows)
    seasons = ", ".join(f"{season:.6g}" for season in model.seasons_) or "none"
    page.facts({"window (past values that are used)": model.window_, "seasons (steps)": seasons})
    if np.ndim(getattr(model, "lag_relevance_", 0)):
        add_relevance(page, model, "Which past values matter", "Lag 1 is the last value, lag 2 the one before it.")


def _add_backtest(page: Report, tested: list[dict], forecast: Forecast) -> None:
    page.section(
        "Does it hold?",
        f"Forecasts of {len(forecast)} steps from earlier times, and what came then. MASE is the mean absolute error "
        "in units of the mean step of the series.",
    )
    keys = ("MAE", "MASE", "CRPS")
    rows = [
        [str(row["origin"]), *(told_number(row[key]) for key in keys), told_share(row["coverage"])] for row in tested
    ]
    page.table("Earlier forecasts.", ["values known", "MAE", "MASE", "CRPS", "inside 95 %"], rows)
