"""Log-normal priors on the positive parameters of a model. Parameters are named by path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from .numerics.paths import matches
from .numerics.pytrees import pytree
from .numerics.types import Array


@pytree
class LogNormal:
    """A log-normal hyperprior: log θ ~ N(log median, spread²)."""

    median: Float[Array, ""] | float
    spread: Float[Array, ""] | float = 1.0

    def log_density(self, value: Float[Array, ...]) -> Float[Array, ""]:
        """The log density of log θ, summed over the entries of θ, up to a constant."""
        return -0.5 * jnp.sum((jnp.log(value / self.median) / self.spread) ** 2)

    def of_logs(self, logs: Float[np.ndarray, ...] | float) -> tuple[float, Float[np.ndarray, ...]]:
        """The same for log θ in NumPy, and its derivatives."""
        deviations = (logs - np.log(self.median)) / self.spread
        return -0.5 * float(np.sum(deviations**2)), -deviations / self.spread


def log_hyperprior(parameters: list[tuple[str, Array]], hyperpriors: dict[str, LogNormal]) -> Float[Array, ""]:
    """Σ log p(θ) over all parameters whose path matches the pattern of a hyperprior."""
    total = jnp.zeros(())
    for place, prior in meant_by([path for path, _ in parameters], hyperpriors):
        total = total + prior.log_density(parameters[place][1])
    return total


def meant_by(paths: list[str], hyperpriors: dict[str, LogNormal]) -> Iterator[tuple[int, Any]]:
    """The number of every parameter that has a hyperprior, and the hyperprior."""
    for pattern, prior in hyperpriors.items():
        meant = [place for place, path in enumerate(paths) if matches(path, [pattern])]
        if not meant:
            raise ValueError(f"The hyperprior on {pattern!r} matches no parameter; there are {', '.join(paths)}.")
        yield from ((place, prior) for place in meant)
