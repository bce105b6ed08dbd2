"""All rows here, and rows across one process: the same answers. Oracle: each is the other's."""

import numpy as np

import semigp
from semigp.estimators.common.table import Table
from semigp.estimators.regression.across_processes import RowsAcross
from semigp.estimators.regression.gathering import AllRowsHere, Gathering


def test_one_process_is_the_plain_case(random):
    X, y, error = random.normal(size=(9, 3)), random.normal(size=(9, 1)), random.uniform(size=(9, 3))
    X[::2, 1] = np.nan
    here: Gathering = AllRowsHere()
    across: Gathering = RowsAcross(semigp.row_mesh(), None)
    np.testing.assert_array_equal(here.count_known(X), across.count_known(X))
    np.testing.assert_array_equal(here.is_any(np.array([True, False])), across.is_any(np.array([True, False])))
    for name in ("rows", "columns"):
        one, other = (getattr(each.arrange(X, y, error), name) for each in (here, across))
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(here.units(X).std, across.units(X).std)
    estimator = semigp.SemiDescribedGPRegressor(random_state=3)
    assert here.begin(estimator, X) == across.begin(estimator, X)
    assert here.agree("b", ("a", "b")) == across.agree("b", ("a", "b")) == "b"
    table = Table(X, y, error)
    assert here.with_sample(table, 0) == (table, None)
    sampled, own = across.with_sample(table, 0)
    np.testing.assert_array_equal(sampled.shared.inputs[own.places], X)  # few rows: the sample has all
