"""Free simulation: a window of past values predicts the next value, which moves into the window, and so on."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..numerics.precision import in_float64
from ..numerics.types import Array
from .draws import ExactDraws, draw_exact
from .gp import ExactPosterior
from .windows import Lags, as_lags


class Moments(Protocol):
    """The methods that moment matching needs from a posterior."""

    def moments(self, mean: Float[Array, "k q"], variance: Any) -> tuple[Float[Array, "k p"], Float[Array, "k p"]]:
        """Mean and variance of the functions at inputs N(mean, variance)."""

    def input_covariance(self, mean: Float[Array, "k q"], variance: Any) -> Float[Array, "k q p"]:
        """The covariance cov(x, f(x)) at inputs N(mean, variance)."""


# Moment matching subtracts nearly equal numbers. With a smaller noise variance than this, only rounding errors remain.
LEAST_NOISE = 1e-6
# (parts of the work, what is done) → the parts, one after the other
Watch = Callable[[Sequence[Any], str], Iterable[Any]]


def sample_paths(
    seed: int,
    components: list[list[ExactPosterior]],
    windows: Float[np.ndarray, "k tau p"],
    covariates: Float[np.ndarray, "steps c"],
    bounds: tuple[Float[np.ndarray, " p"], Float[np.ndarray, " p"]],
    n_paths: int,
    lags: Lags | None = None,
    watch: Watch = lambda items, doing: items,
    n_groups: int = 20,
    n_features: int = 256,
    increments: Float[np.ndarray, " p"] | None = None,
) -> tuple[Float[np.ndarray, "s steps p"], np.ndarray]:
    """Sampled paths of the future, and which of them left the bounds.

    Functions are drawn from the posterior, and each is rolled forward with noise. `components` holds a posterior per
    output for each of k draws of the past, and `windows` the last window of each. The paths of a group share random
    features and the component. The functions see the values at `lags`, by default the whole window. `watch` goes
    through the parts of the work, and may tell someone how far it is. If `increments` is given, functions and noise are
    increments of the values, in these units.
    """
    k, own_lags = len(components), as_lags(windows.shape[1] if lags is None else lags)
    groups = -(-min(n_groups, n_paths) // k) * k
    each = -(-n_paths // groups)
    paths, out = np.empty((groups, each, len(covariates), windows.shape[2])), np.empty((groups, each), bool)
    for component, (posteriors, window) in watch([*enumerate(zip(components, windows, strict=True))], "paths"):
        own = np.arange(component, groups, k)
        randoms = [np.random.default_rng([seed, int(group)]) for group in own]
        draws = [draw_exact(posterior, randoms, each, n_features) for posterior in posteriors]
        sizes = np.sqrt([float(posterior.noise_variance) for posterior in posteriors])
        noise = sizes * np.stack([random.normal(size=(each, *paths.shape[2:])) for random in randoms])
        paths[own], out[own] = _roll(draws, own_lags, window, covariates, noise, bounds, watch, increments)
    return paths.reshape(-1, *paths.shape[2:])[:n_paths], out.ravel()[:n_paths]


def _roll(
    draws: list[ExactDraws],
    lags: np.ndarray,
    window: Float[np.ndarray, "tau p"],
    covariates: Float[np.ndarray, "steps c"],
    noise: Float[np.ndarray, "g r steps p"],
    bounds: tuple[np.ndarray, np.ndarray],
    watch: Watch,
    increments: Float[np.ndarray, " p"] | None = None,
) -> tuple[Float[np.ndarray, "g r steps p"], np.ndarray]:
    """Functions rolled forward with noise, and whether each path was ever held at the bounds.

    A path that leaves the bounds goes on from one that has not: the series has stayed inside so far. Where half of
    the paths leave at once, they are held at the bounds.
    """
    groups, each, steps, p = noise.shape
    tau = len(window)
    values = np.empty((groups, each, tau + steps, p))  # the window, and the path behind it
    values[:, :, :tau] = window
    flat = values.reshape(groups * each, tau + steps, p)
    was_out = np.zeros(groups * each, bool)
    random = np.random.default_rng(steps)
    for step in watch(range(steps), "paths"):
        own = values[:, :, step + tau - lags].reshape(groups, each, len(lags) * p)
        new = np.stack([functions.each(own, covariates[step]) for functions in draws], axis=-1) + noise[:, :, step]
        if increments is not None:
            new = values[:, :, step + tau - 1] + increments * new
        held = np.clip(new, *bounds)
        values[:, :, step + tau] = held
        is_out = (held != new).any(axis=-1).ravel() & ~was_out
        if is_out.any():
            inside = np.flatnonzero(~is_out & ~was_out)
            if len(inside) > is_out.sum():
                flat[is_out, : step + tau + 1] = flat[random.choice(inside, is_out.sum()), : step + tau + 1]
            else:
                was_out |= is_out
    return values[:, :, tau:], was_out.reshape(groups, each)


def propagate(
    kind: str,
    posteriors: Sequence[Moments],
    noise: Float[np.ndarray, " p"],
    window: Float[np.ndarray, "tau p"],
    covariates: Float[np.ndarray, "steps c"],
) -> tuple[Float[np.ndarray, "steps p"], Float[np.ndarray, "steps p"]]:
    """Mean and variance of every next value, by moment matching.

    The belief about the window is N(m, S). If `kind` is "none", S is 0. If it is "diagonal", S is diagonal, as in the
    paper. If it is "full", S has the covariances C = cov(x, f(x)) between a new value and the window. The covariance
    between new values of different outputs is then the covariance of their linear parts, Cᵀ S⁺ C, so that S stays
    positive semidefinite.
    """
    return in_float64(functools.partial(_propagate, kind))(posteriors, noise, window, covariates)


@functools.partial(jax.jit, static_argnums=0)
def _propagate(kind: str, posteriors, noise, window, covariates):
    tau, p = window.shape
    count, extra = tau * p, covariates.shape[1]

    def step(state, covariate):
        mean, spread = state
        inputs = jnp.concatenate([mean, covariate])[None]
        padded = jnp.zeros((count + extra, count + extra)).at[:count, :count].set(spread)
        belief = {"none": None, "diagonal": jnp.diagonal(padded)[None], "full": padded[None]}[kind]
        moments = [posterior.moments(inputs, belief) for posterior in posteriors]
        new = jnp.stack([m[0, 0] for m, _ in moments])
        variance = jnp.stack([v[0, 0] for _, v in moments]) + noise
        if kind == "full":
            columns = [posterior.input_covariance(inputs, belief)[0, :count, 0] for posterior in posteriors]
            cross = jnp.stack(columns, axis=1)  # [count, p]
            joint = jnp.block([[spread, cross], [cross.T, _among_outputs(spread, cross, variance)]])
        else:
            joint = jax.scipy.linalg.block_diag(spread, jnp.diag(variance * (kind == "diagonal")))
        return (jnp.concatenate([mean, new])[p:], joint[p:, p:]), (new, variance)

    start = (window.reshape(-1), jnp.zeros((count, count)))
    return jax.lax.scan(step, start, covariates)[1]


def _among_outputs(spread, cross, variance):
    """The covariance of new values: their variances on the diagonal, elsewhere the covariance of their linear parts."""
    if cross.shape[1] == 1:
        return jnp.diag(variance)
    shared = cross.T @ jnp.linalg.pinv(spread, rtol=1e-9, hermitian=True) @ cross
    return jnp.where(jnp.eye(len(variance), dtype=bool), jnp.diag(variance), shared)
