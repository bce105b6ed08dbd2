"""Classification with few labels: all rows are embedded, and the labelled ones tell the classes of the others."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from ...core.search.report import Callback, FitReport
from ...frames import column_names
from ..common.all_or_nothing import all_or_nothing
from ..common.checks import check_columns
from ..common.reports import Stopwatch
from ..common.saving import Saved
from ..common.sklearn_private import HasMethods, Interval, StrOptions
from ..latent.gplvm import BayesianGPLVM
from ..latent.row_beliefs import RowBeliefs
from .label_mixture import LabelMixture
from .labels import LabelColumn, Labels, is_known, read_labels, without_object_type
from .spaces import Locations, TrainingSpaces

# Latent inputs by default, if there are as many columns: those that are not needed are switched off.
_COMPONENTS = 10


def _knows_probabilities(estimator: SemiSupervisedGPClassifier) -> bool:
    return isinstance(estimator.classifier, str) or hasattr(estimator.classifier, "predict_proba")


class SemiSupervisedGPClassifier(
    Saved, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator
):
    """Many rows, few labels: a Bayesian GP-LVM of all rows, and a classifier in its latent space.

    Section 3.3 of the paper: rows are embedded whether they have labels or not; each labelled row stands for draws
    from its q(x); at prediction, probabilities are averaged over q(x*), so that they are softer where the embedding
    is unsure.

    Parameters
    ----------
    n_components : int, optional
        Latent inputs; by default 10, or as many as there are columns.
    n_samples : int
        Draws from q(x) for each labelled row, and for each row to predict; 0 = means only.
    classifier : "auto" or scikit-learn classifier
        "auto" mixes Gaussian processes on the labels, in latent space and on the rows themselves, by the likelihood of
        labels left out; it keeps labelled rows at their means. Any other classifier is trained on latent inputs in
        units of their lengthscales.
    n_inducing, back_constrained, scaling, max_iter, callback
        As in `BayesianGPLVM`.
    random_state : int, RandomState or None

    Attributes
    ----------
    classes_ : (n_classes,)
        Or, for several labels per row, their column numbers.
    transduction_ : (n,) or (n, n_labels)
        The class of every training row: its label if it has one, and any value, else what is predicted.
    lvm_ : BayesianGPLVM
    classifiers_ : list
        The fitted classifier, or one for each of several labels.
    head_weights_ : dict, a list of them for several labels, or None
        With "auto", the share of each Gaussian process.
    embedding_, embedding_std_, relevance_, n_relevant_, bound_, fit_report_
        As in `BayesianGPLVM`.
    labelled_ : (l,)
        Numbers of the rows that have a label.
    output_names_ : list of str, or None
        Of the labels, where they came as a frame or a series with a name.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A class with a single labelled row is fine. Columns without any value and fewer than two classes are errors; a row
    without any value is embedded at the prior. Scale columns in different units as `scaling` says.
    """

    fit_report_: FitReport
    _FORMER_NAMES: ClassVar = {"_landscape": "_spaces"}
    _parameter_constraints = {  # noqa: RUF012
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "n_samples": [Interval(Integral, 0, None, closed="left")],
        "classifier": [StrOptions({"auto"}), HasMethods(["fit", "predict"])],
        **{
            name: BayesianGPLVM._parameter_constraints[name]
            for name in ("n_inducing", "back_constrained", "scaling", "max_iter", "callback", "random_state")
        },
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

    def __sklearn_tags__(self):
        """NaN is welcome in X, and several labels per row."""
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
        X : (n, p)
            NaN where missing.
        y : (n,)
            Classes of any type; -1, NaN or None mark rows without a label. A matrix (n, n_labels) of 0 and 1 gives
            several labels per row, each of which may be unknown by itself.
        sample_weight : (n,), optional
            Of the labels; rows without one are embedded whatever their weight.
        """
        self._validate_params()
        watch = Stopwatch()
        if isinstance(self.classifier, type):
            raise ValueError(f"classifier must be an instance: {self.classifier.__name__}(), not the class itself.")
        options = {"dtype": np.float64, "ensure_all_finite": "allow-nan", "ensure_min_samples": 2}
        X = validate_data(self, X, copy=True, **options)
        check_columns(X, getattr(self, "feature_names_in_", None))
        labels, self.output_names_ = read_labels(X, y, sample_weight), column_names(y)
        random = check_random_state(self.random_state)
        self.lvm_ = self._lvm(X.shape, random.randint(2**31 - 1), watch).fit(X)
        for name in ("embedding_", "embedding_std_", "relevance_", "n_relevant_", "bound_", "fit_report_", "n_iter_"):
            setattr(self, name, getattr(self.lvm_, name))
        self._n_features_out = self.lvm_.n_components
        # The same noise for every row that is predicted: what is said of a row does not depend on the others.
        self._noise = _antithetic_normal(self.n_samples, self._n_features_out, random)
        self._seed = random.randint(2**31 - 1)
        self._lengthscale = np.asarray(self.lvm_._component.model.kernel.lengthscale)
        self._rows = X
        self._spaces = self._training_spaces() if isinstance(self.classifier, str) else None
        self._learn(labels, sample_weight is not None)
        self.fit_report_ = watch.noted_in(self.fit_report_)
        return self

    @all_or_nothing
    def relabel(self, y: Any, sample_weight: Any = None) -> SemiSupervisedGPClassifier:
        """Learn from other labels of the same rows. The embedding stays: what `fit` would have given, at once."""
        check_is_fitted(self)
        return self._learn(read_labels(self._rows, y, sample_weight), sample_weight is not None)

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
            n_inducing=self.n_inducing,
            back_constrained=self.back_constrained,
            scaling=self.scaling,
            max_iter=self.max_iter,
            callback=watch.told_to(self.callback),
            random_state=random_state,
        )

    def _fit_given(self, column: LabelColumn, is_weighted: bool, random: np.random.RandomState) -> Any:
        """The user's classifier on the labelled rows, each as often as it has draws."""
        mean, std = self.embedding_[column.rows], self.embedding_std_[column.rows]
        copies = len(self._noise)
        noise = random.normal(size=(copies, *mean.shape)) if self.n_samples else np.zeros((1, *mean.shape))
        inputs = ((mean + std * noise) / self._lengthscale).reshape(-1, mean.shape[1])
        options = {}
        if is_weighted:
            if not has_fit_parameter(self.classifier, "sample_weight"):
                raise ValueError(f"{type(self.classifier).__name__} does not take sample_weight.")
            options["sample_weight"] = np.tile(column.weights, copies)
        if len(np.unique(column.classes)) < 2:  # one of several labels, the same wherever it is known
            return DummyClassifier().fit(inputs, np.tile(column.classes, copies))
        return clone(self.classifier).fit(inputs, np.tile(column.classes, copies), **options)

    # ---- predicting

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row; 0 or 1 for each of several labels."""
        probabilities = self._predict(X)
        return self._labels.decide(probabilities)

    @available_if(_knows_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class (n, n_classes), or of each of several labels (n, n_labels)."""
        probabilities = self._predict(X)
        if self._labels.is_multilabel:
            return np.column_stack([each[:, 1] for each in probabilities])
        return probabilities[0]

    def transform(self, X: Any, return_std: bool = False) -> Any:
        """Mean, and on request standard deviation, of q(x): see `BayesianGPLVM.transform`."""
        X = self._check_rows(X)
        return self.lvm_.transform(X, return_std)

    def impute(self, X: Any = None, return_std: bool = False) -> Any:
        """Rows with their NaN filled in, by default those of `fit`: see `BayesianGPLVM.impute`."""
        check_is_fitted(self)
        return self.lvm_.impute(X, return_std)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy on the rows whose labels are known: rows without one do not count."""
        y = np.asarray(y)
        known = is_known(y) if y.ndim == 1 else np.all([is_known(column) for column in y.T], axis=0)
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        return accuracy_score(without_object_type(y[known]), self.predict(X)[known], sample_weight=weights)

    def _predict(self, X: Any) -> list[np.ndarray]:
        X = self._check_rows(X)
        return self._probabilities(X, self.lvm_._infer(X))

    def _check_rows(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)

    def _probabilities(self, X: np.ndarray, beliefs: RowBeliefs) -> list[np.ndarray]:
        """Averages over q(x) of the class probabilities, for every column of labels."""
        results = [np.zeros((len(X), column.n_classes)) for column in self._labels.columns]
        for k, rows, mean, std in beliefs.parts():
            weight = beliefs.weight[k, rows, None] / len(self._noise)
            columns = self.lvm_._standard(self.lvm_._complete(X[rows], mean, std)[0])
            for noise in self._noise:
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
        else:  # a vote
            result[np.arange(len(inputs)), classifier.predict(inputs)] = 1.0
        return result


def _antithetic_normal(count: int, n_inputs: int, random: np.random.RandomState) -> np.ndarray:
    """Normal draws in pairs that cancel, so that the mean of an even number of them is exact; without draws, a zero."""
    half = random.normal(size=((count + 1) // 2, n_inputs))
    return np.concatenate([half, -half])[:count] if count else np.zeros((1, n_inputs))
