"""Short gaps of a series by weighed candidates, where the belief may have several peaks.

A Gaussian at the best values of a gap is too sure where other values fit nearly as well, as in a chaotic system. Each
short gap is therefore looked at by itself. Candidates z are drawn from a proposal q(z), and weighed by

    p(z and the values after it | the values before it) / q(z),

with the GP given all windows without gaps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.special

from .at_points import Predictor
from .evidence import NOISE_FLOOR
from .gaps import Gaps
from .gp import ExactModel
from .in_numpy import bumps_and_lines
from .windows import flatten, window_table

_CANDIDATES, _CENTRES, _LARGEST, _LEAST_EFFECTIVE = 1000, 50, 6, 40.0
_MAX_ROWS = 600
_NEAR = 4
_ROUNDS = 2  # later rounds see the other gaps as the earlier ones have filled them
_WIDER = 2.0  # the standard deviation of the Gaussian among the proposals, in units of that of the belief


def weigh_candidates(
    values: np.ndarray, gaps: Gaps, wide: Gaps, models: list[ExactModel], lags: np.ndarray, covariates: np.ndarray
) -> Gaps:
    """The belief `gaps` about the NaN of a series (T, p), with short gaps looked at anew.

    Candidates come from the belief itself, made wider, and from the belief `wide` that another model has. Long gaps
    keep their Gaussian.
    """
    complete = gaps.filled(values)
    inputs, targets = window_table(values, covariates, lags)
    rows = np.flatnonzero(~np.isnan(np.column_stack([inputs, targets])).any(axis=1))[-_MAX_ROWS:]
    if len(rows) < 10:
        return gaps
    density = _Density(models, inputs[rows], targets[rows], lags, covariates)
    mean, covariance = gaps.mean.copy(), gaps.covariance.copy()
    short = [each for each in _blocks(gaps.steps) if len(each) <= _LARGEST and gaps.steps[each[0]] >= lags[0]]
    for entries in short * _ROUNDS:
        covariance[entries], covariance[:, entries] = 0.0, 0.0
        mean[entries], covariance[np.ix_(entries, entries)] = _belief(density, complete, gaps, wide, entries)
        complete[gaps.steps[entries], gaps.columns[entries]] = mean[entries]
    return Gaps(gaps.steps, gaps.columns, mean, covariance)


def _blocks(steps: np.ndarray) -> list[np.ndarray]:
    """The numbers of the missing values of each gap. Gaps with few steps between them are one, unless it is long."""
    found = []
    for near in np.split(np.arange(len(steps)), np.flatnonzero(np.diff(steps) > _NEAR) + 1):
        runs = np.split(near, np.flatnonzero(np.diff(steps[near]) > 1) + 1)
        found += [near] if len(near) <= _LARGEST else runs
    return found


def _belief(
    density: _Density, complete: np.ndarray, gaps: Gaps, wide: Gaps, entries: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of one gap from weighed candidates.

    In every round, candidates are drawn around those of the round before, chosen by their weights. Weights are tempered
    so that enough candidates count: if they still are in the last round, the belief is too wide rather than too narrow.
    """
    square = np.ix_(entries, entries)
    narrow = _Gaussian.of(gaps.mean[entries], _WIDER**2 * gaps.covariance[square])
    proposal = _Mixture([narrow, _Gaussian.of(wide.mean[entries], wide.covariance[square])])
    random = np.random.default_rng(int(gaps.steps[entries[0]]))
    for last in (False, False, False, True):
        candidates = proposal.draws(_CANDIDATES, random)
        logs = density(complete, gaps.steps[entries], gaps.columns[entries], candidates)
        weights = _tempered(logs - proposal.log_density(candidates))
        centre = weights @ candidates
        covariance = ((candidates - centre) * weights[:, None]).T @ (candidates - centre)
        if not last:
            chosen = candidates[random.choice(_CANDIDATES, _CENTRES, p=weights)]
            bandwidth = _CENTRES ** (-1.0 / (len(entries) + 4.0))
            near = _Gaussian.of(np.zeros(len(entries)), bandwidth**2 * covariance)
            proposal = _Mixture([_Gaussian(each, near.root) for each in chosen])
    return centre, covariance


def _tempered(logs: np.ndarray) -> np.ndarray:
    """Weights in proportion to exp(γ logs), with the largest γ up to 1 for which enough of them count."""
    for power in (1.0, 0.7, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05, 0.02, 0.01):
        weights = scipy.special.softmax(power * logs)
        if 1.0 / np.sum(weights**2) >= _LEAST_EFFECTIVE:
            break
    return weights


@dataclass(frozen=True)
class _Mixture:
    """Gaussians with the same weights."""

    parts: list[_Gaussian]

    def draws(self, count: int, random: np.random.Generator) -> np.ndarray:
        each = -(-count // len(self.parts))
        return np.concatenate([part.draws(each, random) for part in self.parts])[:count]

    def log_density(self, points: np.ndarray) -> np.ndarray:
        found = scipy.special.logsumexp([part.log_density(points) for part in self.parts], axis=0)
        return found - np.log(len(self.parts))


@dataclass(frozen=True)
class _Gaussian:
    mean: np.ndarray
    root: np.ndarray

    @classmethod
    def of(cls, mean: np.ndarray, covariance: np.ndarray) -> _Gaussian:
        floor = 1e-10 + 1e-8 * np.trace(covariance)
        return cls(mean, np.linalg.cholesky(covariance + floor * np.eye(len(mean))))

    def draws(self, count: int, random: np.random.Generator) -> np.ndarray:
        return self.mean + random.normal(size=(count, len(self.mean))) @ self.root.T

    def log_density(self, points: np.ndarray) -> np.ndarray:
        white = np.linalg.solve(self.root, (points - self.mean).T)
        return -0.5 * np.sum(white**2, axis=0) - np.sum(np.log(np.diagonal(self.root)))


class _Density:
    """The density of the values in and after a gap, one step after the other."""

    def __init__(self, models, inputs, targets, lags, covariates) -> None:
        self._lags, self._covariates = lags, covariates
        self._noise = [float(model.noise_variance) + NOISE_FLOOR for model in models]
        self._kernels = [bumps_and_lines(model.kernel, inputs.shape[1]) for model in models]
        parts = zip(self._kernels, targets.T, self._noise, strict=True)
        self._predictors = [
            Predictor.exact(kernel, inputs, column[:, None], np.array([noise]), np.float64)
            for kernel, column, noise in parts
        ]

    def __call__(self, complete: np.ndarray, steps: np.ndarray, columns: np.ndarray, candidates: np.ndarray):
        """The log densities (s,) of candidates (s, d) for the values at some steps and columns."""
        touched = np.unique(np.append(steps, steps[:, None] + self._lags))
        touched = touched[touched < len(complete)]
        every = np.repeat(complete[None], len(candidates), axis=0)
        every[:, steps, columns] = candidates
        total = np.zeros(len(candidates))
        for step in touched:
            at = np.asarray(flatten(every[:, step - self._lags], self._covariates[step]))
            for column, predictor in enumerate(self._predictors):
                mean, explained = predictor.moments(at)
                left = self._kernels[column].variance(at) - explained[:, 0]
                variance = np.maximum(left, 0.0) + self._noise[column]
                error = every[:, step, column] - mean[:, 0]
                total -= 0.5 * (error**2 / variance + np.log(variance))
        return total
