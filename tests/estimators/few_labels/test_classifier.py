"""SemiSupervisedGPClassifier: few labels on simulated clusters, labels of all kinds, and scikit-learn's battery."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import semigp
from semigp import SemiSupervisedGPClassifier
from semigp.columns import Columns

SMALL = {"n_components": 2, "n_inducing": 5, "max_iter": 20, "n_samples": 2, "random_state": 0}


EXPECTED_TO_FAIL = {
    "check_classifiers_classes": "it uses -1 as a class, which here marks rows without a label",
    "check_sample_weight_equivalence_on_dense_data": "weights are of labels; every row is embedded whatever its weight",
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([SemiSupervisedGPClassifier(**SMALL)], expected_failed_checks=lambda _: EXPECTED_TO_FAIL)
def test_check(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def clusters():
    """Three bent clusters in twelve columns, 90 rows to learn from and 60 new; three labels a class."""
    random = np.random.default_rng(1)
    which = np.repeat([0, 1, 2], 50)
    angle = random.uniform(0, 2.5, 150) + which * 2.1
    latent = np.column_stack([np.cos(angle), np.sin(angle), 0.3 * which])
    rows = np.tanh(latent @ random.normal(size=(3, 12))) + 0.05 * random.normal(size=(150, 12))
    order = random.permutation(150)
    rows, which = rows[order], which[order]
    labels = np.full(90, -1)
    for number in range(3):
        some = np.flatnonzero(which[:90] == number)[:3]
        labels[some] = number
    return rows[:90], labels, rows[90:], which[90:]


@pytest.fixture(scope="module")
def fitted(clusters):
    X, y, _, _ = clusters
    return SemiSupervisedGPClassifier(3, max_iter=100, random_state=0).fit(X, y)


def test_few_labels_are_enough(clusters, fitted):
    """Nine labels: above .85, and above logistic regression on the nine rows; known labels stay."""
    X, y, new, truth = clusters
    plain = LogisticRegression().fit(X[y >= 0], y[y >= 0]).score(new, truth)
    assert fitted.score(new, truth) > max(0.85, plain)
    np.testing.assert_array_equal(fitted.transduction_[y >= 0], y[y >= 0])
    probabilities = fitted.predict_proba(new)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert sum(fitted.head_weights_.values()) == pytest.approx(1.0)


def test_what_is_said_of_a_row_does_not_depend_on_the_others(clusters, fitted):
    """Exactly."""
    new = clusters[2]
    np.testing.assert_array_equal(fitted.predict_proba(new)[5:9], fitted.predict_proba(new[5:9]))


def test_probabilities_are_softer_where_the_embedding_is_unsure(clusters, fitted):
    new = clusters[2]
    hidden = np.where(np.arange(12) < 2, new, np.nan)
    entropy = [-np.mean(np.sum(p * np.log(p), axis=1)) for p in map(fitted.predict_proba, (new, hidden))]
    assert entropy[1] > entropy[0] + 0.05


def test_other_labels_of_the_same_rows(clusters):
    """`relabel` gives what `fit` would have given, exactly."""
    X, y, new, _ = clusters
    fewer = y.copy()
    fewer[np.flatnonzero(y == 0)[0]] = -1
    for classifier in ("auto", LogisticRegression()):
        model = SemiSupervisedGPClassifier(**SMALL | {"classifier": classifier})
        expected = model.fit(X, y).predict_proba(new)
        np.testing.assert_array_equal(model.fit(X, fewer).relabel(y).predict_proba(new), expected)


@pytest.mark.parametrize("kind", ["strings", "floats", "pandas", "objects"])
def test_labels_of_any_type(clusters, fitted, kind):
    """The same rows and labels in other words: the same probabilities."""
    X, y, new, _ = clusters
    names = np.array(["ant", "bee", "cat"])
    coded = {
        "strings": np.where(y < 0, None, names[y]),
        "floats": np.where(y < 0, np.nan, y + 0.0),
        "pandas": pd.Series(np.where(y < 0, pd.NA, names[y]), dtype="string"),
        "objects": np.array([-1 if number < 0 else str(names[number]) for number in y], dtype=object),
    }[kind]
    model = SemiSupervisedGPClassifier(3, max_iter=100, random_state=0).fit(X, coded)
    np.testing.assert_allclose(model.predict_proba(new), fitted.predict_proba(new))
    expected = fitted.predict(new) if kind == "floats" else names[fitted.predict(new)]
    np.testing.assert_array_equal(model.predict(new), expected)


def test_labels_without_weight_are_no_labels(clusters):
    """Weight 0 and -1 are the same, exactly; other weights matter."""
    X, y, new, _ = clusters
    last = np.flatnonzero(y == 2)[-1]
    weights = np.ones(len(y))
    weights[last] = 0.0
    without = y.copy()
    without[last] = -1
    one, other = (
        SemiSupervisedGPClassifier(**SMALL).fit(X, labels, sample_weight=w)
        for labels, w in ((y, weights), (without, None))
    )
    np.testing.assert_array_equal(one.predict_proba(new), other.predict_proba(new))
    weights[y == 1] = 10.0
    heavier = SemiSupervisedGPClassifier(**SMALL).fit(X, y, sample_weight=weights)
    assert np.abs(heavier.predict_proba(new) - one.predict_proba(new)).max() > 1e-3


def test_several_labels_per_row(clusters, fitted):
    """An indicator matrix: each column by itself, single entries unknown; as accurate as the classes (.85)."""
    X, y, new, truth = clusters
    several = np.where(y[:, None] < 0, -1, y[:, None] == np.arange(3))
    several[np.flatnonzero(y == 0)[0], 2] = -1
    model = SemiSupervisedGPClassifier(3, max_iter=100, random_state=0).fit(X, several)
    assert model.predict(new).shape == model.predict_proba(new).shape == (60, 3)
    assert np.mean(model.predict(new) == (truth[:, None] == np.arange(3))) > 0.85
    assert len(model.head_weights_) == 3


@pytest.mark.parametrize("classifier", [LogisticRegression(), KNeighborsClassifier(1), LinearSVC()])
@pytest.mark.parametrize("n_samples", [0, 6])
def test_any_classifier_can_be_given(clusters, classifier, n_samples):
    X, y, new, truth = clusters
    model = SemiSupervisedGPClassifier(3, classifier=classifier, n_samples=n_samples, max_iter=100, random_state=0)
    assert model.fit(X, y).score(new, truth) > 0.7
    assert hasattr(model, "predict_proba") == hasattr(classifier, "predict_proba")


def test_a_class_with_one_example_is_learnt(clusters):
    X, y, new, truth = clusters
    alone = y.copy()
    alone[np.flatnonzero(y == 2)[1:]] = -1
    model = SemiSupervisedGPClassifier(3, max_iter=100, random_state=0).fit(X, alone)
    assert np.mean(model.predict(new)[truth == 2] == 2) > 0.5


def test_rows_without_any_value_are_embedded_at_the_prior(clusters):
    """Mean 0 and standard deviation 1, to .05; their probabilities are those of an average row."""
    X, y, _, _ = clusters
    X = X.copy()
    X[0] = np.nan
    model = SemiSupervisedGPClassifier(**SMALL).fit(X, np.where(np.arange(90) == 0, -1, y))
    np.testing.assert_allclose(model.embedding_[0], 0.0, atol=0.05)
    np.testing.assert_allclose(model.embedding_std_[0], 1.0, atol=0.05)
    assert np.isfinite(model.predict_proba(np.full((1, 12), np.nan))).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X, np.full(90, -1)), "no label: every row is marked as unlabelled"),
        (lambda X, y: (X, np.where(y == 1, 1, -1)), "all of one class, 1: label rows of at least two classes"),
        (lambda X, y: (X, y[:50]), "inconsistent numbers of samples"),
        (lambda X, y: (np.where(np.arange(12) == 3, np.nan, X), y), "Column 3 has no value"),
        (lambda X, y: (X, np.where(y < 0, np.nan, y + 0.5)), "Unknown label type"),
        (lambda X, y: (X, np.column_stack([y, y])), "values must be 0, 1 or unknown; column 0 has 2"),
        (lambda X, y: (X, np.column_stack([y > 0, np.full(90, -1)])), "no label in column 1"),
    ],
)
def test_bad_labels_are_refused_in_words(clusters, change, message):
    X, y, _, _ = clusters
    with pytest.raises(ValueError, match=message):
        SemiSupervisedGPClassifier(**SMALL).fit(*change(X, y))


def test_repeated_rows_and_far_rows_have_probabilities():
    """A table of zeros and ones, where most rows are equal, and a row at 1e4: finite, adding up to 1, and right."""
    random = np.random.default_rng(0)
    X = random.integers(2, size=(120, 3)).astype(float)
    classes = X[:, 0].astype(int)
    model = SemiSupervisedGPClassifier(**SMALL).fit(X, np.where(random.random(120) < 0.3, classes, -1))
    assert model.score(X, classes) > 0.95
    far = model.predict_proba(np.vstack([X, np.full((1, 3), 1e4)]))
    np.testing.assert_allclose(far.sum(axis=1), 1.0)
    np.testing.assert_array_equal(far[:-1], model.predict_proba(X))  # whatever else is asked about


def test_lists_of_labels(clusters):
    """Names with NaN, None or -1 among them; texts that stand for a missing label, and mixed kinds, are refused."""
    X, y, _, _ = clusters
    for missing in (float("nan"), None, -1):
        labels = [missing if number < 0 else "abc"[number] for number in y]
        assert list(SemiSupervisedGPClassifier(**SMALL).fit(X, labels).classes_) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="missing label as text"):
        SemiSupervisedGPClassifier(**SMALL).fit(X, np.where(y < 0, "-1", "a"))
    with pytest.raises(ValueError, match="mixes texts and numbers"):
        SemiSupervisedGPClassifier(**SMALL).fit(X, np.array([1, "a", None] * 30, dtype=object))


def test_scores_are_of_rows_with_labels(clusters, fitted):
    """So that cross-validation works on data with few labels."""
    X, y, _, _ = clusters
    assert fitted.score(X, y) == fitted.score(X[y >= 0], y[y >= 0])
    assert np.mean(cross_val_score(SemiSupervisedGPClassifier(**SMALL), X, y, cv=2)) > 0.4


def test_what_is_done_to_x_afterwards_does_not_matter(clusters):
    X, y, _, _ = clusters
    X = X.copy()
    model = SemiSupervisedGPClassifier(**SMALL).fit(X, y)
    before = model.transduction_
    X[:] = 0.0
    np.testing.assert_array_equal(model.relabel(y).transduction_, before)


def test_a_label_that_is_always_the_same(clusters):
    """One of several: fine, whatever the classifier."""
    X, y, new, _ = clusters
    several = np.column_stack([np.where(y < 0, -1, y == 0), np.where(y < 0, -1, 1)])
    for classifier in ("auto", LogisticRegression()):
        model = SemiSupervisedGPClassifier(**SMALL | {"classifier": classifier}).fit(X, several)
        assert (model.predict(new)[:, 1] == 1).all()


def test_a_class_in_place_of_an_instance(clusters):
    X, y, _, _ = clusters
    with pytest.raises(ValueError, match=r"must be an instance: LogisticRegression\(\)"):
        SemiSupervisedGPClassifier(classifier=LogisticRegression).fit(X, y)


def test_weights_for_a_classifier_that_takes_none(clusters):
    X, y, _, _ = clusters
    model = SemiSupervisedGPClassifier(**SMALL | {"classifier": KNeighborsClassifier(1)})
    with pytest.raises(ValueError, match="KNeighborsClassifier does not take sample_weight"):
        model.fit(X, y, sample_weight=np.ones(90))


def test_more_latent_inputs_than_rows_are_refused(clusters):
    X, y, _, _ = clusters
    with pytest.raises(ValueError, match="n_components=90 needs 91 rows or more, not 90"):
        SemiSupervisedGPClassifier(90).fit(X, y)


def _mixed(n=60):
    """Rows of two classes, told apart by a colour, a switch and a number; and the classes, of which six are known."""
    random = np.random.default_rng(2)
    which = random.integers(2, size=n)
    colours = np.array([["red", "blue", "green"], ["black", "white", "green"]])[which, random.integers(3, size=n)]
    frame = pd.DataFrame(
        {
            "colour": np.where(random.random(n) > 0.2, colours.astype(object), None),
            "on": pd.array(which == 1, "boolean"),
            "size": random.normal(size=n) + 3 * which,
            "day": pd.to_datetime("2024-01-01") + pd.to_timedelta(random.integers(30, size=n), unit="D"),
        },
        index=[f"row {i}" for i in range(n)],
    )
    frame.loc[frame.index[::7], "on"] = pd.NA
    labels = np.full(n, None, dtype=object)
    for number in range(2):
        labels[np.flatnonzero(which == number)[:3]] = ["old", "new"][number]
    return frame, labels, np.array(["old", "new"])[which]


@pytest.fixture(scope="module")
def fitted_to_mixed():
    frame, labels, _ = _mixed()
    return SemiSupervisedGPClassifier(**SMALL).fit(frame, labels)


def test_columns_of_every_kind_are_fitted_as_their_expanded_table(fitted_to_mixed):
    """The oracle is the classifier of numbers, fitted to the expanded table."""
    frame, labels, truth = _mixed()
    columns = Columns.learn(frame)
    numbers = columns.expand(columns.encode(frame))
    assert numbers.shape[1] == 5 + 3
    plain = SemiSupervisedGPClassifier(**SMALL, scaling="columns").fit(numbers, labels)
    np.testing.assert_array_equal(fitted_to_mixed.predict_proba(frame), plain.predict_proba(numbers))
    np.testing.assert_array_equal(fitted_to_mixed.transform(frame), plain.transform(numbers))
    assert np.mean(fitted_to_mixed.transduction_ == truth) > 0.9


def test_columns_of_every_kind_come_back_full(fitted_to_mixed, tmp_path):
    frame, _, _ = _mixed()
    for filled, std in (
        fitted_to_mixed.impute(return_std=True),
        fitted_to_mixed.impute(frame.iloc[:10], return_std=True),
    ):
        rows = frame.iloc[: len(filled)]
        assert not filled.isna().any(axis=None)
        pd.testing.assert_frame_equal(filled.mask(rows.isna()), rows.mask(rows.isna()))
        assert std.columns.tolist() == frame.columns.tolist()
        np.testing.assert_array_equal(std.isna(), rows.isna())  # holes are in columns of levels only
    fitted_to_mixed.save(tmp_path / "model")
    again = semigp.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(frame), fitted_to_mixed.predict_proba(frame))
    pd.testing.assert_frame_equal(again.impute(frame), fitted_to_mixed.impute(frame))
    with pytest.raises(ValueError, match="A file does not keep a training table whose columns are not all numbers"):
        again.impute()


def test_an_array_with_categories():
    frame, labels, _ = _mixed()
    array = frame[["colour", "size"]].to_numpy(object)
    by_name = SemiSupervisedGPClassifier(**SMALL).fit(frame[["colour", "size"]], labels)
    by_place = SemiSupervisedGPClassifier(**SMALL, categorical_features=[0]).fit(array, labels)
    np.testing.assert_array_equal(by_place.predict_proba(array), by_name.predict_proba(frame[["colour", "size"]]))


def test_a_column_without_a_value_is_named():
    frame, labels, _ = _mixed()
    with pytest.raises(ValueError, match="Column 'nothing' has no value"):
        SemiSupervisedGPClassifier(**SMALL).fit(frame.assign(nothing=None), labels)
