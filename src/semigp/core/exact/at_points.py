"""GPs of certain inputs, and what they predict at many points, in NumPy: no program has to be compiled.

All of them have the kernel

    k(x, x') = a exp(-½ Σ_j (x_j - x'_j)²/ℓ_j²) + Σ_j v_j x_j x'_j.

Beside a GPU large tasks go there, in pieces of one shape.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
import scipy.linalg
from jaxtyping import Float

# The precision in which candidates are weighed: enough to choose among them, and more than twice as fast as double.
SINGLE = np.float32
# Added to noise variances: smaller ones cannot be told from rounding in single precision.
JITTER = 1e-6
# Of k(Z, Z), so that single precision is enough: what inducing points say is blurred by this variance.
_BLUR = 1e-4
_POINTS_AT_ONCE, _POINTS_ON_DEVICE = 2048, 65536
# On processors, points come in multiples of this number. BLAS rounds left-over rows differently from the rest, but what
# is predicted at a point should not depend on the other points.
_BLOCK = 64
_LARGE = 2e9  # multiplications from which on a GPU pays
_SMALL_BLOCK = 128


@dataclass(frozen=True)
class BumpsAndLines:
    """The kernel of this module."""

    amplitude: float  # a
    lengthscales: Float[np.ndarray, " d"]  # ℓ
    linear: Float[np.ndarray, " d"]  # v

    def __call__(self, left: Float[np.ndarray, "a d"], right: Float[np.ndarray, "b d"]) -> Float[np.ndarray, "a b"]:
        """k(x, x') for all pairs of rows, in the precision of the rows."""
        found = self.bumps(left, right)
        if self.linear.any():
            found += (left * self.linear.astype(left.dtype)) @ right.T
        return found

    def bumps(
        self, left: Float[np.ndarray, "a d"], right: Float[np.ndarray, "b d"], out: Any = None
    ) -> Float[np.ndarray, "a b"]:
        """The first term of k(x, x') for all pairs of rows."""
        scales = self.lengthscales.astype(left.dtype)
        found = bumps(left / scales, right / scales, out)
        found *= left.dtype.type(self.amplitude)
        return found

    def variance(self, points: Float[np.ndarray, "a d"]) -> Float[np.ndarray, " a"]:
        """k(x, x) for every row."""
        return self.amplitude + np.sum(points**2 * self.linear, axis=1)


def bumps(
    left: Float[np.ndarray, "a d"], right: Float[np.ndarray, "b d"], out: Any = None, more: Any = 0.0
) -> Float[np.ndarray, "a b"]:
    """exp(-½ |x - x'|² - m') for all pairs of rows. One product gives x·x' - ½ |x|² - ½ |x'|² - m'.

    `more` is m' [b], what is known of the distances already.
    """
    ones = np.ones((1, 1), left.dtype)
    halves = [-0.5 * np.sum(rows**2, axis=1, keepdims=True) for rows in (left, right)]
    halves[1] -= np.reshape(more, (-1, 1))
    wide = np.hstack([left, halves[0], np.broadcast_to(ones, (len(left), 1))])
    exponents = np.matmul(wide, np.hstack([right, np.broadcast_to(ones, (len(right), 1)), halves[1]]).T, out=out)
    np.minimum(exponents, 0.0, out=exponents)
    return np.exp(exponents, out=exponents)


def kernel_slopes(
    kernel: BumpsAndLines,
    points: Float[np.ndarray, "n d"],
    bump: Float[np.ndarray, "n n"],
    weights: Float[np.ndarray, "n n"],
    out: Any = None,
) -> tuple[float, Float[np.ndarray, " d"], Float[np.ndarray, " d"]]:
    """Σ_ab W_ab ∂k(x_a, x_b)/∂log θ for θ = a, ℓ and v, with symmetric weights W. `bump` is the first term of k."""
    scaled, pulls = points / kernel.lengthscales, np.multiply(weights, bump, out=out)
    totals = pulls.sum(axis=1)
    # Σ_ab P_ab (z_a - z_b)² = 2 Σ_a z_a² Σ_b P_ab - 2 zᵀPz, for every input at once
    squares = 2.0 * np.sum(scaled**2 * totals[:, None], axis=0) - 2.0 * np.sum(scaled * (pulls @ scaled), 0)
    lines = kernel.linear * np.sum(points * (weights @ points), axis=0)
    return float(totals.sum()), squares, lines


def input_slopes(
    kernel: BumpsAndLines,
    points: Float[np.ndarray, "n d"],
    weights: Float[np.ndarray, "a n"],
    pulls: Float[np.ndarray, "a n"],
    at: Any = slice(None),
) -> Float[np.ndarray, "a d"]:
    """Σ_b W_ab ∂k(x_a, x_b)/∂x_a = (P X - diag(P 1) X) diag(1/ℓ²) + W X diag(v), for the rows `at`.

    `pulls` is P, the weights times the first term of k.
    """
    curved = pulls @ points - pulls.sum(axis=1)[:, None] * points[at]
    return curved / kernel.lengthscales**2 + (weights @ points) * kernel.linear


@dataclass(frozen=True)
class Predictor:
    """A GP of p outputs, conditioned on rows. With h = R k(Z, x), its mean is hᵀl, and h²ᵀg of k(x, x) is explained."""

    kernel: BumpsAndLines
    points: Float[np.ndarray, "m d"]  # Z
    root: Float[np.ndarray, "m m"]  # R
    loadings: Float[np.ndarray, "m p"]  # l
    gains: Float[np.ndarray, "m p"] | None  # g; None if it is 1 for all outputs

    @classmethod
    def exact(
        cls, kernel: BumpsAndLines, points: np.ndarray, values: np.ndarray, noise: np.ndarray, precision: Any = SINGLE
    ) -> Predictor:
        """Conditioned on the values of all outputs (m, p), which have noise variances (p,).

        If these are the same, R = L⁻¹ with L Lᵀ = K + rI. Otherwise one K = U Λ Uᵀ serves all: R = Uᵀ.
        """
        covariance = kernel(points, points)
        if (noise == noise[0]).all():
            covariance[np.diag_indices(len(points))] += noise[0]
            lower = np.linalg.cholesky(covariance)
            loadings = scipy.linalg.solve_triangular(lower, values, lower=True, check_finite=False)
            return cls._of(kernel, points, inverse_of_lower(lower.astype(precision)), loadings, None, precision)
        eigenvalues, vectors = np.linalg.eigh(covariance)
        spectrum = np.maximum(eigenvalues, 0.0)[:, None] + noise
        return cls._of(kernel, points, vectors.T, vectors.T @ values / spectrum, 1.0 / spectrum, precision)

    @classmethod
    def sparse(
        cls,
        kernel: BumpsAndLines,
        inducing: np.ndarray,
        points: np.ndarray,
        values: np.ndarray,
        noise: np.ndarray,
        precision: Any = SINGLE,
    ) -> Predictor:
        """Conditioned on rows through inducing inputs.

        With φ(x) = L⁻¹ k(Z, x), L Lᵀ = k(Z, Z), and Σ φφᵀ over the rows = U Λ Uᵀ: R = Uᵀ L⁻¹, the gains are
        λ/(λ + r), and the loadings (UᵀΣ φ y)/(λ + r).
        """
        covariance = kernel(inducing, inducing)
        covariance[np.diag_indices(len(inducing))] += _BLUR if precision == SINGLE else JITTER
        whitener = inverse_of_lower(np.linalg.cholesky(covariance))
        features = cls._of(kernel, inducing, whitener, np.zeros((len(inducing), 0)), None, precision)
        squares, products = features.sums(points, values)
        eigenvalues, vectors = np.linalg.eigh(squares)
        spectrum = np.maximum(eigenvalues, 0.0)[:, None]
        root, total = vectors.T @ whitener, spectrum + noise
        loadings = (vectors.T @ products) / total
        return cls._of(kernel, inducing, root, loadings, spectrum / total, precision)

    @classmethod
    def _of(cls, kernel: BumpsAndLines, points: Any, root: Any, loadings: Any, gains: Any, precision: Any) -> Predictor:
        arrays = (None if each is None else np.ascontiguousarray(each, precision) for each in (root, loadings, gains))
        return cls(kernel, np.ascontiguousarray(points, precision), *arrays)  # type: ignore[arg-type]

    def moments(self, at: Float[np.ndarray, "k d"]) -> tuple[Float[np.ndarray, "k p"], Float[np.ndarray, "k o"]]:
        """The mean of every output at some points, and how much of k(x, x) is explained: o is p, or 1."""
        if self._belongs_on_device(len(at)):
            means, explained = zip(*self._on_device(_moments_on_device, at), strict=True)
        else:
            parts = [at[start : start + _POINTS_AT_ONCE] for start in range(0, max(len(at), 1), _POINTS_AT_ONCE)]
            means, explained = zip(*(self._some(part) for part in parts), strict=True)
        mean, gain = (np.concatenate(each)[: len(at)].astype(float) for each in (means, explained))
        return mean, gain

    def sums(self, at: Float[np.ndarray, "k d"], values: Any) -> tuple[Float[np.ndarray, "m m"], np.ndarray]:
        """Σ h hᵀ and Σ h yᵀ over some points and their values (k, p)."""
        parts: Iterable[Any]
        if self._belongs_on_device(len(at)):
            parts = self._on_device(_sums_on_device, at, values)
        else:
            starts = range(0, len(at), _POINTS_AT_ONCE)
            parts = (self._sums(slice(start, start + _POINTS_AT_ONCE), at, values) for start in starts)
        squares, products = np.zeros(self.root.shape), np.zeros((len(self.root), values.shape[1]))
        for square, product in parts:
            squares += square
            products += product
        return squares, products

    def half(self, at: Float[np.ndarray, "k d"]) -> Float[np.ndarray, "k m"]:
        """The vector h of every point."""
        return self.kernel(at.astype(self.points.dtype), self.points) @ self.root.T

    def _some(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        half = self.half(np.pad(at, ((0, -len(at) % _BLOCK), (0, 0))))
        mean = half @ self.loadings
        half *= half
        return mean, half.sum(axis=1, keepdims=True) if self.gains is None else half @ self.gains

    def _sums(self, some: slice, at: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        half = self.half(at[some])
        return half.T @ half, half.T @ values[some].astype(half.dtype)

    def _belongs_on_device(self, count: int) -> bool:
        return float(count) * len(self.points) ** 2 > _LARGE and has_accelerator()

    def _on_device(self, program: Any, at: np.ndarray, values: np.ndarray | None = None) -> list[Any]:
        """What a program returns for all blocks of points. It runs while the next points are prepared.

        Results for points that fill up the last block are meaningless, and their values are 0.
        """
        kernel, gains = self.kernel, np.ones((len(self.points), 1)) if self.gains is None else self.gains
        arrays = (kernel.amplitude, kernel.lengthscales, kernel.linear, self.points, self.root, self.loadings, gains)
        with jax.enable_x64(self.root.dtype != SINGLE):
            held = [jax.device_put(np.asarray(each, self.root.dtype)) for each in arrays]
            parts = []
            for start in range(0, len(at), _POINTS_ON_DEVICE):
                blocks = [_block(each, start, self.root.dtype) for each in (at, values) if each is not None]
                is_real = start + np.arange(_POINTS_ON_DEVICE) < len(at)
                parts.append(program(*blocks, *held) if values is None else program(*blocks, is_real, *held))
            return [tuple(np.asarray(each) for each in part) for part in parts]


def _block(rows: np.ndarray, start: int, precision: Any) -> np.ndarray:
    """The rows of one block, filled up with 0."""
    some = np.zeros((_POINTS_ON_DEVICE, rows.shape[1]), precision)
    some[: len(rows) - start] = rows[start : start + _POINTS_ON_DEVICE]
    return some


def _half_on_device(at, amplitude, lengthscales, linear, points, root):
    left, right = at / lengthscales, points / lengthscales
    squares = (left**2).sum(1)[:, None] + (right**2).sum(1)[None] - 2.0 * left @ right.T
    cross = amplitude * jax.numpy.exp(-0.5 * jax.numpy.maximum(squares, 0.0)) + (at * linear) @ points.T
    return cross @ root.T


@jax.jit
def _moments_on_device(at, *held):
    """`Predictor._some` on an accelerator."""
    with jax.default_matmul_precision("highest"):
        half, (loadings, gains) = _half_on_device(at, *held[:-2]), held[-2:]
        return half @ loadings, half**2 @ gains


@jax.jit
def _sums_on_device(at, values, is_real, *held):
    """`Predictor._sums` on an accelerator."""
    with jax.default_matmul_precision("highest"):
        half = _half_on_device(at, *held[:-2]) * is_real[:, None]
        return half.T @ half, half.T @ values


@functools.cache
def has_accelerator() -> bool:
    """Whether JAX computes on something else than this machine's processors."""
    return jax.default_backend() != "cpu"


def inverse_of(
    covariance: Float[np.ndarray, "n n"], root: Any = None, out: Any = None
) -> tuple[Float[np.ndarray, "n n"], float]:
    """The inverse of a covariance matrix, and the logarithm of its determinant.

    Memory for the inverse, and for the inverse of the Cholesky factor (`root`), can be given.
    """
    cholesky = np.linalg.cholesky(covariance)
    whitener = inverse_of_lower(cholesky, root)
    inverse = np.empty_like(whitener) if out is None else out
    return square_of_lower(whitener, inverse), 2.0 * float(np.sum(np.log(np.diagonal(cholesky))))


def factor_of(covariance: Float[np.ndarray, "n n"]) -> Float[np.ndarray, "n n"]:
    """A Cholesky factor, with jitter in units of the mean variance where rounding makes it necessary."""
    for jitter in (0.0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4):
        try:
            return np.linalg.cholesky(covariance + jitter * np.mean(np.diagonal(covariance)) * np.eye(len(covariance)))
        except np.linalg.LinAlgError:
            continue
    raise np.linalg.LinAlgError("The covariance of the values has no Cholesky factor; check the scale of the series.")


def square_of_lower(lower: Float[np.ndarray, "n n"], out: Float[np.ndarray, "n n"]) -> Float[np.ndarray, "n n"]:
    """LᵀL of a lower triangular matrix, by halves, so that most products with zeros are spared."""
    if len(lower) <= _SMALL_BLOCK:
        return np.matmul(lower.T, lower, out=out)
    half = len(lower) // 2
    first, last = slice(half), slice(half, None)
    below = lower[last, first]
    square_of_lower(lower[first, first], out[first, first])
    out[first, first] += below.T @ below
    square_of_lower(lower[last, last], out[last, last])
    np.matmul(lower[last, last].T, below, out=out[last, first])
    out[first, last] = out[last, first].T
    return out


def inverse_of_lower(lower: Float[np.ndarray, "n n"], out: Any = None) -> Float[np.ndarray, "n n"]:
    """The inverse of a lower triangular matrix. Memory for it, if given, is 0 above the diagonal.

    Products of halves are faster than LAPACK's substitution, and other threads can run meanwhile.
    """
    found = np.zeros_like(lower) if out is None else out
    if len(lower) <= _SMALL_BLOCK:
        (invert,) = scipy.linalg.get_lapack_funcs(("trtri",), (lower,))
        found[:] = np.tril(invert(lower, lower=1)[0])
        return found
    half = len(lower) // 2
    first, last = slice(half), slice(half, None)
    inverse_of_lower(lower[first, first], found[first, first])
    inverse_of_lower(lower[last, last], found[last, last])
    found[last, first] = -found[last, last] @ (lower[last, first] @ found[first, first])
    return found
