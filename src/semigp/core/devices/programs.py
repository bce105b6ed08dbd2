"""The compiled programs of the search over a mesh. Their results have the same layout as the parameters."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ..sparse.fit import constrain
from ..sparse.model import Model
from .processes import on_devices
from .row_mesh import model_layout, spread_objective

# The number of pairs (step, change of the gradient) that are kept, and of trials along a direction.
PAIRS, TRIALS = 20, 20


def inner_product(one, other):
    """The inner product of two trees of arrays, each read as one vector."""
    return sum(jnp.vdot(a, b) for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True))


@dataclass(frozen=True)
class Programs:
    """The programs that run on the devices. Their results have the same layout as the parameters.

    Without a fixed layout the compiler might choose another one, and a resumed search would round differently.
    """

    mesh: Mesh
    layout: Model
    evaluate: Callable
    constrain: Callable
    norm: Callable
    empty: Callable
    go: Callable
    combine: Callable
    remember: Callable

    def place(self, leaves: list[np.ndarray], stacked: bool = False) -> Model:
        """Put the parameters of this process (or stacks of them), given as `leaves`, on the devices."""
        layout = _stacked(self.layout) if stacked else self.layout
        tree = jax.tree.unflatten(jax.tree.structure(layout), leaves)
        return jax.tree.map(functools.partial(on_devices, self.mesh), tree, layout)


@functools.lru_cache(maxsize=16)
def programs_for(mesh: Mesh, model: Any, data: Any) -> Programs:
    """The programs for models and data of these structures. All fits of the same shape share them."""
    some_model, some_data = (jax.tree.unflatten(tree, range(tree.num_leaves)) for tree in (model, data))
    layout = model_layout(some_model)
    bound = spread_objective(mesh, some_model, some_data)

    def evaluate(free, direction, moves, known):
        value, gradient = jax.value_and_grad(lambda f: -bound(constrain(f), known))(free)
        gradient = jax.tree.map(jnp.multiply, gradient, moves)
        return value, inner_product(gradient, direction), gradient

    alike, stacks = (jax.tree.map(functools.partial(NamedSharding, mesh), tree) for tree in (layout, _stacked(layout)))
    everywhere = NamedSharding(mesh, PartitionSpec())
    return Programs(
        mesh, layout,
        evaluate=jax.jit(evaluate, out_shardings=(everywhere, everywhere, alike)),
        constrain=jax.jit(constrain, out_shardings=alike),
        norm=jax.jit(lambda tree: inner_product(tree, tree), out_shardings=everywhere),
        empty=jax.jit(_empty, out_shardings=stacks),
        go=jax.jit(_go, out_shardings=alike),
        combine=jax.jit(_combine, out_shardings=alike),
        remember=jax.jit(_remember, out_shardings=(stacks, stacks, everywhere)),
    )  # fmt: skip


def _stacked(layout: Model) -> Model:
    return jax.tree.map(lambda cut: PartitionSpec(None, *cut), layout)


def _empty(tree):
    return jax.tree.map(lambda leaf: jnp.zeros((PAIRS, *leaf.shape), leaf.dtype), tree)


def _go(start, length, direction):
    return jax.tree.map(lambda a, b: a + length * b, start, direction)


def _combine(steps, changes, gradient, of_steps, of_changes, of_gradient):
    def leaf(s, y, g):
        return jnp.tensordot(of_steps, s, 1) + jnp.tensordot(of_changes, y, 1) + of_gradient[0] * g

    return jax.tree.map(leaf, steps, changes, gradient)


def _remember(steps, changes, slot, length, direction, before, after):
    """The memory with a new pair, and the inner products of step, change and gradient with everything in it."""
    step = jax.tree.map(lambda d: length * d, direction)
    change = jax.tree.map(jnp.subtract, after, before)
    steps = jax.tree.map(lambda all_, one: all_.at[slot].set(one), steps, step)
    changes = jax.tree.map(lambda all_, one: all_.at[slot].set(one), changes, change)

    def products(one):
        def with_all(stack):
            pairs = zip(jax.tree.leaves(stack), jax.tree.leaves(one), strict=True)
            return sum(jnp.tensordot(s, o, o.ndim) if o.ndim else s * o for s, o in pairs)

        return jnp.concatenate([with_all(steps), with_all(changes), inner_product(one, after)[None]])

    return steps, changes, jnp.stack([products(step), products(change), products(after)])
