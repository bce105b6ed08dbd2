"""Double precision for our own computations, whatever the caller's JAX flag says."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

F = TypeVar("F", bound=Callable[..., Any])


def as_float64(leaf: Any) -> Any:
    """A float64 array for every real number or real array; integers and booleans in arrays stay."""
    if isinstance(leaf, (bool, np.bool_)):
        return leaf
    if isinstance(leaf, (int, float)):
        return jnp.asarray(leaf, jnp.float64)
    # jax.dtypes knows the types NumPy does not, such as PRNG keys and bfloat16.
    dtype = getattr(leaf, "dtype", None)
    if dtype is not None and jnp.issubdtype(dtype, jnp.floating):
        return jnp.asarray(leaf, jnp.float64)
    return leaf


def as_numpy(leaf: Any) -> Any:
    """A concrete JAX array as a NumPy one, which keeps its 64 bits outside of our context; traced ones stay."""
    if isinstance(leaf, jax.Array) and not isinstance(leaf, jax.core.Tracer):
        return np.asarray(leaf)[()]
    return leaf


def in_float64(function: F) -> F:
    """Run `function` in 64-bit mode: arguments cast to float64, concrete results handed back as NumPy arrays.

    The mode is a thread-local context of JAX, so the caller's setting is untouched. Traced arguments work too, and
    gradients come back in the caller's own precision.
    """

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        is_traced = any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves((args, kwargs)))
        if is_traced and not jax.config.jax_enable_x64:  # type: ignore[attr-defined]
            return _differentiable(function, args, kwargs)
        with jax.enable_x64(True):
            args, kwargs = jax.tree.map(as_float64, (args, kwargs))
            return jax.tree.map(as_numpy, function(*args, **kwargs))

    return wrapped  # type: ignore[return-value]


def _differentiable(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """`function` traced in 64-bit mode inside a caller's 32-bit trace, its backward pass in 64-bit mode too."""
    leaves, structure = jax.tree.flatten((args, kwargs))
    is_real = [jnp.issubdtype(jnp.result_type(leaf), jnp.floating) for leaf in leaves]

    def on_reals(*reals: Any) -> Any:
        supply = iter(reals)
        filled = [next(supply) if real else leaf for leaf, real in zip(leaves, is_real, strict=True)]
        args, kwargs = jax.tree.unflatten(structure, jax.tree.map(as_float64, filled))
        return function(*args, **kwargs)

    @jax.custom_vjp
    def call(*reals: Any) -> Any:
        with jax.enable_x64(True):
            return on_reals(*reals)

    def forward(*reals: Any) -> Any:
        with jax.enable_x64(True):
            return jax.vjp(on_reals, *reals)

    def backward(pull_back: Any, gradient: Any) -> Any:
        with jax.enable_x64(True):
            return pull_back(gradient)

    call.defvjp(forward, backward)
    return call(*(leaf for leaf, real in zip(leaves, is_real, strict=True) if real))
