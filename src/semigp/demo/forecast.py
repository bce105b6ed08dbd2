"""The example of a series with a gap."""

from __future__ import annotations

import numpy as np

from .. import plotting
from ..baselines import Climatology, Persistence
from ..estimators import GPForecaster
from ..reports import Drawing, Report
from ..series.forecast import Forecast
from .examples import SEED, Scores, Series


def forecast(report: Report) -> tuple[str, tuple[str, ...], Scores]:
    """Forecast the series, compare with the truth, and add a section to the report."""
    problem = Series()
    past, future = problem.past(), problem.future()
    model = GPForecaster(18, random_state=SEED).fit(past)
    found = model.forecast(problem.n_ahead)
    report.section(
        "A forecast of a series with a gap",
        f"{problem.n_steps} steps of a chaotic series (Mackey-Glass), measured with noise, {np.isnan(past).sum()} of "
        f"them missing. The task: forecast the next {problem.n_ahead}. Each of 500 paths follows a function drawn from "
        "the posterior.",
    )
    _draw_fan(report, found, future)
    others = {"persistence": Persistence(), "climatology": Climatology()}
    forecasts = {name: way.fit(past).forecast(problem.n_ahead, random_state=SEED) for name, way in others.items()}
    scores = {name: each.score(future) for name, each in {"semigp": found, **forecasts}.items()}
    rows = [(name, [each[key] for key in ("MAE", "CRPS", "coverage")]) for name, each in scores.items()]
    report.scores("The steps ahead", ["", "MAE", "CRPS", "inside 95 %"], rows, [True, True, None])
    drawing = Drawing((5.4, 3.4))
    drawing.draw(plotting.draw_relevance, model)
    report.figure(drawing, "Which past values matter.", "Bars of the relevance of the lags.")
    return f"Forecast of {problem.n_ahead} steps", ("MAE", "CRPS"), rows


def _draw_fan(report: Report, found: Forecast, future: np.ndarray) -> None:
    drawing = Drawing((7.2, 3.2))
    table = drawing.draw(plotting.draw_fan, found, truth=future)
    ahead = ~np.isnan(table["median"])
    columns = [table[key][ahead] for key in ("time", "median", "q0.025", "q0.975", "truth")]
    texts = [
        f"step {t}: {m:.2f} ({low:.2f} to {high:.2f}), was {c:.2f}" for t, m, low, high, c in zip(*columns, strict=True)
    ]
    drawing.spots(columns[0], columns[1], texts)
    report.figure(
        drawing,
        "The forecast as a fan, and the true continuation.",
        "A fan chart: the past, the median, bands of 50, 80 and 95 percent, and the truth.",
    )
