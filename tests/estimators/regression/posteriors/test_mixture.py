"""A component for every draw. Oracles: what the fit of a component is called with."""

from dataclasses import dataclass

import numpy as np
import pytest

from semigp.estimators.common.component import LENGTHSCALE_SPREAD, Recipe
from semigp.estimators.common.table import Table
from semigp.estimators.regression.posteriors import mixture


@dataclass
class _Component:
    model: str


@dataclass
class _Report:
    status: str


class _Draws:
    def drawn(self, table):
        return [table] * 3


@pytest.fixture
def calls(monkeypatch):
    made = []

    def fit_component(recipe, table, prior=None, before=None):
        made.append((recipe, before))
        status = "interrupted" if recipe.max_iter == 1 and len(made) == 2 else "converged"
        return _Component(f"model {len(made)}"), _Report(status)

    monkeypatch.setattr(mixture, "fit_component", fit_component)
    return made


def _recipe(max_iter):
    return Recipe(n_inducing=5, per_output=True, constrain_means=False, max_iter=max_iter, random_state=0)


TABLE = Table(np.zeros((2, 1)), np.zeros((2, 1)), np.zeros((2, 1)))


def test_the_first_is_where_the_others_start(calls):
    components, reports = mixture.fit_mixture(_recipe(9), TABLE, _Draws())
    assert [before for _, before in calls] == [None, "model 1", "model 1"]
    assert all(recipe.linear and recipe.lengthscale_spread == LENGTHSCALE_SPREAD for recipe, _ in calls)
    assert len(components) == len(reports) == 3


def test_an_interrupt_ends_the_draws(calls):
    components, _ = mixture.fit_mixture(_recipe(1), TABLE, _Draws())
    assert len(components) == 2
