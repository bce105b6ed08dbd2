"""Missing values of a series, given a model of its dynamics: a Gaussian around the values that fit best.

The density of a whole series, given its first window, is the marginal likelihood of its windows and targets,

    p(series) = N(y(z); 0, K(X(z)) + σ² I),

in which a missing value z is one target, and part of a window for each lag. The values that maximise this density are
the mean of q(z), and the curvature there gives its covariance (Laplace's method). So there is one belief about each
value, in whichever windows it is. Values in the first window have the prior N(0, 1).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.optimize

from .curvature import DataEvidence
from .gp import ExactModel
from .in_numpy import bumps_and_lines
from .windows import Lags, as_lags, flatten, windows_before

_MAX_ITERATIONS, _NEWTON_STEPS, _WALL = 300, 3, 1e100
# The largest number of windows that are used: first those with a missing value, then the latest of the others.
_MAX_ROWS = 600


@dataclass(frozen=True)
class Gaps:
    """The places of M missing values, and the belief q(z) about them."""

    steps: np.ndarray  # (M,) rows of the series
    columns: np.ndarray  # (M,) columns of the series
    mean: np.ndarray  # (M,)
    covariance: np.ndarray  # (M, M)

    def filled(self, values: np.ndarray, entries: np.ndarray | None = None) -> np.ndarray:
        """The series with `entries` in its gaps, by default the means."""
        complete = values.copy()
        complete[self.steps, self.columns] = self.mean if entries is None else entries
        return complete

    def draws(self, n_draws: int, seed: int) -> np.ndarray:
        """Draws (n_draws, M) of the missing values."""
        random = np.random.default_rng(seed)
        spectrum, axes = np.linalg.eigh(self.covariance)
        noise = random.normal(size=(n_draws, len(self.mean)))
        return self.mean + (noise * np.sqrt(np.maximum(spectrum, 0.0))) @ axes.T


def infer_gaps(
    values: np.ndarray, start: np.ndarray, models: list[ExactModel], lags: Lags, covariates: np.ndarray
) -> Gaps:
    """q(z) of the NaN in `values` (T, p), with one model per column. The search starts at `start`."""
    places = np.nonzero(np.isnan(values))
    density = _Density(values, models, as_lags(lags), covariates)
    options = {"maxiter": _MAX_ITERATIONS, "maxcor": 30}
    found = scipy.optimize.minimize(density.loss, start[places], jac=True, method="L-BFGS-B", options=options)
    best, lowest = found.x, found.fun
    for _ in range(_NEWTON_STEPS):  # noise-free dynamics are too stiff for L-BFGS alone
        trial = best - _inverse(density.curvature(best)) @ density.loss(best)[1]
        loss, _ = density.loss(trial)
        if not loss < lowest:
            break
        best, lowest = trial, loss
    steps, columns = places
    return Gaps(steps, columns, best, _inverse(density.curvature(best)))


def _inverse(curvature: np.ndarray) -> np.ndarray:
    """The inverse of the curvature, with eigenvalues below 1 raised to 1.

    No direction of q(z) is then wider than the series itself, whose variance is 1, even if the curvature is negative.
    """
    spectrum, axes = scipy.linalg.eigh(0.5 * (curvature + curvature.T))
    return (axes / np.maximum(spectrum, 1.0)) @ axes.T


def _targets(is_missing: np.ndarray, lags: np.ndarray) -> np.ndarray:
    """The steps with a missing value in themselves or in their window, and the latest of the other steps."""
    steps = np.arange(lags[0], len(is_missing))
    affected = is_missing[steps] | is_missing[steps[:, None] - lags].any(axis=1)
    order = np.concatenate([steps[affected][::-1], steps[~affected][::-1]])
    return np.sort(order[:_MAX_ROWS])


class _Density:
    """-log p(series) as a function of its missing values z."""

    def __init__(self, values: np.ndarray, models: list[ExactModel], lags: np.ndarray, covariates: np.ndarray) -> None:
        self.values, self.lags, is_missing = np.nan_to_num(values), lags, np.isnan(values)
        self.targets = _targets(is_missing.any(axis=1), lags)
        self.covariates = covariates[self.targets]
        self.places = np.nonzero(is_missing)
        self.is_first = self.places[0] < lags[0]
        q = len(lags) * values.shape[1] + covariates.shape[1]
        self.models = [(bumps_and_lines(model.kernel, q), float(model.noise_variance)) for model in models]
        # Where each missing value stands among the inputs and the targets: its number, or -1 for a known value.
        number = np.full(values.shape, -1)
        number[self.places] = np.arange(len(self.places[0]))
        self.in_targets = number[self.targets]
        windows = windows_before(number, self.targets, lags)
        self.in_inputs = np.asarray(flatten(windows, np.full(covariates[self.targets].shape, -1)))

    def loss(self, z: np.ndarray) -> tuple[float, np.ndarray]:
        """The loss and its gradient. Where it cannot be computed, it is so high that a line search turns back."""
        prior, everywhere = np.where(self.is_first, z, 0.0), np.arange(len(self.targets))
        value, gradient = 0.5 * float(prior @ prior), prior.copy()
        try:
            for column, evidence in enumerate(self._evidences(z)):
                value -= evidence.value
                gradient -= self._collected(column, evidence.slopes(), evidence.weights, everywhere)
        except np.linalg.LinAlgError:
            return _WALL, np.zeros(len(z))
        return value, gradient

    def curvature(self, z: np.ndarray) -> np.ndarray:
        """The Hessian of the loss, row by row."""
        hessian = np.diag(self.is_first.astype(float))
        at = np.flatnonzero((self.in_inputs >= 0).any(axis=1))
        for column, evidence in enumerate(self._evidences(z)):
            for i, row in enumerate(hessian):
                rows, columns = np.nonzero(self.in_inputs == i)
                targets = np.flatnonzero(self.in_targets[:, column] == i)
                row -= self._collected(column, *evidence.along(rows, columns, targets, at), at)
        return hessian

    def _evidences(self, z: np.ndarray) -> Iterator[DataEvidence]:
        """The evidence of every column's GP, one after the other."""
        values = self.values.copy()
        values[self.places] = z
        inputs = np.asarray(flatten(windows_before(values, self.targets, self.lags), self.covariates))
        for column, model in enumerate(self.models):
            yield DataEvidence(*model, inputs, values[self.targets, column])

    def _collected(self, column: int, slopes: np.ndarray, weights: np.ndarray, at: np.ndarray) -> np.ndarray:
        """Derivatives by z, from those by the inputs in the rows `at`, and minus those by the targets."""
        total = np.zeros(len(self.is_first))
        numbers, own = self.in_inputs[at], self.in_targets[:, column]
        np.add.at(total, numbers[numbers >= 0], slopes[numbers >= 0])
        np.add.at(total, own[own >= 0], -weights[own >= 0])
        return total
