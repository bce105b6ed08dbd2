"""A linear state-space model, from which the fit of the nonlinear one starts. NumPy.

    x_t = A x_{t-1} + B [u_t, 1] + N(0, Q),    y_t = C [x_t, 1] + N(0, diag R),    x_1 ~ N(0, I)

Subspace identification finds states, expectation maximisation improves the parameters, and a smoother gives q(X).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

# Windows of the past and of the future that states connect, at most; and the share of a series that one may take.
_WINDOW, _SHARE = 12, 6
_EM_STEPS, _FIRST_CAP = 50, 0.3
# Ridges of regressions, relative to the number of rows, and the smallest variances of process and measurement.
_RIDGE, _LEAST_PROCESS, _LEAST_NOISE = 1e-4, 1e-5, 1e-4


@dataclass(frozen=True)
class Moments:
    """A Gauss-Markov chain over the states, as in `chain.py`: m, A, Q and the marginal covariances P."""

    mean: np.ndarray  # (n, q)
    transition: np.ndarray  # (n, q, q), 0 where a series begins
    noise: np.ndarray  # (n, q, q)
    covariance: np.ndarray  # (n, q, q)

    @property
    def lagged(self) -> np.ndarray:
        """cov(x_t, x_{t-1}) of every step, (n, q, q)."""
        before = np.roll(self.covariance, 1, axis=0)
        return self.transition @ before


@dataclass(frozen=True)
class LinearModel:
    """The parameters above. The last columns of B and C are constants."""

    transition: np.ndarray  # A (q, q)
    drive: np.ndarray  # B (q, c + 1)
    observation: np.ndarray  # C (p, q + 1)
    process: np.ndarray  # Q (q, q)
    noise_variance: np.ndarray  # R (p,)

    def smoothed(self, values: np.ndarray, inputs: np.ndarray, is_first: np.ndarray) -> Moments:
        """p(x_1..n | y) as a chain, by `chain_of_precision`. `values` (n, p) may hold NaN."""
        n, q = len(values), len(self.transition)
        seen = ~np.isnan(values)
        weights = seen / self.noise_variance
        slopes, constants = self.observation[:, :q], self.observation[:, q]
        pulls = weights * (np.where(seen, values, 0.0) - constants)
        diagonal = np.einsum("td,di,dj->tij", weights, slopes, slopes)
        linear = pulls @ slopes
        precision = np.linalg.inv(self.process)
        pushed = np.column_stack([inputs, np.ones(n)]) @ self.drive.T  # B u_t
        follows, leads = ~is_first, np.append(~is_first[1:], False)
        back = self.transition.T @ precision
        diagonal += np.where(follows[:, None, None], precision, np.eye(q))
        diagonal += leads[:, None, None] * (back @ self.transition)
        linear += follows[:, None] * (pushed @ precision)
        linear -= leads[:, None] * (np.roll(pushed, -1, axis=0) @ back.T)
        below = follows[:, None, None] * (-precision @ self.transition)
        return chain_of_precision(diagonal, below, linear)

    def turned(self, turn: np.ndarray, centre: np.ndarray) -> LinearModel:
        """The same model of the states T (x - centre)."""
        back, q = np.linalg.inv(turn), len(turn)
        drive = turn @ self.drive
        drive[:, -1] += turn @ (self.transition @ centre - centre)
        slopes = self.observation[:, :q] @ back
        constants = self.observation[:, q] + self.observation[:, :q] @ centre
        process = turn @ self.process @ turn.T
        return LinearModel(
            turn @ self.transition @ back, drive, np.column_stack([slopes, constants]), process, self.noise_variance
        )


def chain_of_precision(diagonal: np.ndarray, below: np.ndarray, linear: np.ndarray) -> Moments:
    """The chain whose log density is -½ Σ_t x_tᵀ D_t x_t - Σ_t x_tᵀ E_t x_{t-1} + Σ_t h_tᵀ x_t, up to a constant.

    Steps are eliminated from the last to the first:

        Λ_t = D_t - E_{t+1}ᵀ Λ_{t+1}⁻¹ E_{t+1}        r_t = h_t - E_{t+1}ᵀ Λ_{t+1}⁻¹ r_{t+1}
        Q_t = Λ_t⁻¹        A_t = -Λ_t⁻¹ E_t        E[x_t | x_{t-1}] = A_t x_{t-1} + Q_t r_t

    `diagonal` is D (n, q, q), `below` is E (0 where a series begins), and `linear` is h (n, q).
    """
    n, q = linear.shape
    noise, transition, covariance = np.empty((3, n, q, q))
    offset, mean = np.empty((2, n, q))
    extra, pull = np.zeros((q, q)), np.zeros(q)  # what the later steps add to D_t and h_t
    for t in reversed(range(n)):
        noise[t] = np.linalg.inv(diagonal[t] + extra)
        total, gain = linear[t] + pull, noise[t] @ below[t]
        transition[t], offset[t] = -gain, noise[t] @ total
        extra, pull = -below[t].T @ gain, -gain.T @ total
    before, spread = np.zeros(q), np.zeros((q, q))
    for t in range(n):
        before = mean[t] = transition[t] @ before + offset[t]
        spread = covariance[t] = transition[t] @ spread @ transition[t].T + noise[t]
    return Moments(mean, transition, _symmetric(noise), _symmetric(covariance))


def _symmetric(matrices: np.ndarray) -> np.ndarray:
    return 0.5 * (matrices + np.swapaxes(matrices, -1, -2))


def identify(
    values: np.ndarray,
    filled: np.ndarray,
    inputs: np.ndarray,
    is_first: np.ndarray,
    n_states: int,
    process_variance: float,
    seed: int,
) -> tuple[LinearModel, Moments]:
    """A linear model of series that stand one behind the other, and the smoothed states.

    `filled` are the values with gaps filled in somehow, for subspace identification only. States come with mean 0 and
    covariance I over time, and with coordinates in which the process noise is diagonal. Along no direction is it above
    `process_variance`: the cap comes down to it step by step. The smaller it is, the longer the stretches that the
    model must simulate without help from the measurements. It may be infinite.
    """
    states = _subspace_states(filled, inputs, is_first, n_states, np.random.default_rng(seed))
    still = np.repeat(1e-2 * np.eye(n_states)[None], len(values), axis=0)
    moments = Moments(states, np.zeros_like(still), still, still)
    for share in np.linspace(0.0, 1.5, _EM_STEPS):
        cap = _FIRST_CAP * (process_variance / _FIRST_CAP) ** min(share, 1.0) if process_variance < np.inf else np.inf
        model = _standard(regressed(moments, values, inputs, is_first), moments, cap)
        moments = model.smoothed(values, inputs, is_first)
    return model, moments


def _subspace_states(values, inputs, is_first, n_states, random) -> np.ndarray:
    """States as what the past tells of the future (n, q): principal components of linear predictions."""
    past, future, rows = _windows(values, inputs, is_first)
    states = 1e-2 * random.normal(size=(len(values), n_states))
    if not len(rows):
        return states
    weights = _ridge(np.column_stack([past, np.ones(len(past))]), future)[: past.shape[1]]
    told = (past - past.mean(axis=0)) @ weights
    left, sizes, _ = np.linalg.svd(told, full_matrices=False)
    count = min(n_states, len(sizes))
    states[rows, :count] += left[:, :count] * np.sqrt(len(left))
    return states


def _windows(values, inputs, is_first) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Outputs and inputs up to some steps (k, …), what comes after these steps, and the numbers of the steps (k,).

    What comes after are outputs, without what a linear function of the inputs to come explains.
    """
    starts = np.flatnonzero(is_first)
    lengths = np.diff(np.append(starts, len(values)))
    span = int(np.clip(lengths.max() // _SHARE, 1, _WINDOW))
    both, p = np.column_stack([values, inputs]), values.shape[1]
    parts = []
    for start, length in zip(starts, lengths, strict=True):
        count = length - 2 * span + 1
        if count > 0:
            windows = sliding_window_view(both[start : start + length], span, axis=0)
            parts.append((windows[:count], windows[span:], start + span - 1 + np.arange(count)))
    if not parts:
        return np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(0, int)
    past, ahead, rows = (np.concatenate(part) for part in zip(*parts, strict=True))
    past, future, driving = past.reshape(len(rows), -1), ahead[:, :p].reshape(len(rows), -1), ahead[:, p:]
    known = np.column_stack([past, driving.reshape(len(rows), -1), np.ones(len(rows))])
    weights = _ridge(known, future)
    return past, future - known[:, past.shape[1] :] @ weights[past.shape[1] :], rows


def _ridge(features: np.ndarray, targets: np.ndarray) -> np.ndarray:
    gram = features.T @ features
    return np.linalg.solve(gram + _RIDGE * len(features) * np.eye(len(gram)), features.T @ targets)


def regressed(moments: Moments, values: np.ndarray, inputs: np.ndarray, is_first: np.ndarray) -> LinearModel:
    """The parameters with the highest expected log likelihood, a little ridge included."""
    q, n = moments.mean.shape[1], len(values)
    rows = np.flatnonzero(~is_first)
    before = np.column_stack([moments.mean[rows - 1], inputs[rows], np.ones(len(rows))])
    square = before.T @ before
    square[:q, :q] += moments.covariance[rows - 1].sum(axis=0)
    cross = before.T @ moments.mean[rows]
    cross[:q] += moments.lagged[rows].sum(axis=0).T
    second = moments.mean[rows].T @ moments.mean[rows] + moments.covariance[rows].sum(axis=0)
    weights = np.linalg.solve(square + _RIDGE * n * np.eye(len(square)), cross)
    left = second - weights.T @ cross - cross.T @ weights + weights.T @ square @ weights
    process = _symmetric(left) / len(rows) + _LEAST_PROCESS * np.eye(q)
    observation, noise = _observed(moments, values)
    return LinearModel(weights[:q].T, weights[q:].T, observation, process, noise)


def _observed(moments: Moments, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """C and R, output by output."""
    features = np.column_stack([moments.mean, np.ones(len(values))])
    q = moments.mean.shape[1]
    slopes, noise = [], []
    for column in values.T:
        seen = ~np.isnan(column)
        some, known = features[seen], column[seen]
        square = some.T @ some + _RIDGE * len(known) * np.eye(q + 1)
        square[:q, :q] += moments.covariance[seen].sum(axis=0)
        weights = np.linalg.solve(square, some.T @ known)
        left = np.sum((known - some @ weights) ** 2)
        left += weights[:q] @ moments.covariance[seen].sum(axis=0) @ weights[:q]
        slopes.append(weights)
        noise.append(max(left / len(known), _LEAST_NOISE))
    return np.array(slopes), np.array(noise)


def _standard(model: LinearModel, moments: Moments, cap: float) -> LinearModel:
    """The model with states of mean 0 and covariance I over time, and a diagonal process noise up to `cap`."""
    centre = moments.mean.mean(axis=0)
    second = np.cov(moments.mean.T, bias=True).reshape(2 * (len(centre),)) + moments.covariance.mean(axis=0)
    whiten = np.linalg.inv(np.linalg.cholesky(second + 1e-9 * np.trace(second) * np.eye(len(centre))))
    _, axes = np.linalg.eigh(whiten @ model.process @ whiten.T)
    turned = model.turned(axes.T @ whiten, centre)
    return replace(turned, process=np.diag(np.minimum(np.diag(turned.process), cap)))
