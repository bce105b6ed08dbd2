"""Passes over all rows: the collapsed bound, with one batch in memory at a time, and L-BFGS on it.

With q(x) held fixed, the bound depends on the rows through sums only: F(θ) = B(θ, S) with S = Σ_b S_b(θ). Its gradient
takes two passes over the rows, one for S, and one for

    dF/dθ = ∂B/∂θ + Σ_b (∂S_b/∂θ)ᵀ ∂B/∂S.

Meanwhile q(x) is kept in a file, because inferring it costs several times as much as everything else.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..numerics.compiler import WIDE_VECTORS
from ..numerics.types import Array
from ..search.lbfgs import maximise
from ..search.report import Callback, FitReport
from ..search.stages import Stage
from ..sparse.bound import Likelihood, bound_from_statistics
from ..sparse.posterior import Posterior, posterior_from_statistics, resolved_posterior
from ..sparse.statistics import Block, Statistics, collect
from .objective import Batch, Inferred, Parameters, Setting, Whitened, best_whitened, infer, log_prior, natural_units

# L-BFGS ends when the relative gain of an iteration falls below this.
_TOLERANCE = 1e-7


class AllRows:
    """All rows, with q(x) inferred once from a given q(U) and kept in a file. Use it in a `with` statement."""

    def __init__(
        self, parameters: Parameters, q: Whitened, setting: Setting, batches: Callable[[], Iterable[Batch]]
    ) -> None:
        self.setting, self.batches = setting, batches
        self.kl: Any = 0.0  # KL(q(X) ‖ p(X))
        self.file = tempfile.TemporaryFile()  # noqa: SIM115 - `__exit__` closes it
        try:
            self._infer(parameters, q)
        except BaseException:
            self.file.close()
            raise

    def _infer(self, parameters: Parameters, q: Whitened) -> None:
        for batch in self.batches():
            inferred = infer(parameters, q, batch.incomplete, self.setting)
            if inferred is not None:
                self.kl += inferred.kl
                np.save(self.file, np.stack([inferred.mean, inferred.variance]))

    def __enter__(self) -> AllRows:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def blocks(self) -> Iterator[tuple[Block, ...]]:
        """The blocks of rows, batch by batch."""
        self.file.seek(0)
        for batch in self.batches():
            if batch.incomplete is None:
                yield batch.blocks(None)
            else:
                mean, variance = np.load(self.file)
                yield batch.blocks(Inferred(mean, variance, self.kl))

    def statistics(self, parameters: Parameters) -> Statistics:
        """The statistics S of all rows."""
        return functools.reduce(Statistics.__add__, (_collect(parameters, blocks) for blocks in self.blocks()))

    def loss_and_gradient(self, free: Parameters) -> tuple[Float[Array, ""], Parameters]:
        """Minus the bound, and its gradient in the unconstrained parameters."""
        total = self.statistics(natural_units(free))
        bound, (gradient, weights) = _bound_and_gradient(free, total.sums(), total, self.setting)
        for blocks in self.blocks():
            gradient = jax.tree.map(jnp.add, gradient, _pull_back(free, blocks, weights))
        return self.kl - bound, jax.tree.map(jnp.negative, gradient)

    def posterior(self, parameters: Parameters) -> tuple[Posterior, float]:
        """The optimal q(U), and the bound."""
        total, jitter = self.statistics(parameters), jnp.asarray(self.setting.jitter)
        found = posterior_from_statistics(
            parameters.kernel, total, parameters.inducing_inputs, parameters.noise_variance, parameters.output_scale,
            jitter,
        )  # fmt: skip
        return resolved_posterior(*found), float(_bound(parameters, total, self.setting) - self.kl)


@functools.partial(jax.jit, compiler_options=WIDE_VECTORS)
def _collect(parameters: Parameters, blocks: tuple[Block, ...]) -> Statistics:
    return collect(parameters.kernel, parameters.inducing_inputs, blocks)


@jax.jit
def _bound(parameters: Parameters, total: Statistics, setting: Setting) -> Float[Array, ""]:
    """The bound with log p(θ), but without KL(q(X) ‖ p(X))."""
    likelihood = Likelihood.of(parameters.noise_variance, parameters.output_scale, total.counts.shape[0])
    value = bound_from_statistics(
        parameters.kernel, parameters.inducing_inputs, total, likelihood, jnp.asarray(setting.jitter)
    )
    return value + log_prior(parameters, setting)


@functools.partial(jax.value_and_grad, argnums=(0, 1))
def _bound_and_gradient(free: Parameters, sums: dict[str, Array], total: Statistics, setting: Setting):
    """The bound, ∂B/∂θ and ∂B/∂S."""
    return _bound(free.map_positive(jnp.exp), replace(total, **sums), setting)


@functools.partial(jax.jit, compiler_options=WIDE_VECTORS)
def _pull_back(free: Parameters, blocks: tuple[Block, ...], weights: dict[str, Array]) -> Parameters:
    """(∂S_b/∂θ)ᵀ weights."""

    def weighted(free):
        parameters = free.map_positive(jnp.exp)
        sums = collect(parameters.kernel, parameters.inducing_inputs, blocks).sums()
        return sum(jnp.vdot(weights[name], sums[name]) for name in sums)

    return jax.grad(weighted)(free)


def ascend(
    free: Parameters, q: Whitened, setting: Setting, batches: Callable[[], Iterable[Batch]], stage: Stage,
    callback: Callback | None,
) -> tuple[Parameters, Whitened, FitReport]:  # fmt: skip
    """Maximise the bound by L-BFGS with q(x) held fixed. Returns the parameters, their best q(v), and a report."""
    with AllRows(natural_units(free), q, setting, batches) as rows:
        free, report = maximise(rows.loss_and_gradient, free, [stage], _TOLERANCE, callback)
        parameters = natural_units(free)
        return free, best_whitened(parameters, rows.statistics(parameters), setting), report
