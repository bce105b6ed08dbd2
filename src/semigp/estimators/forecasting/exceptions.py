"""Values and jumps that belong to no pattern: they must not decide what is learned of all the others."""

from __future__ import annotations

import numpy as np

_SPIKE, _SHIFT = 10.0, 12.0  # in robust standard deviations
_MOST = 0.01  # share of the values; if there are more, they are a part of the pattern
_AROUND = 5


def is_spike(values: np.ndarray) -> np.ndarray:
    """Which values (T, p) lie far from all of their neighbours: single errors, which are then treated as gaps."""
    return np.column_stack([_spikes(column) for column in values.T])


def shifts(values: np.ndarray) -> np.ndarray:
    """What to add to earlier values (T, p), so that the level of a series does not jump."""
    return np.column_stack([_shifts(column) for column in values.T])


def _spikes(column: np.ndarray) -> np.ndarray:
    known = np.flatnonzero(~np.isnan(column))
    found = np.zeros(len(column), bool)
    if len(known) < 30:
        return found
    values = column[known]
    padded = np.pad(values, 2, constant_values=np.nan)
    others = np.stack([padded[shift : shift + len(known)] for shift in (0, 1, 3, 4)])
    apart = values - np.nanmedian(others, axis=0)
    # A value is alone if no neighbour is near: not the side of a peak, nor a step.
    nearest = np.nanmin(np.abs(others - values), axis=0)
    limits = np.full(len(known), _robust_std(apart[2:-2]))
    # At both ends the neighbours lie on one side, and a smooth series is as far from them as it usually moves.
    limits[[0, 1, -2, -1]] = max(limits[0], 1.4826 * float(np.median(np.abs(np.diff(values)))))
    is_far = np.minimum(np.abs(apart), nearest) > _SPIKE * limits
    if 0 < is_far.sum() <= max(1, int(_MOST * len(known))):
        found[known[is_far]] = True
    return found


def _shifts(column: np.ndarray) -> np.ndarray:
    known = np.flatnonzero(~np.isnan(column))
    added = np.zeros(len(column))
    values = column[known]
    steps = np.diff(values)
    limit = _SHIFT * _robust_std(steps) if len(known) >= 30 else np.inf
    jumps = [i + 1 for i in np.flatnonzero(np.abs(steps) > limit) if _AROUND <= i + 1 <= len(known) - _AROUND]
    if not limit or len(jumps) > max(1, int(_MOST * len(known))):
        return added
    for at in jumps:
        size = np.median(values[at : at + _AROUND]) - np.median(values[at - _AROUND : at])
        if abs(size) > limit:  # it stays, so it is no spike
            added[: known[at]] += size
    return added


def _robust_std(values: np.ndarray) -> float:
    """1.48 times the median distance from the median: the standard deviation, if values are Gaussian."""
    return 1.4826 * float(np.median(np.abs(values - np.median(values))))
