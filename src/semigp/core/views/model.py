"""Manifold relevance determination (Damianou et al. 2012): views with one q(X), and a GP of its own for every view.

    F = Σ_v ⟨F̂_v⟩ - KL(q(X) ‖ N(0, I)) + Σ_v log p(θ_v)

⟨F̂_v⟩ is the collapsed bound of view v, as for a single GP. A row that is missing in a view has weight 0 there. What the
views share, and what is private to one of them, is in the lengthscales of their kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from ..hyperpriors import LogNormal
from ..kernels import Kernel
from ..numerics.pytrees import pytree
from ..numerics.types import Array
from ..sparse.model import Data, Model, make_data, objective_from_sums, posterior, row_sums
from ..sparse.posterior import Posterior
from ..sparse.statistics import collect

# What is known of each view. All of them have the same rows, whose inputs are unknown.
ViewsData = tuple[Data, ...]


@pytree
class View:
    """The GP of one view."""

    kernel: Kernel
    inducing_inputs: Float[Array, "m q"]
    noise_variance: Float[Array, ""] | Float[Array, " p"]  # shared, or one per output
    output_scale: Float[Array, ""] | Float[Array, " p"]  # signal std on top of the kernel's own variance


@pytree
class ViewsModel:
    """The parameters that a fit may change: a GP for every view, and q(x) of every row."""

    views: tuple[View, ...]
    mean: Float[Array, "n q"]
    variance: Float[Array, "n q"]

    def of_view(self, number: int) -> Model:
        """The model of one view by itself."""
        view = self.views[number]
        return Model(
            view.kernel, view.inducing_inputs, view.noise_variance, view.output_scale, self.mean, self.variance
        )


def make_views_data(
    targets: Sequence[Any], n_components: int, hyperpriors: dict[str, LogNormal] | None = None, jitter: float = 1e-6
) -> ViewsData:
    """The data of views (n, p_v), NaN where missing. Their rows are filled up to a round number, as for a single GP."""
    counts = {len(each) for each in targets}
    if len(counts) != 1:
        raise ValueError(f"Views have different numbers of rows: {', '.join(map(str, sorted(counts)))}.")
    unknown = np.full((counts.pop(), n_components), np.nan)
    return tuple(make_data(unknown, each, hyperpriors=hyperpriors, jitter=jitter) for each in targets)


def objective(model: ViewsModel, data: ViewsData) -> Float[Array, ""]:
    """F of the equation above. With a single view it is the objective of a Bayesian GP-LVM."""
    first, *others = (model.of_view(number) for number in range(len(data)))
    value = objective_from_sums(first, row_sums(first, data[0]), data[0])  # with the KL divergence of q(X)
    for part, known in zip(others, data[1:], strict=True):
        sums = collect(part.kernel, part.inducing_inputs, known.blocks(part)).sums()
        value = value + objective_from_sums(part, sums, known)
    return value


def posteriors(model: ViewsModel, data: ViewsData) -> tuple[Posterior, ...]:
    """q(U) of every view of a fitted model."""
    return tuple(posterior(model.of_view(number), known) for number, known in enumerate(data))
