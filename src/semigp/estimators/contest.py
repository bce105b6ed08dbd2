"""Which form of q(X) suits a data set: both are fitted without some outputs of complete rows, and asked for these."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .. import scores
from ..core import InputBelief
from ..core.optimise import labelled
from .forms import fit_gaussian, fit_mixture
from .inputs import CorrelatedInputs
from .mixture import Component, Recipe, pooled, predict

_MAX_ROWS = 400
_MIN_HELD_BACK, _SHARE_HELD_BACK = 5, 1 / 3
_DRAWS, _ITERATIONS = 3, 60


@dataclass(frozen=True)
class Contest:
    """Negative log density per held-back value of a mixture over draws and of a Gaussian q(x)."""

    mixture: float
    gaussian: float
    error: float  # standard error of the difference, over rows
    n_rows: int
    is_interrupted: bool = False

    @property
    def winner(self) -> str:
        """The Gaussian, if it is lower by more than two standard errors."""
        return "gaussian" if self.gaussian + 2.0 * self.error < self.mixture else "mixture"


def hold_contest(recipe: Recipe, inputs: CorrelatedInputs) -> Contest | None:
    """Let the two forms predict held-back outputs of complete rows; None where there are too few of those."""
    table, seed = inputs.table, inputs.seed
    random = np.random.default_rng(seed)
    if len(table.inputs) > _MAX_ROWS:
        table = table.take(_some_rows(table.is_complete, random))
    complete = np.flatnonzero(table.is_complete & ~np.isnan(table.targets).all(axis=1))
    n_held = int(_SHARE_HELD_BACK * len(complete))
    if n_held < _MIN_HELD_BACK:
        return None
    held = random.permutation(complete)[:n_held]
    # The rows stay, without outputs: everything keeps its shape, and what is compiled here serves the real fit too.
    targets = table.targets.copy()
    targets[held] = np.nan
    known = replace(table, targets=targets)
    trial = labelled(recipe.callback, phase="trial")
    quick = replace(recipe, max_iter=min(recipe.max_iter, _ITERATIONS), callback=trial)
    fewer = CorrelatedInputs(known, seed, _DRAWS, inputs.linear_shares)

    def losses(components: list[Component]) -> np.ndarray:
        """Per row."""
        belief = InputBelief.observed(table.inputs[held])
        mean, variance = pooled(*zip(*(predict(component, belief) for component in components), strict=True))
        parts = zip(table.targets[held], mean, np.sqrt(variance), strict=True)
        return np.array([scores.negative_log_density(*part) for part in parts])

    fits = [form(quick, known, fewer) for form in (fit_mixture, fit_gaussian)]
    mixture, gaussian = (losses(components) for components, _ in fits)
    error = np.std(mixture - gaussian, ddof=1) / np.sqrt(n_held)
    is_interrupted = any(report.status == "interrupted" for _, reports in fits for report in reports)
    return Contest(float(mixture.mean()), float(gaussian.mean()), float(error), n_held, is_interrupted)


def _some_rows(is_complete: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """A sample of the rows in which a quarter is complete, where there are that many."""
    order = random.permutation(len(is_complete))
    complete = order[is_complete[order]][: _MAX_ROWS // 4]
    others = order[~np.isin(order, complete)][: _MAX_ROWS - len(complete)]
    return np.sort(np.concatenate([complete, others]))
