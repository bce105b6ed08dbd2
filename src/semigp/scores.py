"""Scores: how good a prediction is.

`ALL` holds the scores of Gaussian predictions. They take (truth, mean, std) of the same shape and leave out NaN in the
truth.
"""

from __future__ import annotations

import numpy as np
from scipy.special import erf


def mean_squared_error(truth: np.ndarray, mean: np.ndarray, std: np.ndarray | None = None) -> float:
    """The mean squared error, E[(y - m)²]."""
    return float(np.nanmean((truth - mean) ** 2))


def mean_absolute_error(truth: np.ndarray, mean: np.ndarray, std: np.ndarray | None = None) -> float:
    """The mean absolute error, E|y - m|."""
    return float(np.nanmean(np.abs(truth - mean)))


def negative_log_density(truth: np.ndarray, mean: np.ndarray, std: np.ndarray) -> float:
    """The negative log predictive density per value (NLPD), -E[log N(y | m, s²)]."""
    return float(np.nanmean(0.5 * np.log(2.0 * np.pi * std**2) + 0.5 * ((truth - mean) / std) ** 2))


def crps(truth: np.ndarray, mean: np.ndarray, std: np.ndarray) -> float:
    """Continuous ranked probability score of a Gaussian: s [z (2Φ(z) - 1) + 2φ(z) - 1/√π], z = (y - m)/s."""
    z = (truth - mean) / std
    density = np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi)
    return float(np.nanmean(std * (z * erf(z / np.sqrt(2.0)) + 2.0 * density - 1.0 / np.sqrt(np.pi))))


def sample_crps(truth: np.ndarray, samples: np.ndarray) -> float:
    """Continuous ranked probability score of samples (first axis): E|x - y| - ½ E|x - x'|.

    Sorting the samples gives the second term without a sum over all pairs.
    """
    ordered, count = np.sort(samples, axis=0), len(samples)
    ranks = (2.0 * np.arange(1, count + 1) - count - 1.0).reshape(-1, *([1] * truth.ndim))
    return float(np.nanmean(np.mean(np.abs(samples - truth), axis=0) - np.sum(ranks * ordered, axis=0) / count**2))


def coverage(truth: np.ndarray, mean: np.ndarray, std: np.ndarray) -> float:
    """The share of true values inside the central 95 % interval."""
    seen = ~np.isnan(truth)
    return float(np.mean(np.abs(truth - mean)[seen] <= 1.959963984540054 * std[seen]))


# Levels at which the quantile loss is usually taken; the middle one is the median.
LEVELS = (0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.975)


def quantile_loss(truth: np.ndarray, quantiles: np.ndarray, levels: np.ndarray) -> float:
    """Twice the pinball loss, 2 (y - q)(τ - 1[y < q]), mean over values and levels; quantiles have levels first."""
    return float(np.nanmean(_pinball(truth, quantiles, levels)))


def quantile_crps(truth: np.ndarray, quantiles: np.ndarray, levels: np.ndarray) -> float:
    """CRPS from quantiles (levels first, rising): twice the pinball loss, integrated over the level.

    The integral is that of straight lines between the levels, and to zero at the levels 0 and 1. Few levels overstate
    it in their midst and understate it in the tails.
    """
    losses = np.nanmean(_pinball(truth, quantiles, levels).reshape(len(levels), -1), axis=1)
    return float(np.trapezoid(np.r_[0.0, losses, 0.0], np.r_[0.0, levels, 1.0]))


def _pinball(truth: np.ndarray, quantiles: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """2 (y - q)(τ - 1[y < q]) for every level and value; NaN where the truth is."""
    above = np.asarray(levels, float).reshape(-1, *([1] * truth.ndim))
    return 2.0 * (truth - quantiles) * (above - (truth < quantiles))


def mase_scale(past: np.ndarray, season: int) -> float:
    """The unit of the mean absolute scaled error (MASE): the mean of |y_t - y_(t-season)| over the past."""
    return float(np.nanmean(np.abs(past[season:] - past[:-season])))


def log_loss(classes: np.ndarray, probabilities: np.ndarray) -> float:
    """The log loss -E[log p(class)] of class numbers (n,) under probabilities (n, c)."""
    chosen = probabilities[np.arange(len(classes)), classes]
    return -float(np.mean(np.log(np.maximum(chosen, np.finfo(float).tiny))))


def calibration_error(classes: np.ndarray, probabilities: np.ndarray, n_bins: int = 10) -> float:
    """Expected calibration error: the mean of |confidence - accuracy| over bins of equal width, weighted by count."""
    confidence, share, count = reliability(classes, probabilities, n_bins)
    return float(np.sum(count * np.abs(confidence - share)) / len(classes))


def reliability(
    classes: np.ndarray, probabilities: np.ndarray, n_bins: int = 10
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean confidence, accuracy and count of the predicted classes, in bins of equal width that are not empty."""
    confidence, is_right = probabilities.max(axis=1), probabilities.argmax(axis=1) == classes
    bins = np.minimum((confidence * n_bins).astype(int), n_bins - 1)
    count = np.bincount(bins)
    some = count > 0
    sums = (np.bincount(bins, weights)[some] for weights in (confidence, is_right))
    return *(total / count[some] for total in sums), count[some]


ALL = {
    "MSE": mean_squared_error,
    "MAE": mean_absolute_error,
    "NLPD": negative_log_density,
    "CRPS": crps,
    "coverage": coverage,
}
