"""What is believed of missing entries. Oracles: means and frequencies of draws, written out; a frame that was whole."""

import numpy as np
import pandas as pd
import pytest

import semigp
from semigp import GPImputer
from semigp.estimators.common.input_units import InputUnits
from semigp.estimators.imputation.beliefs import Beliefs
from semigp.estimators.particles.tables import DrawnTables

from ..mixed import KINDS, mixed_frame

LEVELS = {"flag": 2, "answer": 2, "grade": 3, "place": 5}


@pytest.fixture(scope="module")
def frames():
    return mixed_frame()


@pytest.fixture(scope="module")
def fitted(frames):
    return GPImputer(3, max_iter=4, random_state=0).fit(frames[1])


def test_of_draws():
    """Two numbers and a level of three, 4 draws of 1 row: mean, standard deviation, frequencies."""
    codes = np.array([[[1.0, 0.0]], [[2.0, 2.0]], [[3.0, 2.0]], [[6.0, 2.0]]])
    found = Beliefs.of_draws(codes, (0, 3))
    np.testing.assert_allclose(found.mean, [[3.0, 2.0]])
    np.testing.assert_allclose(found.std, [[np.std([1, 2, 3, 6]), np.nan]])
    np.testing.assert_allclose(found.probabilities[1], [[0.25, 0.0, 0.75]])


def test_of_training():
    """Of a number E (x - c) and E (x - c)², of a level its probabilities. A column without holes has no expectations.

    The middle c of the first column is 7.
    """
    units = InputUnits.of(np.array([[6.0, 0.0, 1.0], [8.0, 2.0, 1.0]]), (1, 3, 1), np.zeros(3, bool))
    expectations = {0: np.array([[2.0, 5.0], [0.0, 0.0]]), 1: np.array([[0.1, 0.6, 0.3], [0.0, 0.0, 0.0]])}
    drawn = DrawnTables(None, [], expectations, np.zeros(1), is_interrupted=False)
    found = Beliefs.of_training(drawn, units, (0, 3, 0), np.array([[np.nan, np.nan, 1.0], [4.0, 2.0, 1.0]]))
    assert (found.mean[0, 0], found.std[0, 0]) == (9.0, 1.0)
    assert found.mean[0, 1] == 1.0
    assert np.isnan(found.std[0, 1])
    np.testing.assert_array_equal(found.probabilities[1][0], [0.1, 0.6, 0.3])


def test_wanted_functions(random):
    """x - c and its square in the user's units, or which level it is; any shape before the features."""
    codes = np.column_stack([np.exp(random.normal(size=30)), random.integers(3, size=30), random.integers(2, size=30)])
    units = InputUnits.of(codes, (1, 3, 1), np.array([True, False, False]))
    functions, features = Beliefs.wanted(units, (0, 3, 2)), units.standard(codes)
    number = functions(features[:, None, :1], 0)[:, 0]
    deviations = codes[:, 0] - units.natural(np.zeros(5))[0]
    np.testing.assert_allclose(number, np.column_stack([deviations, deviations**2]), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(functions(features[:, 1:4], 1), codes[:, [1]] == np.arange(3))
    np.testing.assert_array_equal(functions(features[:, 4:], 2), codes[:, [2]] == np.arange(2))


@pytest.mark.parametrize("is_new", [False, True])
def test_probabilities(frames, fitted, is_new):
    """They sum to 1 (1e-12), are 0 and 1 for known entries, and `impute` takes the largest."""
    truth, holes, _ = frames
    proba = fitted.impute_proba(holes if is_new else None)
    filled = fitted.impute(holes if is_new else None)
    assert {name: found.shape for name, found in proba.items()} == {k: (60, count) for k, count in LEVELS.items()}
    for name, found in proba.items():
        np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
        assert found.min() >= 0.0
        levels = sorted(truth[name].unique()) if name != "grade" else ["low", "mid", "high"]
        known = holes[name].notna().to_numpy()
        codes = np.array([levels.index(value) for value in truth[name][known]])
        np.testing.assert_array_equal(found[known], np.eye(len(levels))[codes])
        assert [levels[code] for code in np.argmax(found, axis=1)] == list(filled[name])


@pytest.mark.parametrize("is_new", [False, True])
def test_a_mixed_frame_comes_back_as_it_was(frames, fitted, is_new):
    """Types, index and known entries; whole numbers are whole, amounts positive, days inside the known range."""
    truth, holes, _ = frames
    filled, std = fitted.impute(holes if is_new else None, return_std=True)
    assert filled.notna().all(axis=None)
    pd.testing.assert_series_equal(filled.dtypes, holes.dtypes)
    pd.testing.assert_frame_equal(filled.where(holes.notna()), holes.where(holes.notna()), check_dtype=False)
    assert np.all(filled["count"] % 1 == 0)
    assert filled["amount"].min() >= holes["amount"].min() > 0
    assert filled["day"].between(holes["day"].min(), holes["day"].max()).all()
    for name in KINDS:
        gone = holes[name].isna()
        assert np.all(std.loc[~gone, name] == 0)
        assert std.loc[gone, name].isna().all() if name in LEVELS else (std.loc[gone, name] >= 0).all()
    # Two columns know each level: more than the most frequent one by far.
    for name in LEVELS:
        gone = holes[name].isna()
        assert np.mean(filled.loc[gone, name].astype(object) == truth.loc[gone, name].astype(object)) > 0.5


def test_samples_of_a_mixed_frame(frames, fitted):
    _, holes, _ = frames
    for draws in (fitted.sample(), fitted.sample(holes)):
        assert len(draws) == 3
        for draw in draws:
            pd.testing.assert_series_equal(draw.dtypes, holes.dtypes)
            assert draw.notna().all(axis=None)
            assert np.all(draw["count"] % 1 == 0)


def test_a_file_has_no_mixed_training_table(frames, fitted, tmp_path):
    """It asks for the table, and then says the same as before the round trip, to the last digit."""
    _, holes, _ = frames
    fitted.save(tmp_path / "m")
    loaded = semigp.load(tmp_path / "m")
    for ask in (loaded.impute, loaded.sample):
        with pytest.raises(ValueError, match=r"does not keep a training table .* Give the table"):
            ask()
    pd.testing.assert_frame_equal(loaded.impute(holes), fitted.impute(holes))
    for name, found in fitted.impute_proba().items():
        np.testing.assert_array_equal(loaded.impute_proba()[name], found)


def test_rows_of_a_mixed_frame_do_not_depend_on_their_company(frames, fitted):
    _, holes, _ = frames
    rows = holes[holes.isna().any(axis=1)][:4]
    together = fitted.impute_proba(rows)
    for i in range(4):
        alone = fitted.impute_proba(rows[i : i + 1])
        assert all(np.array_equal(alone[name][0], together[name][i]) for name in together)


def test_large_numbers_that_differ_little(random):
    """Seconds of a clock, 1.7e9 ± 1e-2: means and standard deviations are those of the same column around 0; 1e-4."""
    table = random.normal(size=(60, 2)) @ [[1.0, 0.9], [0.0, 0.4]]
    table[::4, 1] = np.nan
    shift, scale = np.array([0.0, 1.7e9]), np.array([1.0, 1e-2])
    plain = GPImputer(n_draws=2, random_state=0).fit(table).impute(return_std=True)
    moved = GPImputer(n_draws=2, random_state=0).fit(shift + scale * table).impute(return_std=True)
    np.testing.assert_allclose((moved[0] - shift) / scale, plain[0], atol=1e-4)
    np.testing.assert_allclose(moved[1] / scale, plain[1], atol=1e-4)
