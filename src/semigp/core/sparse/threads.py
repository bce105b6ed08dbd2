"""One evaluation of the objective on several cores: the rows are cut into parts, which threads sum in parallel.

XLA alone keeps only one core busy with most of the work for a chunk of rows. The objective depends on rows only through
sums over them. So an evaluation has three steps: the sums of every part, in parallel; the bound, and its gradient with
respect to the sums; the gradient of every part, in parallel. The number of parts does not depend on the number of
cores, and therefore the result does not either, to the last digit.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp

from ..numerics.compiler import WIDE_VECTORS
from ..numerics.padding import pad_rows, round_up
from ..numerics.types import Array
from .model import Data, Model, objective_from_sums, row_sums
from .statistics import Block
from .targets import Targets

_PARTS = 16
# One core computes fewer exponentials than this in a fraction of a second.
_MIN_EXPONENTIALS = 2**26


def is_worthwhile(model: Model, data: Data) -> bool:
    """Whether an evaluation takes long enough to make several threads worthwhile."""
    n_pairs = len(model.inducing_inputs) ** 2 / 2
    return jax.default_backend() == "cpu" and len(data.values) * n_pairs >= _MIN_EXPONENTIALS


def n_cores() -> int:
    """The number of cores that this process may use.

    Joblib and similar libraries limit their workers by the environment variable OMP_NUM_THREADS.
    """
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    told = os.environ.get("OMP_NUM_THREADS", "")
    return min(allowed, int(told)) if told.isdigit() and int(told) > 0 else allowed


class ParallelLoss:
    """Minus the objective, and its gradient, as a function of parameters that `constrain` turns into a model."""

    def __init__(self, free: Model, data: Data, constrain: Callable[[Model], Model]) -> None:
        self._count = len(data.values)
        self._parts = list(_split(data))
        self._threads = ThreadPoolExecutor(n_cores())

        def sums(free, data):
            return row_sums(constrain(free), data)

        def loss(free, sums, data):
            return -objective_from_sums(constrain(free), sums, data)

        def gradient(free, data, of_sums):
            return jax.vjp(lambda f: sums(f, data), free)[1](of_sums)[0]

        compiled = functools.partial(jax.jit, compiler_options=WIDE_VECTORS)
        # Compiled once, by this thread, for all threads.
        some = self._models(free)[0]
        like = jax.eval_shape(sums, some, self._parts[0])
        self._sums = compiled(sums).lower(some, self._parts[0]).compile()
        self._gradient = compiled(gradient).lower(some, self._parts[0], like).compile()
        self._loss = jax.jit(jax.value_and_grad(loss, argnums=(0, 1)))

    def __call__(self, free: Model) -> tuple[jax.Array, Model]:
        """The loss and its gradient."""
        models = self._models(free)
        sums = _add_up(self._each(self._sums, models, self._parts))
        loss, (direct, of_sums) = self._loss(models[0], sums, self._parts[0])
        gradients = self._each(lambda model, part: self._gradient(model, part, of_sums), models, self._parts)
        mean, variance = (
            jnp.concatenate([getattr(each, name) for each in gradients])[: self._count] for name in ("mean", "variance")
        )
        shared = _add_up(_without_rows(each) for each in (direct, *gradients))
        return loss, replace(shared, mean=mean, variance=variance)

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(wait=False)

    def _each(self, function: Callable, *arguments: Iterable) -> list:
        def in_double(*each):
            with jax.enable_x64(True):  # every thread has its own setting
                return jax.block_until_ready(function(*each))

        return list(self._threads.map(in_double, *arguments))

    def _models(self, free: Model) -> list[Model]:
        pairs = zip(_cut(free.mean), _cut(free.variance), strict=True)
        return [replace(free, mean=mean, variance=variance) for mean, variance in pairs]


def _split(data: Data) -> Iterable[Data]:
    """Parts of equal size. The last one is filled up with rows of weight 0."""
    observed = [None] * _PARTS if data.observed is None else _cut_all((data.observed.mean, data.observed.targets))
    rows = (data.values, data.unknown, data.mean_is_free, data.targets, data.prior, data.rows)
    for known, part in zip(observed, _cut_all(rows), strict=True):
        values, unknown, mean_is_free, targets, prior, places = part
        yield replace(
            data, observed=None if known is None else Block(known[0], None, known[1]), values=values, unknown=unknown,
            mean_is_free=mean_is_free, targets=targets, prior=prior, rows=places,
        )  # fmt: skip


def _cut_all(tree: Any) -> list[Any]:
    """The tree in parts, with its arrays cut by rows. The groups of outputs, which have no rows, stay whole."""
    leaves, structure = jax.tree.flatten(tree, is_leaf=lambda node: isinstance(node, Targets))
    cut = [_cut_targets(leaf) if isinstance(leaf, Targets) else _cut(leaf) for leaf in leaves]
    return [jax.tree.unflatten(structure, part) for part in zip(*cut, strict=True)]


def _cut_targets(targets: Targets) -> list[Targets]:
    both = zip(_cut(targets.values), _cut(targets.weights), strict=True)
    return [Targets(values, weights, targets.group) for values, weights in both]


def _cut(rows: Array) -> list[Array]:
    size = round_up(len(rows), _PARTS) // _PARTS
    return list(pad_rows(rows, size * _PARTS).reshape(_PARTS, size, *rows.shape[1:]))


def _without_rows(model: Model) -> Model:
    return replace(model, mean=jnp.zeros(()), variance=jnp.zeros(()))


def _add_up(trees: Iterable[Any]) -> Any:
    """The sum of trees, added in a fixed order, so that its last digit does not depend on which thread ends first."""
    return functools.reduce(lambda one, other: jax.tree.map(jnp.add, one, other), trees)
