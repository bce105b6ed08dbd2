"""What is known about the inputs: each entry is observed, uncertain or missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from ..numerics import checks


@dataclass(frozen=True)
class RowSplit:
    """Which rows are fully observed. It is hashable, so that it can be part of a belief's structure under jit."""

    is_observed: bytes

    @property
    def observed(self) -> np.ndarray:
        """Indices of the rows without any uncertainty."""
        return np.flatnonzero(np.frombuffer(self.is_observed, bool))

    @property
    def uncertain(self) -> np.ndarray:
        """Indices of all other rows."""
        return np.flatnonzero(~np.frombuffer(self.is_observed, bool))


@jax.tree_util.register_pytree_with_keys_class
class InputBelief:
    """q(X) = Π_n N(x_n | mean_n, variance_n), eq:posteriorSemiSupervised of the paper with exact Diracs.

    Parameters
    ----------
    mean : (n, q)
        The observed value, or the mean of the belief.
    variance : (n, q), or (n, q, q) for rows whose entries are correlated
        0 means observed exactly. Rows of zeros only are split off once, on creation, because they need no more than
        a plain kernel product. Traced arrays work too (inside jit or grad); then no row is split off. A belief that
        is itself an argument of a transformed function keeps its split: observed rows stay observed.
    """

    mean: Any
    variance: Any
    split: RowSplit | None

    def __init__(self, mean: Any, variance: Any) -> None:
        self.mean, self.variance = mean, variance
        self.split = None
        if isinstance(mean, jax.core.Tracer) or isinstance(variance, jax.core.Tracer):
            checks.check_belief_shapes(mean, variance)
            return
        checks.check_numbers("mean", mean)
        checks.check_numbers("variance", variance)
        # Read-only copies: the split below must stay true.
        self.mean, self.variance = np.array(mean, float), np.array(variance, float)
        checks.check_belief(self.mean, self.variance)
        self.mean.flags.writeable = self.variance.flags.writeable = False
        is_observed = ~np.any(self.variance != 0, axis=tuple(range(1, self.variance.ndim)))
        self.split = RowSplit(is_observed.tobytes())

    @classmethod
    def observed(cls, inputs: Any) -> InputBelief:
        """A belief in which every entry is known exactly."""
        return cls(inputs, np.zeros(np.shape(inputs)))

    @property
    def n_rows(self) -> int:
        """Number of rows, n."""
        return self.mean.shape[0]

    @property
    def n_inputs(self) -> int:
        """Number of input columns, q."""
        return self.mean.shape[1]

    def blocks(self) -> tuple[tuple[np.ndarray, Any, Any], ...]:
        """(row indices, mean, variance) of the observed rows, whose variance is None, and of the uncertain rows.

        Empty blocks are left out.
        """
        if self.split is None:
            return ((np.arange(self.n_rows), self.mean, self.variance),)
        observed, uncertain = self.split.observed, self.split.uncertain
        blocks: list[tuple[np.ndarray, Any, Any]] = []
        if len(observed):
            blocks.append((observed, self.mean[observed], None))
        if len(uncertain):
            blocks.append((uncertain, self.mean[uncertain], self.variance[uncertain]))
        return tuple(blocks)

    def __repr__(self) -> str:
        if self.split is None:
            return f"InputBelief({self.n_rows} rows, {self.n_inputs} inputs)"
        return (
            f"InputBelief({self.n_rows} rows, {self.n_inputs} inputs: {len(self.split.observed)} observed, "
            f"{len(self.split.uncertain)} uncertain)"
        )

    def tree_flatten_with_keys(self):
        """The leaves are mean and variance; the row split belongs to the structure."""
        key = jax.tree_util.GetAttrKey
        return ((key("mean"), self.mean), (key("variance"), self.variance)), self.split

    @classmethod
    def tree_unflatten(cls, split, leaves):
        """Rebuild a belief without checks, because JAX fills pytrees with any object."""
        belief = object.__new__(cls)
        belief.mean, belief.variance = leaves
        belief.split = split
        return belief
