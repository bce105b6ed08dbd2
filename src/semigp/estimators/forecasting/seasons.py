"""The seasons of a series: periods whose waves explain more than a trend and a wandering level do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg

from ...core.exact.over_time import TimePosterior, fit_over_time
from .searches import Searches

_MAX_VALUES, _MOST, _WAVES = 400, 2, 3
_LEAST_REPEATS = 2.5  # a season must be seen so often
_LEAST_GAIN = 5.0  # nats, less what the waves cost


def find_seasons(
    values: np.ndarray, cycles: Sequence[float] = (), searches: Searches | None = None
) -> tuple[float, ...]:
    """Up to two seasons of a series (T, p) in standard units, shortest first; NaN is a gap.

    Candidates are the cycles of the calendar, or all whole numbers if there is no calendar. A candidate's score is the
    gain in log likelihood by its waves, a GP over time without seasons being the noise, less BIC's penalty.
    """
    latest = values[-max(_MAX_VALUES, int(_LEAST_REPEATS * max(cycles, default=0)) + 1) :]
    longest = len(latest) / _LEAST_REPEATS
    periods = np.array([period for period in cycles or range(2, int(longest) + 1) if period <= longest], float)
    found: list[float] = []
    if len(periods):
        enough, told = [column for column in latest.T if np.sum(~np.isnan(column)) > 20], searches or Searches(None)
        columns = [_Whitened(column, told) for column in enough]
        while len(found) < _MOST and len(periods) and columns:
            gains = np.array([sum(column.gain(period) for column in columns) for period in periods])
            best = int(np.argmax(gains))
            if gains[best] < _LEAST_GAIN * len(columns):
                break
            # A multiple of a season has all of its waves too.
            equal = [i for i in range(best) if gains[i] > 0.9 * gains[best]]
            chosen = float(periods[equal[0] if equal else best])
            found.append(chosen)
            for column in columns:
                column.remove(chosen)
            periods = periods[(periods > 1.9 * chosen) | (periods < chosen / 1.9)]
    return tuple(sorted(found))


class _Whitened:
    """A series in units in which it would be white noise if it had no season."""

    def __init__(self, values: np.ndarray, searches: Searches) -> None:
        model, report = fit_over_time(values, (), 50, searches.told("trial"))
        searches.note(report)
        self._posterior = TimePosterior.given(model, values)
        self._left = self._posterior.whitened
        self._removed = np.zeros((len(self._left), 0))

    def gain(self, period: float) -> float:
        """The gain in log likelihood by the waves of a period, less ½ log n for each."""
        waves = self._waves(period)
        fitted = waves.T @ self._left
        return 0.5 * float(fitted @ fitted) - 0.5 * waves.shape[1] * np.log(len(self._left))

    def remove(self, period: float) -> None:
        """Take the waves of a period, and their overtones, out of the series."""
        waves = self._waves(period, 2 * _WAVES)
        self._left = self._left - waves @ (waves.T @ self._left)
        self._removed = np.column_stack([self._removed, waves])

    def _waves(self, period: float, most: int = _WAVES) -> np.ndarray:
        """An orthonormal basis of whitened waves, without what was removed."""
        orders = np.arange(1, min(most, int(period / 2)) + 1)
        angles = 2.0 * np.pi * self._posterior.steps[:, None] * orders / period
        waves = np.column_stack([np.cos(angles), np.sin(angles)])
        white = scipy.linalg.solve_triangular(self._posterior.root, waves, lower=True, check_finite=False)
        white -= self._removed @ (self._removed.T @ white)
        basis, sizes, _ = scipy.linalg.qr(white, mode="economic", pivoting=True)
        diagonal = np.abs(np.diagonal(sizes))
        return basis[:, diagonal > 1e-6 * max(diagonal.max(), 1e-300)]


def seasonal_lags(seasons: Sequence[float], count: int) -> np.ndarray:
    """The lags of whole seasons and the ones after them, if there are enough values."""
    lags = [round(season) + more for season in seasons for more in (0, 1)]
    return np.array(sorted(lag for lag in lags if lag <= count // 3), int)
