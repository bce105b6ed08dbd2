"""Back constraints: q(x) is a function of the row's outputs, so that new rows need no optimisation.

The paper remarks that q(x_n) may be constrained by y_n as well as by noisy inputs. Here the mean and log variance of
q(x_n) are linear in features of y_n,

    μ_n = φ(y_n) W,   log S_n = φ(y_n) V,

and W and V are fitted with all other parameters. q(x) is never wider than its prior (log S ≤ 0), and φ = 0 gives the
prior itself. The bound is still a bound, but it is lower than with free q(x_n).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..kernels import Kernel
from ..numerics.precision import in_float64
from ..numerics.pytrees import pytree
from ..numerics.types import Array
from ..search.lbfgs import maximise
from ..search.report import Callback, FitReport, with_signal_to_noise
from ..search.stages import Stage
from ..sparse.fit import constrain, signal_to_noise, unconstrain
from ..sparse.model import Data, Model, objective


@pytree
class Weights:
    """The weights W and V."""

    mean: Float[Array, "f q"]
    log_variance: Float[Array, "f q"]

    @classmethod
    def of(cls, features: Any, mean: Any, variance: Any) -> Weights:
        """The weights whose moments are nearest to the given ones, by least squares."""
        solve = functools.partial(np.linalg.lstsq, features, rcond=None)
        return cls(solve(mean)[0], solve(np.log(variance))[0])

    def moments(self, features: Float[Array, "n f"]) -> tuple[Float[Array, "n q"], Float[Array, "n q"]]:
        """Mean and variance of q(x), which is never wider than its prior."""
        return features @ self.mean, np.exp(np.minimum(features @ self.log_variance, 0.0))


@pytree
class _Constrained:
    """The parameters that a fit may change, with the weights in place of q(X). Positive ones are logarithms."""

    kernel: Kernel
    inducing_inputs: Float[Array, "m q"]
    noise_variance: Float[Array, ...]
    output_scale: Float[Array, ...]
    weights: Weights


def fit_back_constrained(
    model: Model,
    data: Data,
    features: Float[Array, "n f"],
    stages: Sequence[Stage],
    tolerance: float,
    callback: Callback | None = None,
) -> tuple[Model, Weights, FitReport]:
    """Raise the bound over the parameters of the model and the weights. All inputs must be latent.

    `model` is the start. The first weights are fitted to its means and variances of q(x).
    """
    is_real = np.asarray(data.rows) >= 0
    table = np.where(is_real[:, None], features[data.rows], 0.0)
    weights = Weights.of(table[is_real], model.mean[is_real], model.variance[is_real])
    with jax.enable_x64(True):
        known, table = jax.tree.map(jnp.asarray, (data, table))
        free = unconstrain(model)
        start = _Constrained(free.kernel, free.inducing_inputs, free.noise_variance, free.output_scale, weights)
        best, report = maximise(lambda f: _loss_and_gradient(f, known, table), start, stages, tolerance, callback)
        fitted = in_float64(_expand)(best, table)
    return fitted, best.weights, with_signal_to_noise(report, signal_to_noise(fitted))


def _expand(free: _Constrained, features) -> Model:
    mean, log_variance = features @ free.weights.mean, jnp.minimum(features @ free.weights.log_variance, 0.0)
    return constrain(
        Model(free.kernel, free.inducing_inputs, free.noise_variance, free.output_scale, mean, log_variance)
    )


@jax.jit
def _loss_and_gradient(free: _Constrained, data: Data, features):
    return jax.value_and_grad(lambda f: -objective(_expand(f, features), data))(free)
