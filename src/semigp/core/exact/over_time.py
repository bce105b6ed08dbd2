"""A series as a function of time: a GP whose covariance adds up what series are made of, in NumPy.

    k(s, t) = c + v min(s, t)                                     a level that wanders
                + u (s - m)(t - m)                                a line
                + w ∫∫ exp(-|a - b|/τ) da db, a < s, b < t        a slope that changes, and is forgotten after τ
                + x exp(-|s - t|/ρ)                               what comes back
                + Σ y exp(-2 sin²(π(s - t)/P)/λ² - |s - t|/κ)     seasons of length P, which change after κ

All terms have the form f(s) + f(t) + g(|s - t|). So a covariance matrix is read off two vectors, and the slope of the
evidence by a parameter needs only the sums of a matrix along its diagonals and its rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
from jaxtyping import Float, Int

from ..search.lbfgs import maximise
from ..search.report import Callback, FitReport, with_signal_to_noise
from ..search.stages import Stage
from .at_points import factor_of, inverse_of
from .evidence import NOISE_FLOOR

# The variance c of the level at the start of a series, in standard units.
_LEVEL = 25.0
# Largest number of values to which hyperparameters are fitted, and on which a forecast is conditioned; and the share of
# them that are the latest values. The rest is spread over the earlier ones.
_MAX_TO_FIT, _MAX_TO_CONDITION, _LATEST = 500, 1000, 0.7
# The hyperprior of each parameter is log-normal. Variances are in units of that of a step, with trend and season
# removed; the line's in units of a line that spans the series; those of seasons in units of the whole series.
_NOISE, _WALK, _SLOPE, _SLOPE_MEMORY, _LOCAL, _LOCAL_MEMORY, _LINE = range(7)
_MEDIANS = (1 / 3, 0.1, 1e-3, 20.0, 0.05, 5.0, 1.0)
_SPREADS = (2.0, 2.0, 2.0, 1.0, 2.0, 1.0, 2.0)
_SEASON_MEDIANS, _SEASON_SPREADS = (1 / 3, 0.5, 100.0), (2.0, 1.0, 1.5)
_TOLERANCE = 1e-6
_LEAST_VARIANCE = 1e-6  # of a series and of its steps, which may be constant for a while


@dataclass(frozen=True)
class TimeModel:
    """The logarithms of all parameters, three for each season behind those of the other terms."""

    logs: Float[np.ndarray, " d"]
    seasons: tuple[float, ...]  # P
    middle: float  # m

    @property
    def noise_variance(self) -> float:
        """The variance of independent noise."""
        return float(np.exp(self.logs[_NOISE])) + NOISE_FLOOR

    def parts(self, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """F (count,) at the steps 0, 1, …, g (count,) at distances, and both derivatives (d, count) by the logs."""
        steps = np.arange(count, dtype=float)
        later = steps + 1.0  # the series begins one step after the level is known
        _, walk, slope, memory, local, local_memory, line = np.exp(self.logs[:7])
        f, g = np.zeros((2, len(self.logs), count))
        f[_WALK], g[_WALK] = 0.5 * walk * later, -0.5 * walk * steps
        # ∫∫ exp(-|a - b|/τ) = τ² (2 min(s, t)/τ + exp(-s/τ) + exp(-t/τ) - 1 - exp(-|s - t|/τ))
        scale, fading, fading_apart = slope * memory**2, np.exp(-later / memory), np.exp(-steps / memory)
        f[_SLOPE], g[_SLOPE] = scale * (later / memory + fading - 0.5), -scale * (steps / memory + fading_apart)
        f[_SLOPE_MEMORY] = 2.0 * f[_SLOPE] + scale * (fading - 1.0) * later / memory
        g[_SLOPE_MEMORY] = 2.0 * g[_SLOPE] + scale * (1.0 - fading_apart) * steps / memory
        g[_LOCAL] = local * np.exp(-steps / local_memory)
        g[_LOCAL_MEMORY] = g[_LOCAL] * steps / local_memory
        f[_LINE], g[_LINE] = 0.5 * line * (steps - self.middle) ** 2, -0.5 * line * steps**2
        for i, period in enumerate(self.seasons):
            place = 7 + 3 * i
            variance, width, memory = np.exp(self.logs[place : place + 3])
            bent = 2.0 * np.sin(np.pi * steps / period) ** 2 / width**2
            g[place] = variance * np.exp(-bent - steps / memory)
            g[place + 1], g[place + 2] = 2.0 * bent * g[place], g[place] * steps / memory
        amplitudes = [_WALK, _SLOPE, _LOCAL, _LINE, *range(7, len(self.logs), 3)]
        return f[amplitudes].sum(axis=0), g[amplitudes].sum(axis=0), f, g

    def covariance(self, left: Int[np.ndarray, " a"], right: Int[np.ndarray, " b"]) -> Float[np.ndarray, "a b"]:
        """k(s, t) for all pairs of steps, without noise."""
        f, g, _, _ = self.parts(int(max(left.max(), right.max())) + 1)
        return g[np.abs(left[:, None] - right)] + f[left][:, None] + (f[right] + _LEVEL)


def fit_over_time(
    values: Float[np.ndarray, " T"],
    seasons: tuple[float, ...],
    max_iterations: int,
    callback: Callback | None = None,
    prior: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[TimeModel, FitReport]:
    """Raise log p(y) + log p(θ) of the values that are not NaN, which are in standard units.

    `prior` holds what was learned from other series: how the logs differ from their usual medians, and how much that
    varies from series to series.
    """
    medians, spreads = hyperprior(values, seasons)
    if prior is not None:
        medians, spreads = medians + prior[0], prior[1]
    start = TimeModel(medians, seasons, (len(values) - 1) / 2.0)
    steps = _chosen(values, _MAX_TO_FIT)
    evidence = _Evidence(steps, values[steps])

    def loss(logs: np.ndarray) -> tuple[float, np.ndarray]:
        with np.errstate(all="ignore"):  # a line search may go far out; the search turns back there
            value, slopes = evidence(replace(start, logs=logs))
        deviations = (logs - medians) / spreads
        return 0.5 * float(deviations @ deviations) - value, deviations / spreads - slopes

    logs, report = maximise(loss, medians, [Stage("time", max_iterations)], _TOLERANCE, callback)
    model = replace(start, logs=np.round(logs, 8))  # the last digits depend on where arrays lie in memory
    return model, with_signal_to_noise(report, np.atleast_1d(1.0 / model.noise_variance))


def hyperprior(values: np.ndarray, seasons: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Medians of the hyperpriors, as logarithms, and their spreads."""
    whole, step = max(float(np.nanvar(values)), _LEAST_VARIANCE), _step_variance(values, seasons)
    units = np.array([step, step, step, 1.0, step, 1.0, whole / len(values) ** 2])
    for period in seasons:
        units = np.append(units, [max(whole, step), 1.0, period])
    spreads = np.array(_SPREADS + _SEASON_SPREADS * len(seasons))
    return np.log(units * (_MEDIANS + _SEASON_MEDIANS * len(seasons))), spreads


