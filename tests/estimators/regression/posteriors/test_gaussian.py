"""The Gaussian q(X). Oracles: the starts that are tried, and the higher of two bounds."""

from dataclasses import dataclass

import numpy as np
import pytest

from semigp.estimators.common.component import Recipe
from semigp.estimators.common.table import Table
from semigp.estimators.regression.posteriors import gaussian


@dataclass
class _Report:
    bound: float
    status: str = "converged"


class _Nothing:
    is_any_drawn = False


@pytest.mark.parametrize(("error", "starts"), [(0.0, [1.0]), (0.1, [1.0, 0.3])])
def test_error_bars_have_two_starts_and_the_better_is_kept(monkeypatch, error, starts):
    tried = []

    def fit_component(recipe, table, prior=None, before=None):
        tried.append(recipe.lengthscale_start)
        return f"from {recipe.lengthscale_start}", _Report(-recipe.lengthscale_start)

    monkeypatch.setattr(gaussian, "fit_component", fit_component)
    recipe = Recipe(n_inducing=5, per_output=True, constrain_means=False, max_iter=9, random_state=0)
    table = Table(np.zeros((2, 1)), np.zeros((2, 1)), np.full((2, 1), error))
    components, _ = gaussian.fit_gaussian(recipe, table, _Nothing())
    assert tried == starts
    assert components == [f"from {min(starts)}"]  # the one with the higher bound
