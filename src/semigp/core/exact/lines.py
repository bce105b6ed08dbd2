"""Linear regression as a GP with a linear kernel, in the space of its slopes: k(x, x') = Σ_j v_j x_j x'_j.

With q inputs, an evaluation of the evidence costs q³, whatever the number of rows. For the slopes w, given v and σ²:

    B = σ² I + V^½ XᵀX V^½,    E[w] = V^½ B⁻¹ V^½ Xᵀy,    cov(w) = σ² V^½ B⁻¹ V^½.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from jaxtyping import Float

from ..hyperpriors import LogNormal
from ..search.lbfgs import maximise
from ..search.report import Callback, FitReport, with_signal_to_noise
from ..search.stages import Stage
from .at_points import factor_of
from .evidence import NOISE_FLOOR

_START_NOISE, _TOLERANCE = 0.3, 1e-6


@dataclass(frozen=True)
class LineModel:
    """Prior variances of the slopes, and the noise variance."""

    variances: Float[np.ndarray, " q"]  # v
    noise_variance: float  # σ²


@dataclass(frozen=True)
class LineSums:
    """All that the evidence needs to know of the rows."""

    squares: Float[np.ndarray, "q q"]  # XᵀX
    products: Float[np.ndarray, " q"]  # Xᵀy
    total: float  # yᵀy
    count: int

    @classmethod
    def of(cls, inputs: Float[np.ndarray, "n q"], targets: Float[np.ndarray, " n"]) -> LineSums:
        """The sums over the rows without NaN."""
        known = ~np.isnan(inputs).any(axis=1) & ~np.isnan(targets)
        X, y = inputs[known], targets[known]
        return cls(X.T @ X, X.T @ y, float(y @ y), len(y))


@dataclass(frozen=True)
class LinePosterior:
    """Slopes N(mean, root rootᵀ), given the rows, and the log evidence."""

    mean: Float[np.ndarray, " q"]
    root: Float[np.ndarray, "q q"]
    evidence: float

    def draws(self, n_draws: int, random: np.random.Generator) -> Float[np.ndarray, "s q"]:
        """Draws of the slopes."""
        return self.mean + random.normal(size=(n_draws, len(self.mean))) @ self.root.T


def condition_lines(
    model: LineModel, sums: LineSums, factor: Callable[[np.ndarray], np.ndarray] = factor_of
) -> LinePosterior:
    """The posterior of the slopes, and log p(y) = log N(y; 0, X V Xᵀ + σ² I). `factor` is how B is factored."""
    noise, q = model.noise_variance + NOISE_FLOOR, len(model.variances)
    scale = np.sqrt(model.variances)
    lower = factor(noise * np.eye(q) + scale[:, None] * sums.squares * scale)
    half = _solved(lower, scale * sums.products)
    root = np.sqrt(noise) * _solved(lower, np.diag(scale)).T
    mean = scale * _solved(lower, half, trans=1)
    # |K + σ² I| = σ^2(n - q) |B|,  yᵀ(K + σ² I)⁻¹y = (yᵀy - |half|²)/σ²
    determinant = (sums.count - q) * np.log(noise) + 2.0 * np.sum(np.log(np.diagonal(lower)))
    quadratic = (sums.total - float(half @ half)) / noise
    return LinePosterior(mean, root, -0.5 * (quadratic + determinant + sums.count * np.log(2.0 * np.pi)))


def fit_lines(
    sums: LineSums, prior: LogNormal, max_iterations: int, callback: Callback | None = None
) -> tuple[LineModel, FitReport]:
    """Raise log p(y) + log p(v), for outputs of unit variance."""
    q = len(sums.products)

    def loss(logs: np.ndarray) -> tuple[float, np.ndarray]:
        with np.errstate(all="ignore"):
            model = LineModel(np.exp(logs[:-1]), float(np.exp(logs[-1])))
            try:
                found = condition_lines(model, sums, np.linalg.cholesky)
            except np.linalg.LinAlgError:
                return np.inf, np.zeros(q + 1)
        more, slopes = prior.of_logs(logs[:-1])
        return -found.evidence - more, -np.append(_slopes(model, found) + slopes, _noise_slope(model, sums, found))

    start = np.log(np.append(np.full(q, prior.median), _START_NOISE))
    logs, report = maximise(loss, start, [Stage("lines", max_iterations)], _TOLERANCE, callback)
    model = LineModel(np.exp(np.round(logs[:-1], 8)), float(np.exp(np.round(logs[-1], 8))))
    signal = float(np.sum(model.variances * np.diagonal(sums.squares))) / max(sums.count, 1)
    return model, with_signal_to_noise(report, np.atleast_1d(signal / (model.noise_variance + NOISE_FLOOR)))


def _slopes(model: LineModel, found: LinePosterior) -> Float[np.ndarray, " q"]:
    """∂log p(y)/∂log v = ½ (E[w²]/v - 1)."""
    return 0.5 * ((found.mean**2 + np.sum(found.root**2, axis=1)) / model.variances - 1.0)


def _noise_slope(model: LineModel, sums: LineSums, found: LinePosterior) -> float:
    """∂log p(y)/∂log σ² = ½ (E|y - Xw|²/σ² - n), less what belongs to the floor."""
    noise = model.noise_variance + NOISE_FLOOR
    spread = float(np.sum((sums.squares @ found.root) * found.root))
    error = sums.total - 2.0 * float(found.mean @ sums.products) + float(found.mean @ sums.squares @ found.mean)
    return 0.5 * ((error + spread) / noise - sums.count) * model.noise_variance / noise


def _solved(lower: np.ndarray, right: np.ndarray, trans: int = 0) -> np.ndarray:
    """Infinity and NaN pass through: a search turns back there."""
    return scipy.linalg.solve_triangular(lower, right, lower=True, trans=trans, check_finite=False)
