"""Which form of q(X) suits a data set: both are fitted without some outputs of complete rows, and asked for these."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .. import scores
from ..core import InputBelief
from .forms import fit_gaussian, fit_mixture
from .inputs import CorrelatedInputs
from .mixture import Component, Recipe, Table, pooled, predict

_MAX_ROWS = 400
_MIN_HELD_BACK, _SHARE_HELD_BACK = 5, 1 / 3
_DRAWS, _ITERATIONS = 3, 100


@dataclass(frozen=True)
class Contest:
    """Negative log density per held-back value of a mixture over draws and of a Gaussian q(x)."""

    mixture: float
    gaussian: float
    n_rows: int

    @property
    def winner(self) -> str:
        """The lower one."""
        return "mixture" if self.mixture <= self.gaussian else "gaussian"


def hold_contest(recipe: Recipe, table: Table, seed: int) -> Contest | None:
    """Let the two forms predict held-back outputs of complete rows; None where there are too few of those."""
    random = np.random.default_rng(seed)
    if len(table.inputs) > _MAX_ROWS:
        table = table.take(np.sort(random.permutation(len(table.inputs))[:_MAX_ROWS]))
    complete = np.flatnonzero(table.is_complete & ~np.isnan(table.targets).all(axis=1))
    n_held = int(_SHARE_HELD_BACK * len(complete))
    if n_held < _MIN_HELD_BACK:
        return None
    held = random.permutation(complete)[:n_held]
    # The rows stay, without outputs: everything keeps its shape, and what is compiled here serves the real fit too.
    targets = table.targets.copy()
    targets[held] = np.nan
    known = replace(table, targets=targets)
    quick = replace(recipe, max_iter=min(recipe.max_iter, _ITERATIONS))
    inputs = CorrelatedInputs(known, seed, _DRAWS)

    def score(components: list[Component]) -> float:
        belief = InputBelief.observed(table.inputs[held])
        mean, variance = pooled(*zip(*(predict(component, belief) for component in components), strict=True))
        return scores.negative_log_density(table.targets[held], mean, np.sqrt(variance))

    mixture, gaussian = fit_mixture(quick, known, inputs), fit_gaussian(quick, known, inputs)
    return Contest(score(mixture[0]), score(gaussian[0]), n_held)
