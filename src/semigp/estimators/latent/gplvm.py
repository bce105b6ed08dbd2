"""The Bayesian GP-LVM: every input is latent, which means that it is found from the outputs alone."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any

import jax
import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.impute import KNNImputer
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ...core import InputBelief
from ...core.numerics import checks
from ...core.numerics.checks import check_finite
from ...core.numerics.mixtures import weighted
from ...core.rows.recognition import Weights, fit_back_constrained
from ...core.search.report import Callback, FitReport
from ...core.sparse.fit import fit
from ...core.sparse.model import posterior
from ...frames import FrameKind, as_frame
from ...progress import portion, steps, told, watched
from ...runtime import computing
from ..common.all_or_nothing import all_or_nothing
from ..common.blocks import blocks
from ..common.checks import check_columns
from ..common.component import TOLERANCE, Component, Recipe, start_component
from ..common.notebook import ShownInNotebooks
from ..common.numbers import naming_the_entry
from ..common.order import Arrangement
from ..common.relevance import relevance
from ..common.reports import Stopwatch, warn_of
from ..common.saving import Saved
from ..common.sklearn_private import Interval, StrOptions
from ..common.table import Table
from ..common.units import Units, scale_of
from .features import Features
from .row_beliefs import RowBeliefs
from .row_search import Embedded, search_rows

# The factor on the usual starting variance of q(x). It is small, because the components of Y are a good first guess.
_VARIANCE_START = 0.2
# A latent input counts as relevant if its relevance is at least this share of the largest one.
_LEAST_RELEVANCE = 0.02
# The default number of inducing points is one for this many rows, but between these two numbers.
_ROWS_PER_INDUCING, _INDUCING = 12, (25, 100)


class BayesianGPLVM(Saved, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ShownInNotebooks):
    """A model of rows as noisy functions of a few latent inputs, which are known only as beliefs.

    The latent inputs start at the principal components. Noise and signal are held for the first iterations, so that
    not everything is explained as noise. Latent inputs that are not needed get long lengthscales and fade out.

    Parameters
    ----------
    n_components : int
        The number of latent inputs.
    n_inducing : int, optional
        The number of inducing points. By default a twelfth of the rows, at least 25 and at most 100.
    back_constrained : bool
        Make q(x) a function of the row, fitted with everything else. New rows are then embedded at once, a hundred
        thousand in seconds. The bound becomes lower, and the embedding slightly less accurate.
    scaling : {"auto", "columns", "common"}
        Divide each column by its own standard deviation, or all by a common one, which suits images and spectra.
        "auto" scales each column by itself if the largest standard deviation is more than ten times the lower quartile.
    output_noise : {"shared", "per-output"}
        Whether each column has its own noise and signal variance.
    max_iter : int
        The largest number of iterations of the optimiser after the first stage.
    callback : callable, optional
        Called with a `Progress` after every iteration. Returning True ends the fit there.
    random_state : int, RandomState or None
    verbose : bool
        Whether whatever takes longer than two seconds shows a bar: what it is doing, the share that is done, and about
        how long it takes. This needs rich.

    Attributes
    ----------
    embedding_, embedding_std_ : (n, n_components)
        Mean and standard deviation of q(x) of the training rows.
    relevance_ : (n_components,)
        How much the outputs vary along each latent input, relative to the largest, which is 1.
    n_relevant_ : int
        The number of latent inputs with a relevance of 2 % or more.
    bound_ : float
        The bound on the log evidence of the scaled rows, hyperpriors included.
    fit_report_ : FitReport
        Status, message, trace and every stage of the fit.
    n_iter_ : int
        The number of iterations of the optimiser, over all stages.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    """

    fit_report_: FitReport
    _parameter_constraints = {  # noqa: RUF012
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "n_inducing": [Interval(Integral, 1, None, closed="left"), None],
        "back_constrained": ["boolean"],
        "scaling": [StrOptions({"auto", "columns", "common"})],
        "output_noise": [StrOptions({"shared", "per-output"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "callback": [callable, None],
        "random_state": ["random_state"],
        "verbose": ["boolean"],
    }

    def __init__(
        self,
        n_components: int = 5,
        *,
        n_inducing: int | None = None,
        back_constrained: bool = False,
        scaling: str = "auto",
        output_noise: str = "shared",
        max_iter: int = 300,
        callback: Callback | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_inducing = n_inducing
        self.back_constrained = back_constrained
        self.scaling = scaling
        self.output_noise = output_noise
        self.max_iter = max_iter
        self.callback = callback
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self):
        """Tell scikit-learn that the rows may hold NaN."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @all_or_nothing
    def fit(self, Y: Any, y: Any = None) -> BayesianGPLVM:
        """Find the latent inputs of the rows of Y, which may hold NaN."""
        self._validate_params()
        watch = Stopwatch()
        self._frame_kind = FrameKind.of(Y)
        with naming_the_entry(Y, "Y"):
            Y = validate_data(self, Y, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=2)
        check_finite("Y", Y, allow_nan=True)
        check_columns(Y, getattr(self, "feature_names_in_", None))
        if self.n_components >= len(Y):
            raise ValueError(
                f"n_components={self.n_components} needs {self.n_components + 1} rows or more, not {len(Y)}."
            )
        self._arrangement = Arrangement.of(Y)
        arranged = self._arrangement.arranged(Y)
        self._centre, self._scale = np.nanmean(arranged, axis=0), scale_of(arranged, self.scaling)
        self._rows = self._standard(Y)
        with watched("fit", self.verbose), computing():
            callback = watch.told_to(told(self.callback))
            self._fit(self._recipe(len(Y), callback), self._rows[self._arrangement.rows])
        self.fit_report_ = watch.noted_in(self.fit_report_)
        self._remember()
        # The iteration limit is no failure here: more iterations raise the bound, but seldom improve the embedding.
        warn_of(self.fit_report_, ("failed",))
        return self

    def _recipe(self, n_rows: int, callback: Callback | None) -> Recipe:
        return Recipe(
            n_inducing=self.n_inducing or int(np.clip(n_rows // _ROWS_PER_INDUCING, *_INDUCING)),
            per_output=self.output_noise == "per-output",
            constrain_means=False,
            max_iter=self.max_iter,
            random_state=int(check_random_state(self.random_state).randint(2**31 - 1)),
            callback=callback,
            variance_start=_VARIANCE_START,
        )

    def _fit(self, recipe: Recipe, rows: np.ndarray) -> None:
        unknown = np.full((len(rows), self.n_components), np.nan)
        model, data, stages = start_component(recipe, Table(unknown, rows, np.zeros(unknown.shape)))
        # Rows without any value stay where they start: at the prior.
        is_empty = np.isnan(rows).all(axis=1)[data.rows]
        model = replace(model, variance=np.where(is_empty[:, None], 1.0, model.variance))
        if self.back_constrained:
            features = Features.of(self._filled(rows), recipe.random_state)
            table = self._features_of(features, rows)
            model, weights, report = fit_back_constrained(model, data, table, stages, TOLERANCE, recipe.callback)
            self._recogniser: tuple[Features, Weights] | None = (features, weights)
        else:
            self._recogniser = None
            model, report = fit(model, data, stages, TOLERANCE, recipe.callback)
        self._component, self.fit_report_ = Component(model, data, posterior(model, data)), report

    def _remember(self) -> None:
        data, model = self._component.data, self._component.model
        is_real = np.asarray(data.rows) >= 0
        order = np.argsort(self._arrangement.rows[np.asarray(data.rows)[is_real]])
        self.embedding_ = np.asarray(model.mean)[is_real][order]
        self.embedding_std_ = np.sqrt(np.asarray(model.variance)[is_real][order])
        self.relevance_ = relevance([model.kernel], np.var(self.embedding_, axis=0))
        self.n_relevant_ = int(np.sum(self.relevance_ >= _LEAST_RELEVANCE))
        self.bound_, self.n_iter_ = self.fit_report_.bound, len(self.fit_report_.trace)
        self._n_features_out = self.n_components

    @property
    def _units(self) -> Units:
        return Units(self._centre, self._scale)

    def _standard(self, Y: np.ndarray) -> np.ndarray:
        return self._units.standard(Y[:, self._arrangement.columns])

    def _natural(self, rows: np.ndarray) -> np.ndarray:
        return self._arrangement.columns_as_given(self._units.natural(rows))

    # ---- new rows

    def transform(self, Y: Any, return_std: bool = False) -> Any:
        """Mean, and on request standard deviation, of q(x) of new rows.

        Each row is embedded on its own, and the model does not change.
        """
        Y = self._check_rows(Y)
        with watched("transform", self.verbose):
            mean, variance = self._infer(Y).moments()
        return (mean, np.sqrt(variance)) if return_std else mean

    def _check_rows(self, Y: Any) -> np.ndarray:
        check_is_fitted(self)
        with naming_the_entry(Y, "Y"):
            Y = validate_data(self, Y, dtype=np.float64, ensure_all_finite=False, reset=False)
        check_finite("Y", Y, allow_nan=True)
        return Y

    def _infer(self, Y: np.ndarray) -> RowBeliefs:
        """q(x) of new rows, by the back constraint or by a search."""
        targets = self._standard(Y)
        if self._recogniser is not None:
            features, weights = self._recogniser
            mean, variance = weights.moments(self._features_of(features, targets))
            return RowBeliefs.single(np.asarray(mean), np.asarray(variance))
        with computing():
            known = Embedded(self._rows, self._arrangement.rows, self.embedding_, self.embedding_std_)
            return search_rows((self._component.posterior,), (targets,), known, targets)

    def _features_of(self, features: Features, targets: np.ndarray) -> np.ndarray:
        """The features of rows. Rows without any value have features 0, and so stay at the prior."""
        is_empty = np.isnan(targets).all(axis=1)
        return np.where(is_empty[:, None], 0.0, features(self._filled(targets)))

    def _filled(self, targets: np.ndarray) -> np.ndarray:
        """Rows with their NaN filled in from the training row that is nearest on the known entries."""
        if not np.isnan(targets).any():
            return targets
        rows = self._rows[self._arrangement.rows]
        return KNNImputer(n_neighbors=1, keep_empty_features=True).fit(rows).transform(targets)

    # ---- back to the outputs

    def inverse_transform(self, X: Any, X_std: Any = None, return_std: bool = False) -> Any:
        """Mean, and on request standard deviation, of the rows that belong to latent inputs N(X, X_std²)."""
        check_is_fitted(self)
        X = check_array(X, dtype=np.float64, input_name="X")
        if X.shape[1] != self.n_components:
            raise ValueError(f"X has {X.shape[1]} columns; give one for each of the {self.n_components} latent inputs.")
        error = np.zeros(X.shape) if X_std is None else check_array(X_std, dtype=np.float64, input_name="X_std")
        checks.check_error_bars(error, X.shape)
        mean, variance = np.empty((2, len(X), self.n_features_in_))
        with watched("inverse_transform", self.verbose), computing():
            for rows in steps(blocks(np.arange(len(X))), "rows"):
                mean[rows], variance[rows] = self._component.predict(InputBelief(X[rows], error[rows] ** 2))
        mean, std = self._natural(mean), self._arrangement.columns_as_given(np.sqrt(variance) * self._scale)
        return (mean, std) if return_std else mean

    def impute(self, Y: Any = None, return_std: bool = False) -> Any:
        """Rows with their NaN filled in, by default the training rows, and on request their standard deviations.

        The standard deviation of a known entry is 0. Frames are returned as frames.
        """
        check_is_fitted(self)
        kind = self._frame_kind if Y is None else FrameKind.of(Y)
        with watched("impute", self.verbose):
            if Y is None:
                Y = self._natural(self._rows)
                beliefs = RowBeliefs.single(self.embedding_, self.embedding_std_**2)
            else:
                Y = self._check_rows(Y)
                with portion(0.0, 0.9):
                    beliefs = self._infer(Y)
            means, variances = np.zeros((2, len(beliefs.mean), *Y.shape))
            with portion(0.9, 1.0):
                for k, rows, mean, std in steps([*beliefs.parts()], "missing entries"):
                    means[k, rows], variances[k, rows] = self._complete(Y[rows], mean, std)
        filled, variance = weighted(means, variances, beliefs.weight)
        known = ~np.isnan(Y)
        filled = as_frame(np.where(known, Y, filled), kind)
        std = as_frame(np.where(known, 0.0, np.sqrt(variance)), kind)
        return (filled, std) if return_std else filled

    def _complete(self, Y: np.ndarray, mean: np.ndarray, std: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows whose q(x) is N(mean, std²), with their NaN filled in, and the variance of each filled entry."""
        holes = np.isnan(Y)
        filled, variance = Y.copy(), np.zeros(Y.shape)
        rows = holes.any(axis=1)
        if rows.any():
            predicted, error = self.inverse_transform(mean[rows], std[rows], return_std=True)
            filled[holes], variance[holes] = predicted[holes[rows]], error[holes[rows]] ** 2
        return filled, variance

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Draw new rows.

        For each, a latent input is drawn from q(x) of a random training row, a function is drawn from the posterior,
        and noise is added to its value there.
        """
        check_is_fitted(self)
        checks.check_count("n_samples", n_samples)
        random = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        rows = random.integers(len(self.embedding_), size=n_samples)
        inputs = self.embedding_[rows] + self.embedding_std_[rows] * random.normal(size=(n_samples, self.n_components))
        with computing():
            key = jax.random.key(int(random.integers(2**31)))
            functions = self._component.posterior.sample_functions(key, n_samples)
            values = np.asarray(functions.each(inputs))
        values = values + np.sqrt(self._component.noise_variance) * random.normal(size=values.shape)
        return self._natural(values)
