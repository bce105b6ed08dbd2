"""Classification with few labels: all rows are embedded, and a classifier learns from the labelled ones."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from ...columns import Columns
from ...core.search.report import Callback, FitReport
from ...frames import column_names
from ...progress import portion, steps, watched
from ..common.all_or_nothing import all_or_nothing
from ..common.blocks import blocks
from ..common.checks import check_columns
from ..common.filled_tables import FilledTables
from ..common.notebook import ShownInNotebooks
from ..common.outputs import PredictsFrames, names_of_outputs
from ..common.reading import collapsed, expanded, learn_inputs, names_of_inputs, read_inputs
from ..common.reports import Stopwatch
from ..common.saving import Saved
from ..common.sklearn_private import HasMethods, Interval, StrOptions
from ..latent.gplvm import BayesianGPLVM
from ..latent.row_beliefs import RowBeliefs
from .label_mixture import LabelMixture
from .labels import LabelColumn, Labels, is_known, read_labels, without_object_type
from .spaces import Locations, TrainingSpaces

# The default number of latent inputs, if there are at least as many columns. Those that are not needed fade out.
_COMPONENTS = 10
# The default number of inducing points is one for this many rows, but between these two numbers.
_ROWS_PER_INDUCING, _INDUCING = 12, (50, 100)


def _knows_probabilities(estimator: SemiSupervisedGPClassifier) -> bool:
    return isinstance(estimator.classifier, str) or hasattr(estimator.classifier, "predict_proba")


class SemiSupervisedGPClassifier(
    PredictsFrames, Saved, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, ShownInNotebooks
):
    """Classification with many rows and few labels: a Bayesian GP-LVM, and a classifier in its latent space.

    This is section 3.3 of the paper. All rows are embedded, with a label or without. The classifier learns from draws
    of q(x) of each labelled row. At prediction, probabilities are averaged over q(x*), so that they are less sure where
    the embedding is uncertain.

    Parameters
    ----------
    n_components : int, optional
        The number of latent inputs. By default 10, but at most the number of columns, and less than the number of rows.
    n_samples : int
        The number of draws from q(x) for each labelled row, and for each row to predict. With 0, only the means are
        used.
    classifier : "auto" or scikit-learn classifier
        "auto" mixes several Gaussian processes on the labels, in the latent space and on the rows themselves. Each is
        weighted by how well it explains the labels. Together they teach a linear classifier, the student. Here labelled
        rows are at their means. Any other classifier is trained on latent inputs in units of their lengthscales.
    n_inducing : int, optional
        The number of inducing points. By default a twelfth of the rows, at least 50 and at most 100.
    back_constrained, scaling, max_iter, callback
        As in `BayesianGPLVM`. If there are other columns than numbers, "auto" means "columns".
    categorical_features : list of names or numbers, or mask, optional
        Columns of X that hold categories, whatever their type. In frames, text, booleans and categories always do.
    random_state : int, RandomState or None
    verbose : bool
        Whether whatever takes longer than two seconds shows a bar: what it is doing, the share that is done, and about
        how long it takes. This needs rich.

    Attributes
    ----------
    classes_ : (n_classes,)
        The classes. With several labels per row, the column numbers of the labels.
    transduction_ : (n,) or (n, n_labels)
        The class of every training row: its label if it has one, otherwise the prediction. For a row without any value
        in X it is always the prediction.
    lvm_ : BayesianGPLVM
        The model that embeds the rows.
    classifiers_ : list
        The fitted classifier, or one for each of several labels.
    head_weights_ : dict, list of dict for several labels, or None
        With "auto", the weight of each Gaussian process and of the student.
    embedding_, embedding_std_, relevance_, n_relevant_, bound_, fit_report_
        As in `BayesianGPLVM`.
    labelled_ : (l,)
        The numbers of the rows that have a label.
    output_names_ : list of str, or None
        The names of the labels, if y was a frame, or a series with a name.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    One labelled row per class is enough. Columns without any value, and fewer than two classes, are errors. A row
    without any value is embedded at the prior. If columns have different units, see `scaling`. In a frame, columns may
    also hold text, booleans, categories and times. More than two categories without an order become columns of 0 and 1.
    """

    fit_report_: FitReport
    _columns: Columns | None = None
    _filled_tables: FilledTables | None = None
    _FORMER_NAMES: ClassVar = {"_landscape": "_spaces"}
    _parameter_constraints = {  # noqa: RUF012
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "n_samples": [Interval(Integral, 0, None, closed="left")],
        "classifier": [StrOptions({"auto"}), HasMethods(["fit", "predict"])],
        "categorical_features": ["array-like", None],
        **{
            name: BayesianGPLVM._parameter_constraints[name]
            for name in ("n_inducing", "back_constrained", "scaling", "max_iter", "callback", "random_state")
        },
        "verbose": ["boolean"],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_samples: int = 6,
        classifier: Any = "auto",
        n_inducing: int | None = None,
        back_constrained: bool = False,
        scaling: str = "auto",
        max_iter: int = 300,
        callback: Callback | None = None,
        random_state: Any = None,
        categorical_features: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_samples = n_samples
        self.classifier = classifier
        self.n_inducing = n_inducing
        self.back_constrained = back_constrained
        self.scaling = scaling
        self.max_iter = max_iter
        self.callback = callback
        self.random_state = random_state
        self.categorical_features = categorical_features
        self.verbose = verbose

    def __sklearn_tags__(self):
        """Tell scikit-learn that X may hold NaN, and that a row may have several labels."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.classifier_tags.multi_label = True
        return tags

    # ---- fitting

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SemiSupervisedGPClassifier:
        """Embed all rows of X and learn from those that have a label.

        Parameters
        ----------
        X : array (n, p), or frame
            NaN, None, NA or null where missing.
        y : (n,) or (n, n_labels)
            Classes of any type; -1, NaN or None mark rows without a label. A matrix (n, n_labels) of 0 and 1 gives
            several labels per row, each of which may be unknown.
        sample_weight : (n,), optional
            Weights of the labels. They have no influence on the embedding.
        """
        self._validate_params()
        watch = Stopwatch()
        if isinstance(self.classifier, type):
            raise ValueError(f"classifier must be an instance: {self.classifier.__name__}(), not the class itself.")
        codes = learn_inputs(self, X, self.categorical_features, copy=True, ensure_min_samples=2)
        check_columns(codes, names_of_inputs(self))
        self._filled_tables = None if self._columns is None else FilledTables.like(X, self._columns)
        X = expanded(self, codes)
        labels, self.output_names_ = read_labels(X, y, sample_weight), column_names(y)
        random = check_random_state(self.random_state)
        with watched("fit", self.verbose):
            self.lvm_ = self._lvm(X.shape, random.randint(2**31 - 1), watch).fit(X)
            self._embed(X, random)
            self._learn(labels, sample_weight is not None)
        self.fit_report_ = watch.noted_in(self.fit_report_)
        return self

    def _embed(self, X: np.ndarray, random: np.random.RandomState) -> None:
        """Keep what the embedding of all rows has found."""
        for name in ("embedding_", "embedding_std_", "relevance_", "n_relevant_", "bound_", "fit_report_", "n_iter_"):
            setattr(self, name, getattr(self.lvm_, name))
        self._n_features_out = self.lvm_.n_components
        # Every predicted row gets the same noise, so that its probabilities do not depend on the rows beside it.
        self._noise = _antithetic_normal(self.n_samples, self._n_features_out, random)
        self._seed = random.randint(2**31 - 1)
        self._lengthscale = np.asarray(self.lvm_._component.model.kernel.lengthscale)
        self._rows = X
        self._spaces = self._training_spaces() if isinstance(self.classifier, str) else None

    @all_or_nothing
    def relabel(self, y: Any, sample_weight: Any = None) -> SemiSupervisedGPClassifier:
        """Learn from other labels of the same rows. The embedding stays, so this gives the result of `fit` at once."""
        check_is_fitted(self)
        labels = read_labels(self._rows, y, sample_weight)
        with watched("relabel", self.verbose):
            return self._learn(labels, sample_weight is not None)

    def _learn(self, labels: Labels, is_weighted: bool) -> SemiSupervisedGPClassifier:
        self._labels, self.classes_, self.head_weights_ = labels, labels.classes, None
        self.labelled_ = np.unique(np.concatenate([column.rows for column in labels.columns]))
        if self._spaces is not None:
            self.classifiers_ = [LabelMixture(self._spaces, column) for column in labels.columns]
            weights = [classifier.weights for classifier in self.classifiers_]
            self.head_weights_ = weights if labels.is_multilabel else weights[0]
        else:
            random = np.random.RandomState(self._seed)
            self.classifiers_ = [self._fit_given(column, is_weighted, random) for column in labels.columns]
        beliefs = RowBeliefs.single(self.embedding_, self.embedding_std_**2)
        self.transduction_ = labels.completed(labels.decide(self._probabilities(self._rows, beliefs)))
        return self

    def _training_spaces(self) -> TrainingSpaces:
        columns = self.lvm_._standard(self.lvm_.impute())
        return TrainingSpaces(Locations(self.embedding_, columns), self._lengthscale)

    def _lvm(self, shape: tuple[int, int], random_state: int, watch: Stopwatch) -> BayesianGPLVM:
        n, p = shape
        return BayesianGPLVM(
            self.n_components or min(_COMPONENTS, p, n - 1),
            n_inducing=self.n_inducing or int(np.clip(n // _ROWS_PER_INDUCING, *_INDUCING)),
            back_constrained=self.back_constrained,
            scaling="columns" if self.scaling == "auto" and self._columns is not None else self.scaling,
            max_iter=self.max_iter,
            callback=watch.told_to(self.callback),
            random_state=random_state,
        )

    def _fit_given(self, column: LabelColumn, is_weighted: bool, random: np.random.RandomState) -> Any:
        """Fit the user's classifier to the labelled rows, with one copy of a row for each of its draws."""
        mean, std = self.embedding_[column.rows], self.embedding_std_[column.rows]
        copies = len(self._noise)
        noise = random.normal(size=(copies, *mean.shape)) if self.n_samples else np.zeros((1, *mean.shape))
        inputs = ((mean + std * noise) / self._lengthscale).reshape(-1, mean.shape[1])
        options = {}
        if is_weighted:
            if not has_fit_parameter(self.classifier, "sample_weight"):
                raise ValueError(f"{type(self.classifier).__name__} does not take sample_weight.")
            options["sample_weight"] = np.tile(column.weights, copies)
        if len(np.unique(column.classes)) < 2:  # one of several labels, with the same value wherever it is known
            return DummyClassifier().fit(inputs, np.tile(column.classes, copies))
        return clone(self.classifier).fit(inputs, np.tile(column.classes, copies), **options)

    # ---- predicting

    def predict(self, X: Any) -> Any:
        """The most probable class of each row. With several labels, 0 or 1 for each of them."""
        classes = self._decided(X)
        by_label = classes.reshape(len(classes), -1).T
        frame = self._framed(X, dict(zip(names_of_outputs(self, len(by_label)), by_label, strict=True)))
        return classes if frame is None else frame

    @available_if(_knows_probabilities)
    def predict_proba(self, X: Any) -> Any:
        """The probability of each class (n, n_classes). With several labels, that of each label (n, n_labels)."""
        found = self._predict(X, "predict_proba")
        probabilities, names = found[0], [str(name) for name in self.classes_]
        if self._labels.is_multilabel:
            probabilities, names = np.column_stack([each[:, 1] for each in found]), names_of_outputs(self, len(found))
        frame = self._framed(X, dict(zip(names, probabilities.T, strict=True)))
        return probabilities if frame is None else frame

    def transform(self, X: Any, return_std: bool = False) -> Any:
        """Mean, and on request standard deviation, of q(x). See `BayesianGPLVM.transform`."""
        X = self._check_rows(X)
        with watched("transform", self.verbose):
            return self.lvm_.transform(X, return_std)

    def impute(self, X: Any = None, return_std: bool = False) -> Any:
        """Rows with their NaN filled in, by default the training rows. See `BayesianGPLVM.impute`.

        A frame with columns of several kinds gets its own types back. Levels have no standard deviation: it is NaN.
        """
        check_is_fitted(self)
        with watched("impute", self.verbose):
            if self._filled_tables is None:
                return self.lvm_.impute(X, return_std)
            rows = None if X is None else self._check_rows(X)
            mean, error = self.lvm_.impute(rows, return_std=True)
        codes, std = collapsed(self, mean, error)
        filled = self._filled_tables.filled(codes, X)
        return (filled, self._filled_tables.spreads(std, X)) if return_std else filled

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy on the rows whose labels are known. Rows without a label do not count."""
        y = np.asarray(y)
        known = is_known(y) if y.ndim == 1 else np.all([is_known(column) for column in y.T], axis=0)
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        return accuracy_score(without_object_type(y[known]), self._decided(X)[known], sample_weight=weights)

    def _decided(self, X: Any) -> np.ndarray:
        return self._labels.decide(self._predict(X, "predict"))

    def _predict(self, X: Any, title: str) -> list[np.ndarray]:
        X = self._check_rows(X)
        results = [np.zeros((len(X), column.n_classes)) for column in self._labels.columns]
        with watched(title, self.verbose):
            for rows in steps(blocks(np.arange(len(X))), "rows"):
                with portion(0.0, 0.7):
                    beliefs = self.lvm_._infer(X[rows])
                with portion(0.7, 1.0):
                    for result, found in zip(results, self._probabilities(X[rows], beliefs), strict=True):
                        result[rows] = found
        return results

    def _check_rows(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return expanded(self, read_inputs(self, X))

    def _probabilities(self, X: np.ndarray, beliefs: RowBeliefs) -> list[np.ndarray]:
        """The class probabilities of every row, averaged over its q(x), for every column of labels."""
        results = [np.zeros((len(X), column.n_classes)) for column in self._labels.columns]
        for k, rows, mean, std in steps([*beliefs.parts()], "classes"):
            weight = beliefs.weight[k, rows, None] / len(self._noise)
            columns = self.lvm_._standard(self.lvm_._complete(X[rows], mean, std)[0])
            for noise in steps(self._noise, "classes"):
                locations = Locations(mean + std * noise, columns)
                for result, classifier, column in zip(results, self.classifiers_, self._labels.columns, strict=True):
                    result[rows] += weight * self._classify(classifier, column, locations)
        return results

    def _classify(self, classifier: Any, column: LabelColumn, locations: Locations) -> np.ndarray:
        if isinstance(classifier, LabelMixture):
            return classifier.predict(locations)
        inputs = locations.latent / self._lengthscale
        result = np.zeros((len(inputs), column.n_classes))
        if hasattr(classifier, "predict_proba"):
            result[:, classifier.classes_] = classifier.predict_proba(inputs)
        else:  # without probabilities, every draw has one vote
            result[np.arange(len(inputs)), classifier.predict(inputs)] = 1.0
        return result


def _antithetic_normal(count: int, n_inputs: int, random: np.random.RandomState) -> np.ndarray:
    """Normal draws in pairs z and -z, so that an even number of draws has mean 0. If `count` is 0, a single zero."""
    half = random.normal(size=((count + 1) // 2, n_inputs))
    return np.concatenate([half, -half])[:count] if count else np.zeros((1, n_inputs))
