"""The dynamics of a series: for every column an exact GP that predicts the next value from the last ones.

All values are in standard units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.exact.gp import TOLERANCE, ExactModel, ExactPosterior, ExactRows, condition, fit_exact
from ...core.exact.windows import slopes_by_lag, window_table
from ...core.hyperpriors import LogNormal
from ...core.kernels import RBF, Linear
from ...core.search.report import Callback, FitReport, labelled
from ..common.relevance import slope_variance
from ..common.reports import at_once

# The largest number of windows to which hyperparameters are fitted, and on which a forecast is conditioned.
_MAX_TO_FIT, _MAX_TO_CONDITION = 500, 2000
# Wide hyperpriors let lags that do not matter drop out. A system may need only two of two dozen lags.
_SPREAD, _SIGNAL_SPREAD = 3.0, 1.0
_LINEAR_VARIANCE, _START_NOISE = 0.1, 1e-3
_CANDIDATES = (1, 2, 3, 4, 6, 9, 12, 18, 24, 36)
# All candidates are tried on a few windows, and the best of them on as many as in a fit, up to a coarse tolerance.
_MAX_TO_TRY, _TRIAL_TOLERANCE, _FINALISTS = 250, 1e-4, 3

Fitted = tuple[list[ExactModel], list[FitReport]]


@dataclass(frozen=True)
class Trial:
    """The place of a fit among those that are compared, and the largest number of windows that it uses."""

    number: int
    count: int
    max_rows: int


def fit_models(
    values: np.ndarray,
    covariates: np.ndarray,
    window: int,
    max_iter: int,
    callback: Callback | None,
    starts: Sequence[ExactModel] = (),
    trial: Trial | None = None,
) -> Fitted:
    """Fit a model for each column of `values` (T, p), to the windows without NaN. Starts can be given.

    After an interrupt, the searches for the columns that are left end at once.
    """
    inputs, targets = window_table(values, covariates, window)
    usable = np.flatnonzero(~np.isnan(np.column_stack([inputs, targets])).any(axis=1))
    some = usable[
        np.unique(
            np.linspace(0, len(usable) - 1, min(trial.max_rows if trial else _MAX_TO_FIT, len(usable))).astype(int)
        )
    ]
    q, p = inputs.shape[1], targets.shape[1]
    start = ExactModel(RBF(1.0, np.full(q, np.sqrt(q))) + Linear(np.full(q, _LINEAR_VARIANCE / q)), _START_NOISE)
    models: list[ExactModel] = []
    reports: list[FitReport] = []
    number, count = (0, 1) if trial is None else (trial.number, trial.count)
    for column, first in enumerate(starts or [start] * p):
        rows = ExactRows.of(inputs[some], targets[some, column])
        place = {"part": number * p + column + 1, "parts": count * p, "phase": "trial" if trial else "fit"}
        told = at_once if reports and reports[-1].status == "interrupted" else labelled(callback, **place)
        tolerance = TOLERANCE if trial is None else _TRIAL_TOLERANCE
        model, report = fit_exact(first, rows, _hyperpriors(q), max_iter, tolerance, told)
        models.append(model)
        reports.append(report)
    return models, reports


def _hyperpriors(q: int) -> dict[str, LogNormal]:
    return {
        "kernel*lengthscale": LogNormal(np.sqrt(q), _SPREAD),
        "kernel*variances": LogNormal(_LINEAR_VARIANCE / q, _SPREAD),
        "kernel.kernels.0.variance": LogNormal(1.0, _SIGNAL_SPREAD),
    }


def choose_window(
    filled: np.ndarray, covariates: np.ndarray, max_iter: int, callback: Callback | None
) -> tuple[int, list[ExactModel], list[FitReport]]:
    """The window with the highest evidence, less one nat per lag; its models, and the reports of the latest fits.

    Windows are compared on the same values, which have enough past for the longest window. All windows are tried,
    because the evidence need not rise steadily: a system with a delay has a second, higher maximum at the delay. After
    an interrupt, it is the best window so far.
    """
    candidates = [tau for tau in _CANDIDATES if tau <= max(1, len(filled) // 4)]
    longest = candidates[-1]
    has_final = len(filled) - longest > _MAX_TO_TRY
    count = len(candidates) + has_final * min(_FINALISTS, len(candidates))

    def ranked(windows: Sequence[int], first: int, max_rows: int) -> tuple[list[tuple[int, list[ExactModel]]], list]:
        """The windows and their models, best first, and the reports of the latest fits."""
        found = []
        for number, tau in enumerate(windows):
            late, trial = slice(longest - tau, None), Trial(first + number, count, max_rows)
            models, reports = fit_models(filled[late], covariates[late], tau, max_iter, callback, trial=trial)
            found.append((sum(report.bound for report in reports) - tau * filled.shape[1], tau, models))
            if reports[-1].status == "interrupted":
                break
        return [(tau, models) for _, tau, models in sorted(found, key=lambda trial: -trial[0])], reports

    tried, reports = ranked(candidates, 0, _MAX_TO_TRY)
    if has_final and reports[-1].status != "interrupted":
        tried, reports = ranked([tau for tau, _ in tried[:_FINALISTS]], len(candidates), _MAX_TO_FIT)
    return *tried[0], reports


def has_enough_windows(values: np.ndarray, covariates: np.ndarray, window: int) -> bool:
    """Whether there are enough windows without NaN to learn from."""
    inputs, targets = window_table(values, covariates, window)
    complete = ~np.isnan(np.column_stack([inputs, targets])).any(axis=1)
    return bool(complete.sum() >= max(30, 5 * window))


def posteriors(models: list[ExactModel], past: np.ndarray, covariates: np.ndarray, window: int) -> list[ExactPosterior]:
    """The posterior of each column's function, given the latest windows without NaN."""
    inputs, targets = window_table(past, covariates, window)
    known = np.flatnonzero(~np.isnan(inputs).any(axis=1))[-_MAX_TO_CONDITION:]
    return [condition(m, ExactRows.of(inputs[known], targets[known, column])) for column, m in enumerate(models)]


def lag_relevance(models: list[ExactModel], window: int) -> np.ndarray:
    """How much each lag matters (window, p), lag 1 first.

    It is the prior variance of the slope along the lag, relative to the largest, which is 1.
    """
    slopes = [slopes_by_lag(slope_variance(model.kernel), window, len(models)) for model in models]
    mean = np.mean(slopes, axis=0)
    return mean / mean.max()
