"""Chooses the form of q(X) for a data set: both forms are fitted without some outputs, and then predict these.

The outputs of rows without holes are held back, a third of these rows at a time, until the winner is clear.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ... import scores
from ...core import InputBelief
from ...core.numerics.mixtures import pooled
from ...core.search.report import labelled
from ..common.component import Component, Recipe, fit_here, predict
from ..common.table import Table
from .missing_inputs import CorrelatedInputs
from .posteriors import FORMS

_MAX_ROWS = 400
_FOLDS, _MIN_HELD_BACK = 3, 5
_DRAWS, _ITERATIONS = 3, 60
# A row counts for at most this many nats. Otherwise a single row about which the Gaussian is far too sure would decide.
_MOST_PER_ROW = 1.0


@dataclass(frozen=True)
class Contest:
    """How well a mixture over draws and a Gaussian q(x) predicted held-back outputs."""

    mixture: float  # negative log density per value, mean over rows
    gaussian: float  # the same for the Gaussian
    lead: float  # lead of the Gaussian in nats, mean over rows; no row counts for more than one nat
    error: float  # standard error of the lead
    n_rows: int
    is_interrupted: bool = False

    @classmethod
    def between(cls, mixture: np.ndarray, gaussian: np.ndarray, is_interrupted: bool = False) -> Contest:
        """The result of a contest, from the negative log densities of every row under the two forms."""
        leads = np.clip(mixture - gaussian, -_MOST_PER_ROW, _MOST_PER_ROW)
        error = np.std(leads, ddof=1) / np.sqrt(len(leads))
        mean_mixture, mean_gaussian, lead = (float(part.mean()) for part in (mixture, gaussian, leads))
        return cls(mean_mixture, mean_gaussian, lead, float(error), len(leads), is_interrupted)

    @property
    def winner(self) -> str:
        """The form to use: "gaussian" if it leads by more than two standard errors, otherwise "mixture"."""
        return "gaussian" if self.lead > 2.0 * self.error else "mixture"

    @property
    def is_clear(self) -> bool:
        """Whether more rows would hardly change the winner."""
        return self.lead > 4.0 * self.error or self.lead < -2.0 * self.error


def hold_contest(recipe: Recipe, inputs: CorrelatedInputs) -> Contest | None:
    """Let the two forms predict held-back outputs of rows without holes. None if there are too few such rows."""
    table, random = inputs.table, np.random.default_rng(inputs.seed)
    if len(table.inputs) > _MAX_ROWS:
        table = table.take(_some_rows(table.is_complete, random))
    rows = np.flatnonzero(table.is_complete & ~np.isnan(table.targets).all(axis=1))
    if len(rows) < _FOLDS * _MIN_HELD_BACK:
        return None
    trial = labelled(recipe.callback, phase="trial")
    # A trial has few rows and iterations. So every process runs all of it, and a fold that was cut short starts again.
    quick = replace(recipe, max_iter=min(recipe.max_iter, _ITERATIONS), callback=trial, optimise=fit_here)
    losses = np.empty((2, 0))
    for fold, held in enumerate(np.array_split(random.permutation(rows), _FOLDS), 1):
        more, is_interrupted = recipe.notes.get(f"fold-{fold}"), False
        if more is None:
            more, is_interrupted = _hold_back(held, quick, table, inputs)
            if not is_interrupted:
                recipe.notes.put(f"fold-{fold}", more)
        losses = np.column_stack([losses, more])
        contest = Contest.between(losses[0], losses[1], is_interrupted)
        if contest.is_interrupted or contest.is_clear:
            break
    return contest


def _hold_back(held: np.ndarray, recipe: Recipe, table: Table, inputs: CorrelatedInputs) -> tuple[np.ndarray, bool]:
    """Negative log densities (2, n) of the outputs of the held-back rows, and whether a fit was interrupted."""
    # The rows stay in the table, without outputs. The shapes are then those of the real fit, which can use the programs
    # that are compiled here.
    targets = table.targets.copy()
    targets[held] = np.nan
    known = replace(table, targets=targets)
    fewer = CorrelatedInputs(known, inputs.seed, _DRAWS, inputs.linear_shares)
    belief = InputBelief(table.inputs[held], table.error[held] ** 2)

    def losses(components: list[Component]) -> list[float]:
        mean, variance = pooled(*zip(*(predict(component, belief) for component in components), strict=True))
        parts = zip(table.targets[held], mean, np.sqrt(variance), strict=True)
        return [scores.negative_log_density(*part) for part in parts]

    fits = [form(recipe, known, fewer) for form in FORMS.values()]
    is_interrupted = any(report.status == "interrupted" for _, reports in fits for report in reports)
    return np.array([losses(components) for components, _ in fits]), is_interrupted


def _some_rows(is_complete: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """A sample of the rows. A quarter of it are rows without holes, if there are that many."""
    order = random.permutation(len(is_complete))
    whole = order[is_complete[order]][: _MAX_ROWS // 4]
    others = order[~np.isin(order, whole)][: _MAX_ROWS - len(whole)]
    return np.sort(np.concatenate([whole, others]))
