"""Outputs with holes. Columns that are missing in the same rows form a group, and share their statistics."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from ..numerics.pytrees import pytree
from ..numerics.types import Array


@pytree
class Targets:
    """Y with 0 for missing values, and the rows in which each group of columns is observed."""

    values: Float[Array, "n p"]
    weights: Float[Array, "n g"]  # 1 where the group's columns are observed
    group: Int[Array, " p"]  # the group of each column

    @classmethod
    def of(cls, values: Any) -> Targets:
        """Split the columns of Y into groups by their pattern of NaN. While JAX traces, Y is taken to be complete."""
        n, p = np.shape(values)
        if isinstance(values, jax.core.Tracer):
            return cls(values, np.ones((n, 1)), np.zeros(p, np.int32))
        values = np.asarray(values, float)
        seen = ~np.isnan(values)
        patterns, group = np.unique(seen, axis=1, return_inverse=True)
        return cls(np.where(seen, values, 0.0), patterns.astype(float), group.reshape(p).astype(np.int32))

    def take(self, rows: Any) -> Targets:
        """The targets of some rows."""
        return Targets(self.values[rows], self.weights[rows], self.group)

    @property
    def counts(self) -> Float[Array, " p"]:
        """The number of observed values in each column."""
        return jnp.sum(self.weights, axis=0)[self.group]
