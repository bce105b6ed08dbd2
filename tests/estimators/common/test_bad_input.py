"""What a user gets for input that cannot or can hardly be used: a sentence, or a documented, sensible result."""

import numpy as np
import pytest

from semigp import SemiDescribedGPRegressor

X = np.random.default_rng(0).normal(size=(30, 3))
Y = np.sin(X[:, 0])


def model(**options):
    return SemiDescribedGPRegressor(**{"n_draws": 2, "random_state": 0} | options)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (-np.ones(X.shape), r"X_std has 90 negative values, first at row 0, column 0.*standard deviations"),
        (np.ones((30, 2)), r"X_std has shape \(30, 2\) but X has shape \(30, 3\)"),
        (np.full(X.shape, np.nan), r"X_std is NaN at row 0, column 0"),
        (np.full(X.shape, np.inf), r"X_std has 90 infinite values, first at row 0, column 0"),
    ],
)
def test_error_bars(error, sentence):
    with pytest.raises(ValueError, match=sentence):
        model().fit(X, Y, X_std=error)


def test_infinity_strings_and_nothing_to_learn():
    with pytest.raises(ValueError, match="X has 1 infinite value, first at row 26, column 1"):
        model().fit(np.where(X > 2, np.inf, X), np.where(Y > 0, Y, np.inf))
    with pytest.raises(ValueError, match="The array X holds text"):
        model().fit(np.full(X.shape, "a"), Y)
    with pytest.raises(ValueError, match="y has no value in column 1"):
        model().fit(X, np.column_stack([Y, np.full(30, np.nan)]))
    with pytest.raises(ValueError, match="requires y"):
        model().fit(X, None)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model().fit(X, Y[:5])
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        model().fit(X[:1], Y[:1])


def test_wrong_options():
    with pytest.raises(ValueError, match="input_prior"):
        model(input_prior="normal").fit(X, Y)
    with pytest.raises(ValueError, match="n_inducing"):
        model(n_inducing=0).fit(X, Y)


def test_impute_needs_rows_for_outputs():
    fitted = model().fit(X, Y)
    with pytest.raises(ValueError, match="y was given without X"):
        fitted.impute(y=Y)
    with pytest.raises(ValueError, match="y has 2 columns; the model was fitted to 1"):
        fitted.impute(X, np.column_stack([Y, Y]))


def is_sensible(fitted):
    mean, std = fitted.predict(X, return_std=True)
    found, spread = fitted.impute(return_std=True)
    return all(np.isfinite(a).all() for a in (mean, std, found, spread)) and np.all(std > 0)


def test_a_column_of_nothing_is_latent():
    holes = X.copy()
    holes[:, 1] = np.nan
    holes[3, 0] = np.nan
    assert is_sensible(model(n_inducing=10).fit(holes, Y))


def test_a_row_of_nothing():
    inputs, outputs = X.copy(), Y.copy()
    inputs[4], outputs[4] = np.nan, np.nan
    fitted = model(posterior="mixture").fit(inputs, outputs)
    assert is_sensible(fitted)
    std = fitted.impute(return_std=True)[1]
    assert np.all(std[4] > 0.5)  # about the spread of the columns themselves


@pytest.mark.parametrize("value", [0.0, 1e6])
def test_one_distinct_output(value):
    fitted = model().fit(X, np.full(30, value))
    mean, std = fitted.predict(X[:4], return_std=True)
    np.testing.assert_allclose(mean, value, atol=1e-3)
    assert np.isfinite(std).all()


def test_constant_column_duplicates_and_more_inducing_points_than_rows():
    inputs = np.column_stack([X, np.ones(30), X[:, 0]])
    inputs[:10] = inputs[10:20]
    inputs[2, [0, 3]] = np.nan
    fitted = model(n_inducing=500, posterior="mixture").fit(inputs, Y)
    mean, std = fitted.predict(inputs, return_std=True)
    assert np.isfinite(mean).all()
    assert np.all(std > 0)
    assert fitted.impute()[2, 3] == pytest.approx(1.0, abs=0.5)
