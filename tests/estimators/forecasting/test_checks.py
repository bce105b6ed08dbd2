"""What a forecaster is given. Oracles: sentences that say what to do, and arrays as they were."""

import numpy as np
import pandas as pd
import pytest

from semigp.estimators.forecasting.checks import check_length, check_season, read_covariates, read_scenarios


@pytest.mark.parametrize("season", [None, "auto", 7, 12.5, [7], (7, 365.25), np.array([24, 168]), []])
def test_seasons_that_make_sense(season):
    check_season(season)


@pytest.mark.parametrize("season", [1, 0, -3, [7, -1], [np.nan], [np.inf], ["week"], [[7, 12]], [[7], [1, 2]], [None]])
def test_seasons_that_do_not(season):
    with pytest.raises(
        ValueError, match="season must be one length in steps, 2 or more, or a list of such lengths; got"
    ):
        check_season(season)


@pytest.mark.parametrize(
    ("values", "window", "message"),
    [
        (np.full((9, 1), np.nan), "auto", "series has no value in column 0"),
        (np.column_stack([np.arange(9.0), np.ones(9)]), "auto", "series is constant in column 1"),
        (1e151 * np.arange(9.0)[:, None], "auto", "values beyond 1e150"),
        (1e-160 * np.arange(9.0)[:, None], "auto", "differ by less than 1e-150"),
        (np.arange(2.0)[:, None], "auto", "series has 2 steps; a window of auto needs 3 or more"),
        (np.arange(9.0)[:, None], 8, "series has 9 steps; a window of 8 needs 10 or more"),
        (np.r_[1.0, np.nan, 2.0, np.nan][:, None], 1, "series has 2 known values in column 0; 3 are needed"),
    ],
)
def test_series_that_cannot_be_learned(values, window, message):
    with pytest.raises(ValueError, match=message):
        check_length(values, window)


def test_a_series_that_can_be():
    check_length(np.r_[1.0, np.nan, 2.0, 4.0][:, None], 2)


def test_covariates_go_by_their_names():
    frame = pd.DataFrame({"b": [1.0, 2.0], "a": [3.0, 4.0]})
    values, names = read_covariates(frame, 2, ["a", "b"])
    np.testing.assert_array_equal(values, [[3.0, 1.0], [4.0, 2.0]])
    assert names == ["b", "a"]
    nothing, names = read_covariates(None, 4)
    assert (nothing.shape, names) == ((4, 0), [])


@pytest.mark.parametrize(
    ("covariates", "names", "message"),
    [
        (np.zeros((3, 1)), None, "covariates has 3 rows; 2 are needed"),
        (np.zeros((2, 1)), ["a", "b"], "covariates has 1 columns; the model was fitted with 2"),
        (np.full((2, 1), np.nan), None, "covariates has no value in column 0"),
        (np.array([[1.0], [np.nan]]), ["a"], "of steps to come, all covariates must be known"),
    ],
)
def test_covariates_that_do_not_fit(covariates, names, message):
    with pytest.raises(ValueError, match=message):
        read_covariates(covariates, 2, names)


def test_scenarios():
    assert read_scenarios({"a": 1}) == {"a": 1}
    with pytest.raises(ValueError, match="empty dictionary; give at least one scenario"):
        read_scenarios({})
