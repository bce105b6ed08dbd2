"""SharedGPLVM: made views with known structure, special cases that must hold exactly, and errors with a cure."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import semigp
from semigp import BayesianGPLVM, SharedGPLVM
from semigp.core.exact.certain import OutputDensity, fit_hyperparameters

SMALL = {"n_components": 3, "n_inducing": 12, "max_iter": 40, "random_state": 0}


def make_views(n, seed=0):
    """Views with one latent input that they share, and one of its own for each: six columns each, noise .05."""
    random = np.random.default_rng(seed)
    shared, *own = random.uniform(-1.5, 1.5, size=(3, n))
    views = {}
    for name, private in zip("ab", own, strict=True):
        phases = random.uniform(0.0, 6.0, 6)
        rows = np.sin(1.5 * shared[:, None] + phases) + 0.7 * np.sin(private[:, None] + random.uniform(0.0, 6.0, 6))
        views[name] = rows + 0.05 * random.normal(size=rows.shape)
    return views, shared


@pytest.fixture(scope="module")
def fitted():
    """70 rows to learn from, with a tenth of the entries and five rows of "b" missing, and 40 new ones."""
    views, shared = make_views(110)
    random = np.random.default_rng(1)
    known = {name: np.where(random.random((70, 6)) < 0.1, np.nan, rows[:70]) for name, rows in views.items()}
    known["b"][:5] = np.nan
    new = {name: rows[70:] for name, rows in views.items()}
    return known, new, SharedGPLVM(**SMALL).fit(known), shared


def test_another_view_is_predicted_with_intervals_that_hold(fitted):
    """What is private to "b" cannot be known from "a": its share of the variance is .25 (=.7²/(1 + .7²) · ¾).

    The error has to be below .45 of the variance, and the coverage of 95 % intervals between .85 and 1.
    """
    _, new, model, _ = fitted
    mean, std = model.predict({"a": new["a"]}, "b", return_std=True)
    assert mean.shape == std.shape == (40, 6)
    assert np.mean((mean - new["b"]) ** 2) < 0.45 * np.var(new["b"])
    assert 0.85 < np.mean(np.abs(mean - new["b"]) < 1.96 * std) <= 1.0


def test_given_views_may_have_holes(fitted):
    """A third missing, and one row without any value: worse than complete rows, better than the mean of all rows."""
    known, new, model, _ = fitted
    holes = np.where(np.random.default_rng(2).random((40, 6)) < 0.3, np.nan, new["a"])
    holes[0] = np.nan
    mean, std = model.predict({"a": holes}, "b", return_std=True)
    assert np.isfinite(mean).all()
    assert (std > 0).all()
    assert np.mean((mean - new["b"])[1:] ** 2) < 0.8 * np.mean((np.nanmean(known["b"], axis=0) - new["b"])[1:] ** 2)
    assert np.mean(std[0]) > np.mean(std[1:])


@pytest.mark.parametrize("in_training", [0.0, 0.3])
def test_intervals_hold_with_more_and_with_fewer_holes_than_in_training(in_training):
    """95 % intervals hold .85 or more, for complete rows, rows with holes, and rows of which nothing is known.

    400 new rows of two columns, of which the errors are alike: the standard error of a share is below .02.
    """
    random = np.random.default_rng(0)
    t = random.uniform(0.0, 6.0, 500)
    a = np.column_stack([np.sin(t), np.cos(t), t / 3]) + 0.05 * random.normal(size=(500, 3))
    b = np.column_stack([np.sin(2 * t), t**2 / 30]) + 0.05 * random.normal(size=(500, 2))
    known = {"a": np.where(random.random((100, 3)) < in_training, np.nan, a[:100]), "b": b[:100]}
    model = SharedGPLVM(2, n_inducing=25, max_iter=150, random_state=0).fit(known)
    for share in (0.0, 0.3, 0.6, 1.0):
        given = np.where(random.random((400, 3)) < share, np.nan, a[100:])
        mean, std = model.predict({"a": given}, "b", return_std=True)
        assert np.mean(np.abs(mean - b[100:]) < 1.96 * std) > 0.85


def test_shared_and_private_inputs_are_found():
    """The shared inputs follow what is shared, and the private ones do not: R² of a fit by nearby rows."""
    views, shared = make_views(120, seed=3)
    model = SharedGPLVM(5, n_inducing=20, max_iter=150, random_state=0).fit(views)
    assert len(model.shared_)
    assert all(len(own) for own in model.private_.values())
    assert set(model.private_) == {"a", "b"}

    def explained(inputs):
        design = np.column_stack([inputs, np.ones(len(inputs))])
        squares = (inputs[:, :, None] * inputs[:, None, :]).reshape(len(inputs), -1)
        design = np.hstack([design, squares, inputs**3])
        left = shared - design @ np.linalg.lstsq(design, shared, rcond=None)[0]
        return 1.0 - np.var(left) / np.var(shared)

    assert explained(model.embedding_[:, model.shared_]) > 0.9
    assert max(explained(model.embedding_[:, own]) for own in model.private_.values()) < 0.3


@pytest.mark.parametrize("output_noise", ["shared", "per-output"])
def test_one_view_is_bayesian_gplvm(fitted, output_noise):
    """The same start and the same steps: the same bound and embedding, up to rounding that 40 steps amplify."""
    known, new, _, _ = fitted
    options = SMALL | {"output_noise": output_noise}
    one, other = SharedGPLVM(**options).fit({"a": known["a"]}), BayesianGPLVM(**options).fit(known["a"])
    assert one.bound_ == pytest.approx(other.bound_, rel=1e-7)
    np.testing.assert_allclose(one.embedding_, other.embedding_, atol=1e-5)
    np.testing.assert_allclose(one.embedding_std_, other.embedding_std_, atol=1e-5)
    np.testing.assert_allclose(one.relevance_[0], other.relevance_, atol=1e-5)
    np.testing.assert_allclose(one.transform({"a": new["a"]}), other.transform(new["a"]), atol=1e-3)
    np.testing.assert_allclose(one.impute()["a"], other.impute(), atol=1e-4)


def test_the_order_of_views_rows_and_columns_does_not_matter(fitted):
    """To the last digit, because everything is computed in an order of its own."""
    known, new, model, _ = fitted
    random = np.random.default_rng(5)
    rows, columns = random.permutation(70), random.permutation(6)
    turned = {"b": known["b"][rows], "a": known["a"][np.ix_(rows, columns)]}
    other = SharedGPLVM(**SMALL).fit(turned)
    assert other.view_names_ == model.view_names_ == ["a", "b"]
    np.testing.assert_array_equal(other.embedding_, model.embedding_[rows])
    np.testing.assert_array_equal(other.predict({"a": new["a"][:, columns]}, "b"), model.predict({"a": new["a"]}, "b"))


def test_holes_are_filled_and_known_entries_are_unchanged(fitted):
    known, _, model, _ = fitted
    filled, std = model.impute(return_std=True)
    for name, rows in known.items():
        holes = np.isnan(rows)
        np.testing.assert_array_equal(filled[name][~holes], rows[~holes])
        assert np.isfinite(filled[name]).all()
        assert (std[name][~holes] == 0).all()
        assert (std[name][holes] > 0).all()
    again = model.impute({"b": known["b"][:6]})
    assert list(again) == ["b"]
    assert np.isfinite(again["b"]).all()


def test_new_rows_are_drawn_in_all_views(fitted):
    """The draws have the spread of the training rows: their standard deviations agree within a third."""
    known, _, model, _ = fitted
    drawn = model.sample(300, random_state=0)
    for name, rows in known.items():
        assert drawn[name].shape == (300, 6)
        np.testing.assert_allclose(drawn[name].std(), np.nanstd(rows), rtol=0.33)


def test_a_saved_model_predicts_the_same(fitted, tmp_path):
    """Bit for bit. The regressions are not in the file: they are fitted again."""
    _, new, model, _ = fitted
    expected = model.predict({"a": new["a"]}, "b", return_std=True)
    model.save(tmp_path / "views.semigp")
    again = semigp.load(tmp_path / "views.semigp")
    np.testing.assert_array_equal(again.predict({"a": new["a"]}, "b", return_std=True), expected)
    np.testing.assert_array_equal(again.transform(new), model.transform(new))
    assert again.get_params() == model.get_params()


def test_conventions_of_scikit_learn(fitted):
    known, _, model, _ = fitted
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        copy.predict(known, "b")
    with pytest.raises(ValueError, match="n_components"):
        SharedGPLVM(0).fit(known)
    seen = []
    stopped = SharedGPLVM(**SMALL | {"callback": lambda progress: seen.append(progress) or len(seen) >= 3}).fit(known)
    assert stopped.fit_report_.status == "interrupted"
    assert stopped.n_iter_ == 3
    assert model.relevance_.shape == (2, 3)
    assert model.relevance_.max(axis=1).tolist() == [1.0, 1.0]


# ---- views of other kinds


@pytest.fixture(scope="module")
def kinds():
    random = np.random.default_rng(0)
    t = np.sort(random.uniform(0.0, 6.0, 60))
    labels = np.array(["low", "middle", "top"])[(t // 2).astype(int)]
    numbers = np.column_stack([np.sin(t), np.cos(t), t / 3]) + 0.03 * random.normal(size=(60, 3))
    frame = pd.DataFrame({"square": t**2, "kind": pd.Categorical(labels), "late": t > 3})
    frame.loc[3, "square"], frame.loc[4, "kind"] = np.nan, np.nan
    views = {
        "numbers": numbers, "frame": frame, "polars": pl.DataFrame({"t": t, "label": labels.tolist()}),
        "labels": np.where(np.arange(60) == 7, None, labels), "flags": t > 3, "single": t**2,
    }  # fmt: skip
    return views, labels, SharedGPLVM(2, n_inducing=12, max_iter=40, random_state=0).fit(views)


def test_labels_are_a_view(kinds):
    """Classes are functions of the numbers, but for rows beside a border: nine of ten are right."""
    views, labels, model = kinds
    found = model.predict({"numbers": views["numbers"]}, "labels")
    assert np.mean(found == labels) > 0.9
    chances = model.predict_proba({"numbers": views["numbers"]}, "labels")
    assert chances.shape == (60, 3)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_["labels"][np.argmax(chances, axis=1)], found)
    assert model.impute()["labels"][7] == labels[7]
    assert model.predict({"numbers": views["numbers"]}, "flags").dtype == bool
    with pytest.raises(ValueError, match="'labels' holds labels, which have no standard deviation"):
        model.predict({"numbers": views["numbers"]}, "labels", return_std=True)
    with pytest.raises(ValueError, match="'numbers' has no labels or categories"):
        model.predict_proba({"labels": labels}, "numbers")


def test_frames_come_back_as_frames(kinds):
    views, labels, model = kinds
    mean, std = model.predict({"numbers": views["numbers"]}, "frame", return_std=True)
    assert list(mean) == list(std) == ["square", "kind", "late"]
    assert np.mean(mean["kind"].to_numpy() == labels) > 0.9
    assert std["kind"].isna().all()
    assert (std["square"] > 0).all()
    assert set(model.predict_proba({"numbers": views["numbers"]}, "frame")) == {"kind", "late"}
    assert isinstance(model.predict({"numbers": views["numbers"]}, "polars"), pl.DataFrame)
    assert model.predict({"numbers": views["numbers"]}, "single").shape == (60,)
    filled = model.impute()["frame"]
    pd.testing.assert_series_equal(filled["late"], views["frame"]["late"])
    assert filled["kind"][4] == labels[4]
    assert filled["kind"].dtype == views["frame"]["kind"].dtype


# ---- what cannot be done, and what to do instead


def test_views_that_do_not_fit(fitted):
    known, new, model, _ = fitted
    with pytest.raises(ValueError, match="views is a ndarray; give a dictionary"):
        SharedGPLVM().fit(known["a"])
    with pytest.raises(ValueError, match="views is empty"):
        SharedGPLVM().fit({})
    with pytest.raises(ValueError, match="different numbers of rows: 70 in 'a', 69 in 'b'"):
        SharedGPLVM().fit({"a": known["a"], "b": known["b"][1:]})
    with pytest.raises(ValueError, match="View 'b': Column 2 has no value"):
        SharedGPLVM().fit({"a": known["a"], "b": np.where(np.arange(6) == 2, np.nan, known["b"])})
    first = np.arange(70)[:, None] < 30
    apart = {"a": np.where(first, known["a"], np.nan), "b": np.where(first, np.nan, known["b"])}
    with pytest.raises(ValueError, match="no other view has any in the same rows"):
        SharedGPLVM().fit(apart)
    with pytest.raises(ValueError, match="n_components=70 needs 71 rows"):
        SharedGPLVM(70).fit(known)
    with pytest.raises(ValueError, match="no view 'c'; the model has 'a', 'b'"):
        model.predict({"c": new["a"]}, "b")
    with pytest.raises(ValueError, match="no view 'c'"):
        model.predict({"a": new["a"]}, "c")
    with pytest.raises(ValueError, match="View 'b' is given"):
        model.predict(new, "b")
    with pytest.raises(ValueError, match=r"View 'a': .* 5 features"):
        model.predict({"a": new["a"][:, :5]}, "b")
    with pytest.raises(ValueError, match="View 'a' was a table in training"):
        model.transform({"a": new["a"][:, 0]})
    with pytest.raises(ValueError, match="View 'b' is a NoneType"):
        SharedGPLVM().fit({"a": known["a"], "b": None})
    with pytest.raises(ValueError, match="View 'b': a single column of whole numbers or text holds labels"):
        SharedGPLVM().fit({"a": known["a"], "b": np.arange(70)})
    frames = {"a": pd.DataFrame(known["a"]), "b": pd.DataFrame(known["b"]).iloc[::-1]}
    with pytest.raises(ValueError, match="'a' and 'b' have the same index in different orders"):
        SharedGPLVM().fit(frames)


def test_too_few_common_rows_leave_it_to_the_model():
    """Five rows have both views: no regression is fitted, and the model predicts alone."""
    views, _ = make_views(40)
    views["a"][25:], views["b"][:20] = np.nan, np.nan
    model = SharedGPLVM(**SMALL).fit(views)
    mean, std = model.predict({"a": views["a"][:3]}, "b", return_std=True)
    assert np.isfinite(mean).all()
    assert (std > 0).all()
    assert model._model.routes == {((0,), 1): None}


def test_the_mixture_is_at_least_as_good_as_a_gp_on_the_columns(fitted):
    """Its error is at most a tenth above that of an exact GP with a lengthscale for each column, on complete rows."""
    known, new, model, _ = fitted
    complete = ~np.isnan(np.hstack([*known.values()])).any(axis=1)
    X, Y = known["a"][complete], known["b"][complete]
    parameters = fit_hyperparameters(X, Y - Y.mean(axis=0), np.arange(6), None, 50)
    mean, _ = OutputDensity.given(parameters, X, Y - Y.mean(axis=0)).moments(new["a"])
    alone = np.mean((mean + Y.mean(axis=0) - new["b"]) ** 2)
    assert np.mean((model.predict({"a": new["a"]}, "b") - new["b"]) ** 2) < 1.1 * alone
