"""Algorithm 1 of the paper. Oracles: which rows come first, and the stages that a report then has."""

import numpy as np
import pytest

from semigp.core.search.report import FitReport
from semigp.estimators.common.component import Recipe
from semigp.estimators.common.table import Table
from semigp.estimators.regression.posteriors import published


class _Component:
    model = "a model of the certain rows"


def _report(trace):
    return FitReport("converged", "", 0.0, np.array(trace), 2, 0.0, (("all rows", "converged", 2),), np.ones(1))


@pytest.mark.parametrize(("n_certain", "is_first"), [(9, False), (10, True), (20, False)])
def test_certain_rows_come_first_if_they_are_enough(monkeypatch, n_certain, is_first):
    """Ten or more, but not all: then nothing is left to add."""
    calls = []

    def fit_component(recipe, table, prior=None, before=None):
        calls.append((len(table.inputs), before))
        return _Component(), _report([len(calls)])

    monkeypatch.setattr(published, "fit_component", fit_component)
    inputs = np.zeros((20, 1))
    inputs[n_certain:] = np.nan
    recipe = Recipe(n_inducing=5, per_output=True, constrain_means=False, max_iter=9, random_state=0)
    _, (report,) = published.fit_published(recipe, Table(inputs, np.zeros((20, 1)), np.zeros((20, 1))))
    assert calls == ([(n_certain, None), (20, _Component.model)] if is_first else [(20, None)])
    assert [name for name, *_ in report.stages] == (["complete rows", "all rows"] if is_first else ["all rows"])
    assert report.trace.tolist() == ([1, 2] if is_first else [1])
