"""How much each prior of a series counts: by forecasts of values that were held back.

The continuous ranked probability score of a mixture of samples is quadratic in the weights,

    CRPS(w) = Σ_k w_k E|x_k - y| - ½ Σ_jk w_j w_k E|x_j - x_k|,

and convex, so that the best weights are found without a switch from one prior to another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy.optimize
import scipy.special

from ...progress import steps as in_steps

if TYPE_CHECKING:
    from .priors import SeriesPrior

# Origins of forecasts, and paths of each. The horizon is a tenth of the series.
_ORIGINS, _PATHS, _LONGEST = 10, 100, 50
_QUANTILES = (np.arange(25) + 0.5) / 25.0
_FIRST = 0.6  # share of the series before the first origin
# Weights are drawn towards equal ones, by this share of a forecast.
_EQUAL = 0.1
_SHORTEST = 20  # with fewer values, nothing is held back


def weigh(
    priors: Mapping[str, SeriesPrior], past: np.ndarray, covariates: np.ndarray, is_known: np.ndarray, first: int
) -> np.ndarray:
    """The weights of priors, given a series (T, p) whose gaps have been filled.

    Every prior forecasts from several origins in the last two fifths of the series, with the parameters that it has,
    but given only the values before. `first` is the earliest origin from which all can.
    """
    count = len(past)
    horizon = int(np.clip(count // 10, 1, _LONGEST))
    earliest = max(round(_FIRST * count), first)
    if len(priors) == 1 or count < _SHORTEST or earliest > count - horizon:
        return np.full(len(priors), 1.0 / len(priors))
    origins = np.unique(np.linspace(earliest, count - horizon, _ORIGINS).astype(int))
    errors, distances = zip(
        *(_terms(priors, past, covariates, is_known, origin, horizon) for origin in in_steps(origins, "weights")),
        strict=True,
    )
    return best_weights(np.stack(errors), np.stack(distances))


def _terms(priors, past, covariates, is_known, origin, horizon) -> tuple[np.ndarray, np.ndarray]:
    """The terms of the score of forecasts from one origin; NaN where y is not known."""
    end = origin + horizon
    truth = np.where(is_known[origin:end], past[origin:end], np.nan)
    found = [prior.paths(past[:origin], covariates[:end], _PATHS, int(origin))[0] for prior in priors.values()]
    return score_terms(found, truth)


def score_terms(paths: Sequence[np.ndarray], truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """E|x_k - y| (K, h, p) and E|x_j - x_k| (K, K, h, p) of K sets of paths (s, h, p), by their quantiles.

    They are NaN where the truth (h, p) is.
    """
    samples = np.stack([np.quantile(each, _QUANTILES, axis=0) for each in paths])  # [K, quantiles, h, p]
    errors = np.mean(np.abs(samples - truth), axis=1)
    apart = np.array([[_distance(a, b) for b in samples] for a in samples])
    return errors, np.where(np.isnan(truth), np.nan, apart)


def _distance(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.mean(np.abs(left[:, None] - right), axis=(0, 1))


def best_weights(errors: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """The weights with the lowest score over origins o, from (o, K, h, p) and (o, K, K, h, p).

    Every step and column counts the same: scores are in units of the best prior's mean score there.
    """
    count = errors.shape[1]
    alone = errors - 0.5 * np.einsum("okk...->ok...", distances)
    is_known = ~np.isnan(alone)
    means = np.nansum(alone, axis=0) / np.maximum(is_known.sum(axis=0), 1)
    unit = means.min(axis=0)
    usable = is_known.any(axis=(0, 1)) & (unit > 0.0)
    if not usable.any():
        return np.full(count, 1.0 / count)
    linear = np.nanmean(errors[..., usable] / unit[usable], axis=(0, 2))
    square = np.nanmean(distances[..., usable] / unit[usable], axis=(0, 3))

    def loss(free: np.ndarray) -> tuple[float, np.ndarray]:
        logs = scipy.special.log_softmax(free)
        weights = np.exp(logs)
        slopes = linear - square @ weights
        value = weights @ linear - 0.5 * weights @ square @ weights - pull * np.mean(logs)
        return value, weights * (slopes - weights @ slopes + pull) - pull / count

    pull = _EQUAL / len(errors)
    free = scipy.optimize.minimize(loss, np.zeros(count), jac=True, method="BFGS").x
    return np.round(scipy.special.softmax(free), 6)


def shares(weights: np.ndarray, count: int) -> np.ndarray:
    """How many of `count` draws each weight gets."""
    ends = np.round(np.cumsum(weights) / np.sum(weights) * count).astype(int)
    return np.diff(ends, prepend=0)
