"""The classifier "auto": the weighted geometric mean of what its Gaussian processes and its student say."""

import numpy as np
import pytest

from semigp.estimators.few_labels.label_mixture import LabelMixture
from semigp.estimators.few_labels.labels import LabelColumn
from semigp.estimators.few_labels.spaces import Locations, TrainingSpaces

CENTRES = 3.0 * np.eye(3, 4)
CLASSES = np.arange(60) % 3


def _mixture(n_classes):
    columns = CENTRES[CLASSES] + np.random.default_rng(0).normal(size=(60, 4))
    spaces = TrainingSpaces(Locations(columns[:, :2], columns), np.ones(2))
    return LabelMixture(spaces, LabelColumn(np.arange(9), CLASSES[:9], n_classes, np.ones(9)))


@pytest.fixture(scope="module")
def mixture():
    return _mixture(3)


@pytest.fixture(scope="module")
def new_rows():
    columns = 2.0 * np.random.default_rng(1).normal(size=(40, 4))
    return Locations(columns[:, :2], columns)


def test_it_is_a_geometric_mean(mixture, new_rows):
    """As powers and a product, without logarithms, from the two opinions by themselves; 1e-12."""
    gps, student = mixture._taught(new_rows), mixture._student.predict(new_rows.columns)
    product = gps**0.75 * student**0.25
    np.testing.assert_allclose(mixture.predict(new_rows), product / product.sum(axis=1, keepdims=True), rtol=1e-12)


def test_odds_lie_between_those_of_both(mixture, new_rows):
    """So where both are sure of the same class, it is at least as sure as the less sure one. Exact but for 1e-9."""
    found, *opinions = (
        np.log(p[:, 0]) - np.log(p[:, 1])
        for p in (mixture.predict(new_rows), mixture._taught(new_rows), mixture._student.predict(new_rows.columns))
    )
    assert (found >= np.minimum(*opinions) - 1e-9).all()
    assert (found <= np.maximum(*opinions) + 1e-9).all()


def test_weights_are_shares(mixture):
    assert sum(mixture.weights.values()) == pytest.approx(1.0)
    assert mixture.weights["student"] == pytest.approx(0.25)


def test_a_class_that_the_student_does_not_know_is_improbable_but_possible(new_rows):
    """All rows of the fourth class have weight 0: at most 1e-12 to the power .25 times the odds of the GPs."""
    mixture = _mixture(4)
    assert (mixture._student.predict(new_rows.columns)[:, 3] == 0.0).all()
    found = mixture.predict(new_rows)[:, 3]
    assert (found > 0.0).all()
    assert (found < 2e-3).all()
