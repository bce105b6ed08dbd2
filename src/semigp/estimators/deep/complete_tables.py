"""Tables without holes and without error bars, from a regressor that has been fitted: draws from its q(X)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..common.component import Component
from ..regression.certain_component import CertainComponent

# If q(x) is Gaussian, so many tables are drawn from it, over all components together.
_DRAWS = 15


@dataclass(frozen=True)
class CompleteTable:
    """Rows whose inputs are certain, in standard units. At least one output of every row is known."""

    inputs: np.ndarray
    targets: np.ndarray


def complete_tables(
    components: Sequence[Component | CertainComponent], targets: np.ndarray, random: np.random.Generator
) -> list[CompleteTable]:
    """The tables of components whose inputs are certain, or draws from those whose inputs are not."""
    if isinstance(components[0], CertainComponent):
        return [CompleteTable(each.inputs, each.targets) for each in components]  # type: ignore[union-attr]
    moments = [input_moments(component, len(targets)) for component in components]  # type: ignore[arg-type]
    is_known = ~np.isnan(targets).all(axis=1)
    if any(variance.any() for _, variance in moments):
        moments = [moments[draw % len(moments)] for draw in range(max(_DRAWS, len(moments)))]
    draws = [mean + np.sqrt(variance) * random.normal(size=mean.shape) for mean, variance in moments]
    return [CompleteTable(draw[is_known], targets[is_known]) for draw in draws]


def input_moments(component: Component, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of q(x) of all training rows. Inputs that are certain have variance 0."""
    data, model = component.data, component.model
    mean, variance = np.zeros((2, n_rows, data.values.shape[1]))
    is_real = np.asarray(data.rows) >= 0
    rows = np.asarray(data.rows)[is_real]
    others = np.setdiff1d(np.arange(n_rows), rows)
    if len(others):
        mean[others] = np.asarray(data.observed.mean)[: len(others)]  # type: ignore[union-attr]  # the rest is padding
    mean[rows] = np.where(data.mean_is_free, model.mean, data.values)[is_real]
    variance[rows] = np.where(data.unknown, model.variance, 0.0)[is_real]
    return mean, variance
