"""The dynamics of a series: for every column an exact GP that predicts the next value from the last ones.

All values are in standard units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.exact.gp import TOLERANCE, ExactModel, ExactPosterior, ExactRows, condition, fit_exact
from ...core.exact.windows import as_lags, slopes_by_lag, window_table
from ...core.hyperpriors import LogNormal
from ...core.kernels import RBF, Linear
from ...core.search.report import FitReport
from ..common.relevance import slope_variance
from .searches import Searches

# The largest number of windows to which hyperparameters are fitted, and on which a forecast is conditioned.
_MAX_TO_FIT, _MAX_TO_CONDITION = 500, 2000
# Wide hyperpriors let lags that do not matter drop out. A system may need only two of two dozen lags. That on the noise
# keeps short series from being explained by rough functions without noise.
_SPREAD, _SIGNAL_SPREAD = 3.0, 1.0
_LINEAR_VARIANCE, _NOISE = 0.1, 0.03
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
    lags: int | np.ndarray,
    max_iter: int,
    searches: Searches,
    starts: Sequence[ExactModel] = (),
    trial: Trial | None = None,
) -> Fitted:
    """Fit a model for each column of `values` (T, p), to the windows without NaN. Starts can be given."""
    inputs, targets = window_table(values, covariates, lags)
    usable = np.flatnonzero(~np.isnan(np.column_stack([inputs, targets])).any(axis=1))
    most = trial.max_rows if trial else _MAX_TO_FIT
    some = usable[np.unique(np.linspace(0, len(usable) - 1, min(most, len(usable))).astype(int))]
    q, p = inputs.shape[1], targets.shape[1]
    start = ExactModel(RBF(1.0, np.full(q, np.sqrt(q))) + Linear(np.full(q, _LINEAR_VARIANCE / q)), _NOISE)
    models: list[ExactModel] = []
    reports: list[FitReport] = []
    number, count = (0, 1) if trial is None else (trial.number, trial.count)
    for column, first in enumerate(starts or [start] * p):
        rows = ExactRows.of(inputs[some], targets[some, column])
        told = searches.told("trial" if trial else "fit", number * p + column + 1, count * p)
        tolerance = TOLERANCE if trial is None else _TRIAL_TOLERANCE
        model, report = fit_exact(first, rows, _hyperpriors(q), max_iter, tolerance, told)
        models.append(model)
        reports.append(searches.note(report))
    return models, reports


def _hyperpriors(q: int) -> dict[str, LogNormal]:
    return {
        "kernel*lengthscale": LogNormal(np.sqrt(q), _SPREAD),
        "kernel*variances": LogNormal(_LINEAR_VARIANCE / q, _SPREAD),
        "kernel.kernels.0.variance": LogNormal(1.0, _SIGNAL_SPREAD),
        "noise_variance": LogNormal(_NOISE, _SPREAD),
    }


def candidates(window: int | str, count: int) -> list[int]:
    """The windows to choose from, given the number of values."""
    if not isinstance(window, str):
        return [window]
    return [tau for tau in _CANDIDATES if tau <= max(1, count // 4)]


def with_seasons(window: int, seasonal: np.ndarray) -> np.ndarray:
    """The lags of a window, and those of seasons beyond it, largest first."""
    return np.union1d(np.arange(1, window + 1), seasonal)[::-1].astype(int)


def choose_lags(
    filled: np.ndarray,
    covariates: np.ndarray,
    windows: Sequence[int],
    seasonal: np.ndarray,
    max_iter: int,
    searches: Searches,
) -> tuple[int, np.ndarray, list[ExactModel], list[FitReport]]:
    """The window and the lags with the highest evidence, less one nat per lag; their models, and the latest reports.

    Windows are compared on the same values, which have enough past for the longest lag. All windows are tried,
    because the evidence need not rise steadily: a system with a delay has a second, higher maximum at the delay. The
    best is then tried without the lags of seasons. After an interrupt, it is the best so far.
    """
    longest = int(max(windows[-1], *seasonal, 0))
    has_final = len(windows) > 1 and len(filled) - longest > _MAX_TO_TRY
    count = len(windows) + has_final * min(_FINALISTS, len(windows)) + bool(len(seasonal))
    latest: list[FitReport] = []
    done = 0

    def ranked(options: Sequence[tuple[int, np.ndarray]], max_rows: int) -> list[tuple]:
        """Evidence, window, lags and models of every option that was tried, best first."""
        nonlocal latest, done
        found = []
        for tau, lags in options:
            late, trial = slice(longest - lags[0], None), Trial(done, count, max_rows)
            models, latest = fit_models(filled[late], covariates[late], lags, max_iter, searches, trial=trial)
            done += 1
            found.append((sum(r.bound for r in latest) - len(lags) * filled.shape[1], tau, lags, models))
            if searches.interrupted:
                break
        return sorted(found, key=lambda trial: -trial[0])

    tried = ranked([(tau, with_seasons(tau, seasonal)) for tau in windows], _MAX_TO_TRY)
    if has_final and not searches.interrupted:
        tried = ranked([(tau, lags) for _, tau, lags, _ in tried[:_FINALISTS]], _MAX_TO_FIT)
    if len(seasonal) and not searches.interrupted:
        rows = _MAX_TO_FIT if has_final else _MAX_TO_TRY
        without = ranked([(tried[0][1], as_lags(tried[0][1]))], rows)
        tried = sorted([tried[0], *without], key=lambda trial: -trial[0])
    return *tried[0][1:], latest


def has_enough_windows(values: np.ndarray, covariates: np.ndarray, lags: int | np.ndarray) -> bool:
    """Whether there are enough windows without NaN to learn from."""
    inputs, targets = window_table(values, covariates, lags)
    complete = ~np.isnan(np.column_stack([inputs, targets])).any(axis=1)
    return bool(complete.sum() >= max(30, 5 * len(as_lags(lags))))


def posteriors(
    models: list[ExactModel], past: np.ndarray, covariates: np.ndarray, lags: int | np.ndarray
) -> list[ExactPosterior]:
    """The posterior of each column's function, given the latest windows without NaN."""
    inputs, targets = window_table(past, covariates, lags)
    known = np.flatnonzero(~np.isnan(inputs).any(axis=1))[-_MAX_TO_CONDITION:]
    return [condition(m, ExactRows.of(inputs[known], targets[known, column])) for column, m in enumerate(models)]


def lag_relevance(models: list[ExactModel], lags: int | np.ndarray) -> np.ndarray:
    """How much each lag matters (k, p), smallest lag first.

    It is the prior variance of the slope along the lag, relative to the largest, which is 1.
    """
    k = len(as_lags(lags))
    mean = np.mean([slopes_by_lag(slope_variance(model.kernel), k, len(models)) for model in models], axis=0)
    return mean / mean.max()
