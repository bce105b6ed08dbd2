"""The seasons of a series: periods whose waves explain more than a trend and a wandering level do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg

from ...core.exact.over_time import TimePosterior, fit_over_time
from .searches import Searches

_MAX_VALUES, _WAVES = 450, (1, 3, 6, 12)
_USUAL, _USUAL_GAIN = (4.0, 7.0, 12.0, 24.0, 52.0), 3.0  # seasons that series often have, and a bonus in nats
_DAYS = (24.0, 48.0, 96.0)  # seasons that are most likely days of hours, half or quarter hours: they come with weeks
_LEAST_REPEATS = 2.5  # a season must be seen so often
# Nats by which a usual or another season must gain, less what its waves cost. Series that swing without a fixed
# period, such as sunspots, reach 30.
_LEAST_USUAL, _LEAST_OTHER = 5.0, 35.0


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
        for _ in range(2):
            if not (len(periods) and columns):
                break
            gains = np.array([sum(column.gain(period) for column in columns) for period in periods])
            gains += _USUAL_GAIN * np.isin(periods, _USUAL)
            best = int(np.argmax(gains))
            is_usual = bool(cycles) or periods[best] in _USUAL
            if gains[best] < (_LEAST_USUAL if is_usual else _LEAST_OTHER) * len(columns):
                break
            # A multiple of a season has all of its waves too.
            equal = [i for i in range(best) if gains[i] > gains[best] - 1.0]
            chosen = float(periods[equal[0] if equal else best])
            found.append(chosen)
            for column in columns:
                column.remove(chosen)
            # Like days in weeks, the second season is a multiple of the first, unless there is a calendar.
            periods = periods[periods > 1.9 * chosen]
            periods = periods if cycles else periods[periods % chosen == 0]
    if len(found) == 1 and found[0] in _DAYS and 7 * found[0] <= longest:
        found.append(7 * found[0])
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
        """The gain in log likelihood by the waves of a period, less ½ log n for each, with as many as are best.

        It is ½ n log(RSS₀/RSS₁), as if the size of the noise were fitted anew.
        """
        basis, ends = self._waves(period)
        explained = np.cumsum((basis.T @ self._left) ** 2)[ends - 1] / max(float(self._left @ self._left), 1e-300)
        count = len(self._left)
        gains = -0.5 * count * np.log(np.maximum(1.0 - explained, 1e-6)) - 0.5 * ends * np.log(count)
        return float(gains.max())

    def remove(self, period: float) -> None:
        """Take the waves of a period, and their overtones, out of the series."""
        waves, _ = self._waves(period)
        self._left = self._left - waves @ (waves.T @ self._left)
        self._removed = np.column_stack([self._removed, waves])

    def _waves(self, period: float) -> tuple[np.ndarray, np.ndarray]:
        """An orthonormal basis of whitened waves, slow ones first, without what was removed; and where it may end."""
        orders = np.arange(1, min(_WAVES[-1], int(period / 2)) + 1)
        angles = 2.0 * np.pi * self._posterior.steps[:, None] * orders / period
        waves = np.stack([np.cos(angles), np.sin(angles)], axis=2).reshape(len(angles), -1)
        if 2 * orders[-1] == period:
            waves = waves[:, :-1]  # the sine of the fastest wave is 0
        white = scipy.linalg.solve_triangular(self._posterior.root, waves, lower=True, check_finite=False)
        white -= self._removed @ (self._removed.T @ white)
        basis, sizes = np.linalg.qr(white)
        diagonal = np.abs(np.diagonal(sizes))
        basis = basis * (diagonal > 1e-6 * max(diagonal.max(), 1e-300))
        return basis, np.array(
            [min(2 * each, basis.shape[1]) for each in _WAVES if each <= max(orders[-1], 1)] + [basis.shape[1]]
        )


def seasonal_lags(seasons: Sequence[float], count: int) -> np.ndarray:
    """The lags of whole seasons and the ones after them, if there are enough values."""
    lags = [round(season) + more for season in seasons for more in (0, 1)]
    return np.array(sorted(lag for lag in lags if 3.5 * lag <= count), int)
