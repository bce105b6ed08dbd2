"""What holds of `SemiDescribedGPRegressor` whatever the table. `make nightly` takes 500 tables each."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from semigp import SemiDescribedGPRegressor

from .tables import have_units, rows, same_up_to, some

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:X does not have valid feature names"),
]
forms = st.sampled_from(["gaussian", "mixture", "particles"])


def _fit(X, y, form, **options):
    options = {"n_inducing": 8, "n_draws": 2, "max_iter": 20, "random_state": 0, "posterior": form} | options
    return SemiDescribedGPRegressor(**options).fit(X, y)


def _ask(model, X):
    mean, std = model.predict(X, return_std=True)
    return np.reshape(mean, (len(X), -1)), np.reshape(std, (len(X), -1))


@some
@given(rows(), forms)
def test_finite_and_no_surer_than_the_noise(table, form):
    model = _fit(table.X, table.y, form)
    far = table.complete + 1e3 * np.ptp(table.complete, axis=0)
    blank = np.full((1, table.X.shape[1]), np.nan)
    mean, std = _ask(model, np.concatenate([table.X, table.complete, far, blank]))
    assert np.isfinite(mean).all()
    assert np.isfinite(std).all()
    assert np.all(std >= np.sqrt(model.noise_variance_) * (1 - 1e-9))


@some
@given(rows(), forms)
def test_a_seed_gives_the_same_digits(table, form):
    for first, second in zip(*(_ask(_fit(table.X, table.y, form), table.complete) for _ in range(2)), strict=True):
        np.testing.assert_array_equal(first, second)


@some
@given(rows(scales=False), forms, st.tuples(*3 * [st.integers(-20, 20)]), st.integers(-20, 20))
def test_units_that_are_powers_of_two_change_nothing(table, form, of_inputs, of_outputs):
    """All that happens to the numbers is exact then, so are predictions. A column that never changes has no unit."""
    assume(have_units(table))
    a, c = 2.0 ** np.array(of_inputs[: table.X.shape[1]]), 2.0**of_outputs
    mean, std = _ask(_fit(table.X, table.y, form), table.complete)
    scaled_mean, scaled_std = _ask(_fit(a * table.X, c * table.y, form), a * table.complete)
    np.testing.assert_array_equal(scaled_mean, c * mean)
    np.testing.assert_array_equal(scaled_std, c * std)


@some
@given(rows(scales=False), forms, st.floats(-10.0, 10.0), st.floats(0.01, 100.0))
def test_affine_changes(table, form, offset, scale):
    """Predictions follow; a rounding that falls on the other side is amplified, to 1e-3 of the outputs' spread.

    The offset is some spreads: one of thousands leaves too few digits of the data for the same draws. The forms that
    search amplify rounding from step to step, so they take few. And they start their inducing points from k-means,
    where rows of whole numbers may lie halfway between two centres.
    """
    assume(have_units(table))
    assume(form == "particles" or np.any(table.complete != np.round(table.complete)))
    steps = 300 if form == "particles" else 10
    mean, _ = _ask(_fit(table.X, table.y, form, max_iter=steps), table.complete)
    changed = _fit(scale * (table.X + offset), scale * (table.y - offset), form, max_iter=steps)
    changed, _ = _ask(changed, scale * (table.complete + offset))
    assert same_up_to(changed / scale + offset, mean, table.y, 1e-3)


@pytest.mark.parametrize("form", ["gaussian", "mixture", "particles"])
def test_fahrenheit_and_feet(form):
    """Everyday units: the same model, but for rounding on the way in and out."""
    random = np.random.default_rng(0)
    X = 15.0 + 8.0 * random.normal(size=(60, 2))
    y = (X[:, :1] / 10.0 + np.sin(X[:, 1:] / 5.0)) + 0.1 * random.normal(size=(60, 1))
    X[::5, 0] = np.nan
    mean, std = _ask(_fit(X, y, form, max_iter=300), X)
    other_mean, other_std = _ask(_fit(1.8 * X + 32.0, y / 0.3048, form, max_iter=300), 1.8 * X + 32.0)
    np.testing.assert_allclose(other_mean * 0.3048, mean, rtol=1e-9)
    np.testing.assert_allclose(other_std * 0.3048, std, rtol=1e-7)


@some
@given(rows(scales=False), forms)
def test_whole_numbers_are_numbers(table, form):
    """Of any type of integers, in X and in y."""
    X, y = (np.round(5.0 * each).astype(np.int16) for each in (table.complete, table.y))
    found = _ask(_fit(X, y, form), X)
    for a, b in zip(found, _ask(_fit(X.astype(float), y.astype(float), form), X.astype(float)), strict=True):
        np.testing.assert_array_equal(a, b)


def test_one_row_is_too_few():
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        _fit(np.ones((1, 2)), np.ones((1, 1)), "gaussian")


@some
@given(rows(), forms)
def test_a_row_is_predicted_as_if_it_were_alone(table, form):
    model = _fit(table.X, table.y, form)
    mean, std = _ask(model, table.X)
    for i in (0, len(table.X) - 1):
        alone = _ask(model, table.X[i : i + 1])
        np.testing.assert_allclose(alone[0][0], mean[i], rtol=1e-9, atol=1e-9 * np.abs(mean).max())
        np.testing.assert_allclose(alone[1][0], std[i], rtol=1e-7)


@some
@given(rows(scales=False), forms, st.sampled_from(["float32", "strided", "fortran", "read-only", "list"]))
def test_how_numbers_are_kept_does_not_matter(table, form, kind):
    X, y = (table.X.astype(np.float32), table.y.astype(np.float32)) if kind == "float32" else (table.X, table.y)
    plain = _ask(_fit(X.astype(float), y.astype(float), form), table.complete)
    given_X, given_y = (_kept(each, kind) for each in (X, y))
    before = np.array(given_X), np.array(given_y)
    found = _ask(_fit(given_X, given_y, form), table.complete)
    for a, b in zip(found, plain, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(before[0], np.array(given_X))
    np.testing.assert_array_equal(before[1], np.array(given_y))


def _kept(array, kind):
    if kind == "strided":
        return np.repeat(np.repeat(array, 2, axis=0), 3, axis=1)[::2, ::3]
    if kind == "fortran":
        return np.asfortranarray(array)
    if kind == "list":
        return array.tolist()
    if kind == "read-only":
        array = array.copy()
        array.flags.writeable = False
    return array
