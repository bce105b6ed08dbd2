"""BayesianGPLVM: latent inputs of a known surface, and scikit-learn's battery."""

import time

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from semigp import BayesianGPLVM

FEW = {"n_components": 1, "n_inducing": 5, "max_iter": 20, "random_state": 0}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # the battery's data are noise
@parametrize_with_checks([BayesianGPLVM(**FEW), BayesianGPLVM(**FEW, back_constrained=True)])
def test_check(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def surface():
    """Twelve smooth functions of two latent inputs, noise .05; 60 rows to learn from, 40 new ones."""
    random = np.random.default_rng(3)
    latent = random.uniform(-2, 2, size=(100, 2))
    slopes, phases = random.normal(size=(2, 12)), random.uniform(0, 6, 12)
    rows = np.sin(latent @ slopes + phases) + 0.05 * random.normal(size=(100, 12))
    return rows[:60], rows[60:], BayesianGPLVM(5, n_inducing=30, random_state=0).fit(rows[:60])


def test_the_dimension_is_found(surface):
    _, _, model = surface
    assert 2 <= model.n_relevant_ <= 3
    assert model.embedding_.shape == model.embedding_std_.shape == (60, 5)


def test_rows_come_back_from_their_embedding(surface):
    """New rows, noise .05 on a spread of .7: within .25, where the mean is off by .7."""
    _, new, model = surface
    mean, std = model.transform(new, return_std=True)
    back = model.inverse_transform(mean, std)
    assert np.sqrt(np.mean((back - new) ** 2)) < 0.25


def test_missing_entries_of_new_rows_are_filled_with_intervals_that_hold(surface):
    """A fifth missing: RMSE below .35 (mean: .7), coverage of 95 % intervals above .85."""
    _, new, model = surface
    holes = np.random.default_rng(0).random(new.shape) < 0.2
    filled, std = model.impute(np.where(holes, np.nan, new), return_std=True)
    np.testing.assert_array_equal(filled[~holes], new[~holes])
    error = (filled - new)[holes]
    assert np.sqrt(np.mean(error**2)) < 0.35
    assert np.mean(np.abs(error) < 1.96 * std[holes]) > 0.85


def test_missing_entries_in_training_are_fine(surface):
    rows, _, _ = surface
    holes = np.random.default_rng(1).random(rows.shape) < 0.1
    model = BayesianGPLVM(3, n_inducing=20, random_state=0).fit(np.where(holes, np.nan, rows))
    assert np.sqrt(np.mean((model.impute() - rows)[holes] ** 2)) < 0.35


def test_uncertain_rows_have_wide_beliefs(surface):
    _, new, model = surface
    hidden = new.copy()
    hidden[:, 1:] = np.nan
    assert model.transform(hidden, return_std=True)[1].mean() > model.transform(new, return_std=True)[1].mean()


def test_a_row_does_not_depend_on_its_company(surface):
    """Exactly: rows are inferred side by side, but share nothing."""
    _, new, model = surface
    holes = np.random.default_rng(0).random(new.shape) < 0.1
    for rows in (new, np.where(holes, np.nan, new)):
        np.testing.assert_array_equal(model.transform(rows)[7:19], model.transform(rows[7:19]))


def test_back_constraints_embed_without_optimisation(surface):
    """A lower bound, rows almost as well rebuilt (within .3), and 100,000 rows in seconds (15, for slow machines)."""
    rows, new, free = surface
    model = BayesianGPLVM(5, n_inducing=30, back_constrained=True, random_state=0).fit(rows)
    assert model.bound_ < free.bound_
    mean, std = model.transform(new, return_std=True)
    assert np.sqrt(np.mean((model.inverse_transform(mean, std) - new) ** 2)) < 0.3
    np.testing.assert_allclose(model.transform(rows), model.embedding_, atol=1e-8)
    started = time.perf_counter()
    model.transform(np.tile(rows, (1667, 1)))
    assert time.perf_counter() - started < 15


@pytest.mark.parametrize("back_constrained", [False, True])
def test_rows_without_any_value_are_at_the_prior(surface, back_constrained):
    """In training and prediction: mean 0 and standard deviation 1, to 1e-3."""
    rows, _, _ = surface
    rows = np.vstack([rows, np.full((1, 12), np.nan)])
    model = BayesianGPLVM(**FEW, back_constrained=back_constrained).fit(rows)
    for mean, std in ((model.embedding_, model.embedding_std_), model.transform(rows, return_std=True)):
        np.testing.assert_allclose([mean[-1], std[-1]], [[0.0], [1.0]], atol=1e-3)


def test_back_constraints_far_away(surface):
    """A row a hundred times as far out as any: finite, and no wider than the prior."""
    rows, _, _ = surface
    model = BayesianGPLVM(**FEW, back_constrained=True).fit(rows)
    mean, std = model.transform(100.0 * rows[:1], return_std=True)
    assert np.isfinite(mean).all()
    assert (std <= 1.0).all()


def test_an_offset_changes_nothing(surface):
    """Rows with nine holes of twelve, 1e6 away from zero: standard deviations as at zero, to 1 %."""
    rows, new, _ = surface
    holes = np.random.default_rng(0).random(new.shape) < 0.75
    stds = []
    for offset in (0.0, 1e6):
        model = BayesianGPLVM(**FEW).fit(rows + offset)
        stds.append(model.impute(np.where(holes, np.nan, new + offset), return_std=True)[1])
    np.testing.assert_allclose(stds[0], stds[1], rtol=0.01, atol=1e-6)


def test_constant_columns_have_no_width():
    """A column of .1, whose standard deviation is 1e-17 and not 0."""
    rows = np.column_stack([np.random.default_rng(0).normal(size=(30, 3)), np.full(30, 0.1)])
    model = BayesianGPLVM(**FEW, scaling="columns").fit(rows)
    assert model._scale[3] == 1.0


def test_columns_in_different_units_are_scaled(surface):
    """Units of columns do not matter once they differ by more than ten; the same embedding to 1e-6."""
    rows, _, _ = surface
    units = 10.0 ** np.arange(-6, 6)
    first, second = (BayesianGPLVM(**FEW, scaling=s).fit(r) for s, r in (("columns", rows), ("auto", rows * units)))
    np.testing.assert_allclose(first.embedding_, second.embedding_, atol=1e-6)


def test_a_fit_that_finds_nothing_says_so():
    """Independent noise in forty columns: everything is explained as noise."""
    rows = np.random.default_rng(0).normal(size=(60, 40))
    with pytest.warns(ConvergenceWarning, match="explained as noise"):
        BayesianGPLVM(1, n_inducing=5, random_state=0).fit(rows)


def test_samples_look_like_the_data(surface):
    """Means and spreads of columns within .3."""
    rows, _, model = surface
    drawn = model.sample(400, random_state=0)
    np.testing.assert_allclose(drawn.mean(axis=0), rows.mean(axis=0), atol=0.3)
    np.testing.assert_allclose(drawn.std(axis=0), rows.std(axis=0), atol=0.3)


def test_a_pipeline_gives_named_columns(surface):
    rows, _, _ = surface
    pipeline = make_pipeline(StandardScaler(), BayesianGPLVM(**FEW)).set_output(transform="pandas")
    assert list(pipeline.fit(rows).transform(rows).columns) == ["bayesiangplvm0"]


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (np.zeros((5, 2)), {"n_components": 5}, "n_components=5 needs 6 rows or more, not 5"),
        (np.array([[1.0, np.nan], [2.0, np.nan], [0.5, np.nan]]), {"n_components": 1}, "Column 1 has no value"),
        (
            np.array([[1.0, np.inf], [2.0, 1.0]]),
            {"n_components": 1},
            "Y has 1 infinite value, first at row 0, column 1",
        ),
    ],
)
def test_bad_input_is_refused_in_words(rows, options, message):
    with pytest.raises(ValueError, match=message):
        BayesianGPLVM(**options).fit(rows)
