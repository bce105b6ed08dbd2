"""Double precision for our own computations, whatever the caller's JAX flag says."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

F = TypeVar("F", bound=Callable[..., Any])


def as_float64(leaf: Any) -> Any:
    """The leaf as a float64 array if it is a number or a real array. All other leaves are returned unchanged."""
    if isinstance(leaf, (bool, np.bool_)):
        return leaf
    if isinstance(leaf, (int, float)):
        return jnp.asarray(leaf, jnp.float64)
    # jnp.issubdtype knows types that NumPy does not know, such as PRNG keys and bfloat16.
    dtype = getattr(leaf, "dtype", None)
    if dtype is not None and jnp.issubdtype(dtype, jnp.floating):
        return jnp.asarray(leaf, jnp.float64)
    return leaf


def as_numpy(leaf: Any) -> Any:
    """A concrete JAX array as a NumPy array, which stays 64-bit outside our context. Traced arrays are unchanged."""
    if isinstance(leaf, jax.Array) and not isinstance(leaf, jax.core.Tracer):
        return np.array(leaf)[()]
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
    is_traced = [isinstance(leaf, jax.core.Tracer) for leaf in leaves]

    def in_double(*traced: Any) -> Any:
        supply = iter(traced)
        # Concrete leaves are not passed through the caller's precision.
        filled = [next(supply) if was else leaf for leaf, was in zip(leaves, is_traced, strict=True)]
        args, kwargs = jax.tree.unflatten(structure, jax.tree.map(as_float64, filled))
        return function(*args, **kwargs)

    @jax.custom_vjp
    def call(*traced: Any) -> Any:
        with jax.enable_x64(True):
            return _as_float32(in_double(*traced))

    def forward(*traced: Any) -> Any:
        with jax.enable_x64(True):
            value, pull_back = jax.vjp(in_double, *traced)
            return _as_float32(value), pull_back

    def backward(pull_back: Any, gradient: Any) -> Any:
        with jax.enable_x64(True):
            return pull_back(jax.tree.map(as_float64, gradient))

    call.defvjp(forward, backward)
    return call(*(leaf for leaf, was in zip(leaves, is_traced, strict=True) if was))


def _as_float32(values: Any) -> Any:
    """The values with float64 arrays as float32, so that the caller's 32-bit trace can go on."""
    return jax.tree.map(lambda leaf: leaf.astype(jnp.float32) if leaf.dtype == jnp.float64 else leaf, values)
