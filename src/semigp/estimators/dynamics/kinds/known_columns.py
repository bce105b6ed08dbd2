"""What the known columns of a step say about those that are missing: regressions beside the states.

Whatever the states tell must pass through a few numbers. A regression from the known to the missing columns need not.
Two exact GPs see the known columns of a step, and how fast they change. One of them also sees which series the step
belongs to, as a category with an input for every series. In the kernel of `core.exact.certain` this gives every series
an offset, and functions that are correlated with those of the other series, but not the same. This GP is better if a
series differs from the others and its known steps tell how, the other one if they do not tell.

What is predicted is a mixture of the states and both GPs, weighed by their precisions. The variances of the GPs are
those which halves of series show when they are left out. The halves of the new series count most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ....core.label_gp import evenly_spread
from ....core.numerics.mixtures import by_precision
from ...views.regressions import Regression

# Changes are differences over so many steps before and after.
_SPAN = 3
# At most this many training steps are used, and a column needs this many in which it is known.
_MOST_STEPS, _FEWEST_STEPS = 1200, 10
# There are regressions for so many sets of missing columns, those of the most steps.
_MOST_PATTERNS = 4
# The left-out halves of all training series together count as so many steps of the new series.
_TRAINING_WEIGHT = 10.0
# The states count as much as both GPs.
_COUNTS = (2.0, 1.0, 1.0)

Moments = tuple[np.ndarray, np.ndarray]  # mean and variance (T, p)


@dataclass(frozen=True)
class Steps:
    """Steps of one or more series."""

    values: np.ndarray  # (n, p), NaN where missing
    filled: np.ndarray  # (n, p), missing values from the states
    changes: np.ndarray  # (n, p), per step
    series: np.ndarray  # (n,) the number of the series
    half: np.ndarray  # (n,) 0 in the first half of the series, 1 in the second

    @classmethod
    def of(cls, series: Sequence[np.ndarray], means: Sequence[np.ndarray], first: int = 0) -> Steps:
        """Series (T, p) with what the states say of them. The first series has the number `first`."""
        filled = [np.where(np.isnan(each), mean, each) for each, mean in zip(series, means, strict=True)]
        numbers = np.repeat(first + np.arange(len(series)), [len(each) for each in series])
        half = np.concatenate([np.arange(len(each)) >= len(each) / 2 for each in series])
        changes = [_changes(each) for each in filled]
        return cls(np.concatenate(series), np.concatenate(filled), np.concatenate(changes), numbers, half)

    def some(self, rows: np.ndarray) -> Steps:
        """Some of the steps."""
        return Steps(*(each[rows] for each in vars(self).values()))

    def inputs(self, known: np.ndarray, n_series: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Inputs of a GP, and the group of each: known columns, their changes and, given a number of series, which."""
        parts = [self.filled[:, known], self.changes[:, known]]
        if n_series is not None:
            parts.append(np.eye(n_series)[self.series])
        return np.hstack(parts), np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])


def _changes(series: np.ndarray) -> np.ndarray:
    steps = np.arange(len(series))
    before, after = np.maximum(steps - _SPAN, 0), np.minimum(steps + _SPAN, len(series) - 1)
    return (series[after] - series[before]) / np.maximum(after - before, 1)[:, None]


def with_regressions(series: np.ndarray, states: Moments, training: Steps) -> Moments:
    """Mean and variance (T, p) of a new series with gaps, from what the states say of it, and the training series."""
    mean, variance = (each.copy() for each in states)
    n_series = int(training.series[-1]) + 2
    new = Steps.of([series], [mean], first=n_series - 1)
    enough = np.sum(~np.isnan(training.values), axis=0) >= _FEWEST_STEPS
    for is_missing, steps in _patterns(series):
        known, missing = np.flatnonzero(~is_missing), np.flatnonzero(is_missing & enough)
        if not len(missing):
            continue
        rows = _known_steps(training, new, missing)
        found = [_predicted(*rows, new.some(steps), known, missing, count) for count in (None, n_series)]
        holes = np.ix_(steps, missing)
        means, variances = zip((mean[holes], variance[holes]), *found, strict=True)
        mean[holes], variance[holes] = by_precision(means, variances, _COUNTS)
    return mean, variance


def _patterns(series: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Sets of missing columns (p,), and the steps at which just these are missing. Something is known at them."""
    patterns, number = np.unique(np.isnan(series), axis=0, return_inverse=True)
    counts = np.bincount(number.ravel()) * (patterns.any(axis=1) & ~patterns.all(axis=1))
    for k in np.argsort(-counts, kind="stable")[:_MOST_PATTERNS]:
        if counts[k]:
            yield patterns[k], np.flatnonzero(number.ravel() == k)


def _known_steps(training: Steps, new: Steps, missing: np.ndarray) -> tuple[Steps, Steps]:
    """Steps to learn from: training steps with one of these columns, and steps of the new series with all of them."""
    told = np.flatnonzero(~np.isnan(training.values[:, missing]).all(axis=1))
    own = np.flatnonzero(~np.isnan(new.values[:, missing]).any(axis=1))
    return training.some(told[evenly_spread(len(told), _MOST_STEPS)]), new.some(own)


def _predicted(
    training: Steps, own: Steps, at: Steps, known: np.ndarray, missing: np.ndarray, n_series: int | None
) -> Moments:
    """What one GP says of missing columns."""
    (inputs, groups), (more, _) = (steps.inputs(known, n_series) for steps in (training, own))
    is_known = ~np.isnan(training.values[:, missing])
    weight = is_known * _TRAINING_WEIGHT / np.maximum(is_known.sum(axis=0), 1)
    own_half = np.arange(len(own.series)) >= len(own.series) / 2  # of the steps at which these columns are known
    blocks = np.append(2 * training.series + training.half, 2 * own.series + own_half)
    regression, _ = Regression.of(
        np.vstack([inputs, more]),
        groups,
        np.vstack([training.filled[:, missing], own.filled[:, missing]]),
        np.vstack([weight, np.ones((len(more), len(missing)))]),
        np.ones((len(blocks), 1)),
        blocks,
    )
    return regression.predict(at.inputs(known, n_series)[0])