def _step_variance(values: np.ndarray, seasons: tuple[float, ...]) -> float:
    """The variance of steps, or half of that of their changes from season to season, whichever is least."""
    steps = np.diff(values)
    found = [steps, *((steps[p:] - steps[:-p]) / np.sqrt(2.0) for p in (round(each) for each in seasons))]
    variances = [float(np.nanvar(each)) for each in found if np.sum(~np.isnan(each)) > 10]
    return max(min(variances, default=1.0), _LEAST_VARIANCE)


def _chosen(values: np.ndarray, most: int) -> Int[np.ndarray, " n"]:
    """Steps with a value: all of them, or the latest and some of the earlier ones."""
    known = np.flatnonzero(~np.isnan(values))
    if len(known) <= most:
        return known
    latest = round(_LATEST * most)
    early = known[:-latest]
    return np.concatenate([early[np.linspace(0, len(early) - 1, most - latest).astype(int)], known[-latest:]])


class _Evidence:
    """Log p(y) of values at some steps, and its slopes by the logarithms of the parameters."""

    def __init__(self, steps: np.ndarray, values: np.ndarray) -> None:
        self.steps, self.values = steps, values
        self._apart = np.abs(steps[:, None] - steps)
        n = len(steps)
        self._root, self._inverse = np.zeros((2, n, n))

    def __call__(self, model: TimeModel) -> tuple[float, np.ndarray]:
        count, y, n = int(self.steps[-1]) + 1, self.values, len(self.values)
        f, g, f_slopes, g_slopes = model.parts(count)
        covariance = g[self._apart] + f[self.steps][:, None] + (f[self.steps] + _LEVEL)
        covariance[np.diag_indices(n)] += model.noise_variance
        try:
            inverse, log_determinant = inverse_of(covariance, self._root, self._inverse)
        except np.linalg.LinAlgError:
            return -np.inf, np.zeros(len(model.logs))
        weights = inverse @ y
        value = -0.5 * float(y @ weights) - 0.5 * log_determinant - 0.5 * n * np.log(2.0 * np.pi)
        # ½ Σ M_st ∂k(s, t), M = α αᵀ - A⁻¹: by the sums of M along diagonals, and by its rows
        M = np.multiply.outer(weights, weights) - inverse
        diagonals = np.bincount(self._apart.ravel(), M.ravel(), count)
        slopes = 0.5 * g_slopes @ diagonals + f_slopes[:, self.steps] @ M.sum(axis=1)
        slopes[_NOISE] = 0.5 * (model.noise_variance - NOISE_FLOOR) * np.trace(M)
        return value, slopes


