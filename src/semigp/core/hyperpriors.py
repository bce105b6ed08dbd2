"""Log-normal priors on the positive parameters of a model. Parameters are named by path."""

from __future__ import annotations

import jax.numpy as jnp
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


def log_hyperprior(parameters: list[tuple[str, Array]], hyperpriors: dict[str, LogNormal]) -> Float[Array, ""]:
    """Σ log p(θ) over all parameters whose path matches the pattern of a hyperprior."""
    total = jnp.zeros(())
    for pattern, prior in hyperpriors.items():
        meant = [leaf for path, leaf in parameters if matches(path, [pattern])]
        if not meant:
            known = ", ".join(path for path, _ in parameters)
            raise ValueError(f"The hyperprior on {pattern!r} matches no parameter; there are {known}.")
        total = total + sum(prior.log_density(leaf) for leaf in meant)
    return total
