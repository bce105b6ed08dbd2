"""Simulated data sets: the paper's regression problem and the Mackey-Glass series."""

from __future__ import annotations

import numpy as np


def make_semi_described(
    n_rows: int = 200, n_inputs: int = 15, n_outputs: int = 5, random_state: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Inputs drawn from a GP over time, and outputs from a GP over these inputs with noise variance 0.001.

    Both kernels are RBF: exp(-½·0.2·(t-t')²) over t in [0, 6π], and exp(-½·0.5·|x-x'|²).
    """
    random = np.random.default_rng(random_state)
    times = np.linspace(0.0, 6.0 * np.pi, n_rows)[:, None]
    inputs = _draw(times, 0.2, n_inputs, random)
    outputs = _draw(inputs, 0.5, n_outputs, random)
    return inputs, outputs + np.sqrt(0.001) * random.normal(size=outputs.shape)


def _draw(points: np.ndarray, inverse_width: float, n_draws: int, random: np.random.Generator) -> np.ndarray:
    """Draws of functions from a GP with a unit RBF kernel K at `points`: the symmetric root of K times noise.

    V Λ^½ noise has the same distribution. But signs of eigenvectors, and all of those whose eigenvalues are nearly 0,
    are up to the linear algebra of a machine, so that every machine would have another data set. V Λ^½ Vᵀ is unique.
    """
    squares = np.sum((points[:, None] - points[None]) ** 2, axis=2)
    values, vectors = np.linalg.eigh(np.exp(-0.5 * inverse_width * squares))
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return root @ random.normal(size=(len(points), n_draws))


def make_mackey_glass(n_steps: int = 1201) -> np.ndarray:
    """The solution of ζ' = -0.1 ζ + 0.2 ζ(t-17)/(1 + ζ(t-17)^10) at t = 0, 1, 2, …, with ζ(0) = 1.2 and ζ = 0 before.

    It is computed by the Runge-Kutta method of order 4 with step 0.1; the delayed value is constant within a step.
    """
    step, per_unit, delay = 0.1, 10, 170
    values = np.zeros(delay + (n_steps - 1) * per_unit + 1)
    values[delay] = 1.2
    for i in range(delay, len(values) - 1):
        late = values[i - delay]
        drive = 0.2 * late / (1.0 + late**10)
        slope = lambda z, drive=drive: drive - 0.1 * z  # noqa: E731
        k1 = slope(values[i])
        k2 = slope(values[i] + 0.5 * step * k1)
        k3 = slope(values[i] + 0.5 * step * k2)
        k4 = slope(values[i] + step * k3)
        values[i + 1] = values[i] + step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return values[delay::per_unit]