@dataclass(frozen=True)
class TimePosterior:
    """The posterior of a series, given the values that are not NaN, or the latest of them and some of the others."""

    model: TimeModel
    steps: Int[np.ndarray, " n"]
    root: Float[np.ndarray, "n n"]  # L, with L Lᵀ = K + σ² I
    whitened: Float[np.ndarray, " n"]  # L⁻¹ y

    @classmethod
    def given(cls, model: TimeModel, values: Float[np.ndarray, " T"]) -> TimePosterior:
        """Conditioned on a series in standard units."""
        steps = _chosen(values, _MAX_TO_CONDITION)
        covariance = model.covariance(steps, steps)
        covariance[np.diag_indices(len(steps))] += model.noise_variance
        root = factor_of(covariance)
        return cls(model, steps, root, _solved(root, values[steps]))

    def moments(self, at: Int[np.ndarray, " k"]) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, "k k"]]:
        """Mean and covariance of the values at other steps, noise included."""
        half = _solved(self.root, self.model.covariance(self.steps, at))
        covariance = self.model.covariance(at, at) - half.T @ half
        covariance[np.diag_indices(len(at))] += self.model.noise_variance
        return half.T @ self.whitened, covariance

    def log_densities(self) -> Float[np.ndarray, " n"]:
        """The log density of every value, given those before it."""
        return -0.5 * (self.whitened**2 + np.log(2.0 * np.pi)) - np.log(np.diagonal(self.root))


def gaussian_draws(mean: np.ndarray, covariance: np.ndarray, n_draws: int, random: Any) -> np.ndarray:
    """Draws (n_draws, k) from a Gaussian, whose covariance may be singular to rounding."""
    spectrum, axes = np.linalg.eigh(covariance)
    return mean + (random.normal(size=(n_draws, len(mean))) * np.sqrt(np.maximum(spectrum, 0.0))) @ axes.T


def _solved(root: np.ndarray, right: np.ndarray) -> np.ndarray:
    return scipy.linalg.solve_triangular(root, right, lower=True, check_finite=False)
