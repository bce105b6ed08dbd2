"""Regression on more rows than fit in memory. Inputs may be missing."""

from __future__ import annotations

import math
from dataclasses import replace
from numbers import Integral
from typing import Any

import jax
import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from ...columns import Columns
from ...core import InputBelief
from ...core.inputs.joint_gaussian import complete_rows, fit_joint_gaussian
from ...core.numerics import checks
from ...core.numerics.precision import in_float64
from ...core.rows.converged import infer_rows
from ...core.rows.few_steps import KnownRows
from ...core.search.report import Callback, FitReport, labelled
from ...core.sparse.defaults import default_hyperpriors, idle_parameters
from ...core.stream.fit import Schedule, fit_in_batches
from ...core.stream.objective import Parameters, Setting, Whitened, whitened_from_blocks
from ...frames import FrameKind, column_names
from ...progress import steps, told, watched
from ...runtime import computing
from ..common.all_or_nothing import all_or_nothing
from ..common.blocks import ROWS_TO_INFER, blocks
from ..common.checks import check_columns, check_outputs
from ..common.component import LENGTHSCALE_SPREAD, Component, Recipe, fit_component
from ..common.filled_tables import FilledTables
from ..common.notebook import ShownInNotebooks
from ..common.outputs import PredictsOutputs
from ..common.reading import (
    collapsed,
    expanded,
    expanded_bars,
    largest_of_groups,
    learn_inputs,
    names_of_inputs,
    read_error_bars,
    read_inputs,
)
from ..common.relevance import relevance
from ..common.reports import Stopwatch, warn_of
from ..common.saving import Saved
from ..common.sklearn_private import Interval
from ..common.table import Table
from .batches import Batches
from .first_pass import FirstPass, first_pass
from .row_sources import ArrayRows, RowSource

# The number of rows to which a first model is fitted, all at once.
_SAMPLE_ROWS = 2000
# The largest number of complete rows of the sample with which incomplete rows are compared.
_KNOWN_ROWS = 500
# The smallest number of steps of a fit, if the user does not set the number of passes.
_MIN_STEPS = 1000
# With at least this many passes of steps, L-BFGS over whole passes follows, in rounds of at most this many iterations.
_PASSES_TO_ASCEND, _MOST_ASCENTS = 10, 25


class StreamingGPRegressor(PredictsOutputs, Saved, MultiOutputMixin, RegressorMixin, ShownInNotebooks):
    """Gaussian process regression in batches: memory does not grow with the number of rows.

    The model is the same as in `SemiDescribedGPRegressor` with a Gaussian q(x) for each incomplete row. The fit starts
    from a model of a sample of 2000 rows. Batches then improve q(U) by natural gradients, and all other parameters by
    Adam. In every batch, q(x) of its incomplete rows is inferred again. With ten passes or more, L-BFGS then raises the
    exact bound of all rows, which are read again in every iteration, with q(x) kept in a temporary file. A last pass
    computes the exact q(U) and bound for the parameters that were found.

    Parameters
    ----------
    n_inducing : int
        The number of inducing points.
    batch_size : int
        The number of rows per step.
    n_passes : int, optional
        The number of passes of steps over all rows. By default one, or as many as are needed for 1000 steps. There are
        further passes: the first, which measures the columns, the passes of L-BFGS, and the last.
    max_iter : int
        The largest number of iterations of the optimiser, in each stage, for the first model of a sample.
    callback : callable, optional
        Called with a `Progress` about a hundred times in a fit. Returning True ends the steps there.
    random_state : int, RandomState or None
    categorical_features : list of names or numbers, or mask, optional
        Columns of X that hold categories, whatever their type. In frames, text, booleans and categories always do. More
        than two categories without an order become columns of 0 and 1.
    verbose : bool
        Whether whatever takes longer than two seconds shows a bar: what it is doing, the share that is done, and about
        how long it takes. This needs rich.

    Attributes
    ----------
    bound_ : float
        The collapsed bound on the log evidence of the standardised outputs of all rows, hyperpriors included.
    fit_report_ : FitReport
        Status, message, and the trace of the bound, as estimated from batches. "converged" means that the last tenth of
        the estimates was no higher than the tenth before, or that the last round of L-BFGS gained less than 0.1 %.
    n_iter_ : int
        The number of steps.
    n_rows_ : int
        The number of rows with an output. These are the rows from which the model was learned.
    noise_variance_ : (p,)
        The noise variance of the outputs, in their own units squared.
    relevance_ : (q,)
        How much each input matters, as in `SemiDescribedGPRegressor`. Of columns of 0 and 1 that stand for one input,
        the most relevant counts. Columns that are left out, such as identifiers, have no entry.
    output_names_ : list of str, or None
        The names of the outputs, if they have names.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from semigp import StreamingGPRegressor
    >>> X = np.random.default_rng(0).normal(size=(5000, 2))
    >>> y = np.sin(X[:, 0]) + X[:, 1]
    >>> X[::10, 1] = np.nan
    >>> model = StreamingGPRegressor(20, n_passes=2, random_state=0).fit(X, y)
    >>> bool(abs(model.predict([[0.5, 0.5]])[0] - np.sin(0.5) - 0.5) < 0.1)
    True
    """

    _columns: Columns | None = None
    _parameter_constraints = {  # noqa: RUF012
        "n_inducing": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "n_passes": [Interval(Integral, 1, None, closed="left"), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "callback": [callable, None],
        "random_state": ["random_state"],
        "categorical_features": ["array-like", None],
        "verbose": ["boolean"],
    }

    def __init__(
        self,
        n_inducing: int = 100,
        *,
        batch_size: int = 2000,
        n_passes: int | None = None,
        max_iter: int = 300,
        callback: Callback | None = None,
        random_state: Any = None,
        categorical_features: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_inducing = n_inducing
        self.batch_size = batch_size
        self.n_passes = n_passes
        self.max_iter = max_iter
        self.callback = callback
        self.random_state = random_state
        self.categorical_features = categorical_features
        self.verbose = verbose

    def __sklearn_tags__(self):
        """Tell scikit-learn that X may hold NaN."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    # ---- fitting

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> StreamingGPRegressor:
        """Fit to rows with holes.

        Parameters
        ----------
        X : array (n, q), frame, or a source of rows
            NaN, None, NA or null where missing. A memory-mapped array is read block by block. A source of rows, such as
            `ParquetRows`, also has the outputs.
        y : (n,) or (n, p)
            NaN where missing. Rows without any output are left out.
        """
        self._validate_params()
        watch = Stopwatch()
        source = self._source(X, y)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        random = np.random.default_rng(seed)
        with watched("fit", self.verbose), computing():
            known = first_pass(source, _SAMPLE_ROWS, random)
            self._x_units, self._y_units, self.n_rows_ = known.x_units, known.y_units, known.n_rows
            self._fit(Batches(source, known, self.batch_size), known, seed, random, watch)
        warn_of(self.fit_report_)
        return self

    def _source(self, X: Any, y: Any) -> RowSource:
        if isinstance(X, RowSource):
            if y is not None:
                raise ValueError("A source of rows also has the outputs: leave y out.")
            if not X.n_blocks:
                raise ValueError("The source has no rows.")
            inputs, outputs = X.read(0)
            self._columns = None
            self.output_names_, self._y_is_flat = X.output_names, outputs.shape[1] == 1
            self._name_features(X, inputs.shape[1])
            return X
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        self.output_names_ = column_names(y)
        X, y = self._check_training(X, y)
        self._y_is_flat = y.ndim == 1
        return ArrayRows(X, y)

    def _name_features(self, source: RowSource, n_features: int) -> None:
        """Set the attributes that scikit-learn's validation would have set from a frame."""
        self.n_features_in_ = n_features
        if source.input_names is not None:
            self.feature_names_in_ = np.asarray(source.input_names, object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _check_training(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """The checked arrays. Arrays of floating point are not copied. Infinite values are found on the first pass."""
        kinds = [np.float64, np.float32]
        how: dict[str, Any] = {"dtype": kinds, "ensure_all_finite": False, "ensure_min_samples": 2, "order": None}
        X = learn_inputs(self, X, self.categorical_features, **how)
        if self._columns is not None:
            check_columns(X, names_of_inputs(self))
            X = expanded(self, X)
        y = check_array(y, dtype=kinds, ensure_all_finite=False, ensure_2d=False, input_name="y")
        check_consistent_length(X, y)
        return X, y

    def _fit(
        self, batches: Batches, known: FirstPass, seed: int, random: np.random.Generator, watch: Stopwatch
    ) -> None:
        callback = watch.told_to(told(self.callback))
        self._prior = fit_joint_gaussian(known.inputs)
        sample, report = self._fit_sample(known, seed, labelled(callback, part=1, parts=2))
        is_linear = known.n_incomplete == 0
        hyperpriors = default_hyperpriors(known.inputs.shape[1], is_linear, LENGTHSCALE_SPREAD)
        complete = ~np.isnan(np.column_stack([known.inputs, known.targets])).any(axis=1)
        examples = KnownRows(known.inputs[complete][:_KNOWN_ROWS], known.targets[complete][:_KNOWN_ROWS])
        setting = Setting(self._prior, examples, hyperpriors, sample.data.jitter)
        parameters, n_sample = Parameters.of(sample.model), len(known.inputs)
        per_pass = math.ceil(known.n_rows / batches.size)
        n_passes = self.n_passes or max(1, math.ceil(_MIN_STEPS / per_pass))
        self._posterior, self.fit_report_ = fit_in_batches(
            parameters,
            _first_q(sample, batches, parameters, setting, known.n_rows / n_sample),
            setting,
            batches.endless(random),
            batches.once,
            Schedule(
                0 if report.status == "interrupted" else n_passes * per_pass,
                0 if report.status == "interrupted" else _whole_passes(n_passes),
                n_sample / batches.size,
                batches.size / known.n_rows,
            ),
            idle_parameters(is_linear),
            labelled(callback, part=2, parts=2),
        )
        self.fit_report_ = watch.noted_in(self.fit_report_)
        self.bound_, self.n_iter_ = self.fit_report_.bound, max(1, self.fit_report_.stages[0][2])
        self.relevance_ = largest_of_groups(self, relevance([self._posterior.kernel]))
        self.noise_variance_ = self._posterior.likelihood.noise_variance * self._y_units.std**2

    def _fit_sample(self, known: FirstPass, seed: int, callback: Callback | None) -> tuple[Component, FitReport]:
        """Fit a model to all rows of the sample at once. q(x) starts from a joint Gaussian of inputs and outputs."""
        recipe = Recipe(
            n_inducing=self.n_inducing,
            per_output=True,
            constrain_means=False,
            max_iter=self.max_iter,
            random_state=seed,
            callback=callback,
            linear=known.n_incomplete == 0,
            lengthscale_spread=LENGTHSCALE_SPREAD,
        )
        both = np.column_stack([known.inputs, known.targets])
        mean, covariance = complete_rows(fit_joint_gaussian(both), both)
        variance = np.diagonal(covariance, axis1=1, axis2=2)
        q = known.inputs.shape[1]
        table = Table(known.inputs, known.targets, np.zeros(known.inputs.shape), moments=(mean[:, :q], variance[:, :q]))
        return fit_component(recipe, table, self._prior)

    # ---- new rows

    def _output_moments(self, X: Any, X_std: Any) -> tuple[np.ndarray, np.ndarray]:
        _, inputs, error = self._check_new(X, X_std)
        mean, std = np.empty((2, len(inputs), len(self._y_units)))
        with watched("predict", self.verbose), computing():
            for rows in steps(blocks(np.arange(len(inputs))), "rows"):
                mean[rows], std[rows] = self._predict(inputs[rows], error[rows])
        return mean, std

    def _check_new(self, X: Any, X_std: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The new rows in their own units, the rows in standard units, and error bars in standard units."""
        check_is_fitted(self)
        codes = read_inputs(self, X)
        error = expanded_bars(self, read_error_bars(self, X_std, codes))
        rows = expanded(self, codes)
        return rows, self._x_units.standard(rows), error / self._x_units.std

    def _predict(self, inputs: np.ndarray, error: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean, variance = np.empty((2, len(inputs), self._posterior.n_outputs))
        is_uncertain = (np.isnan(inputs) | (error > 0)).any(axis=1)
        for rows in (np.flatnonzero(~is_uncertain), np.flatnonzero(is_uncertain)):
            if len(rows):
                mean[rows], variance[rows] = self._posterior.predict(self._belief(inputs[rows], error[rows]))
        variance = variance + self._posterior.likelihood.noise_variance
        return self._y_units.natural(mean), np.sqrt(variance) * self._y_units.std

    def _belief(self, inputs: np.ndarray, error: np.ndarray) -> InputBelief:
        """The belief about new rows: certain if all entries are, otherwise missing entries given the known ones."""
        if not (np.isnan(inputs) | (error > 0)).any():
            return InputBelief.observed(inputs)
        mean, covariance = complete_rows(self._prior, inputs)
        return InputBelief(mean, covariance + (error**2)[:, :, None] * np.eye(error.shape[1]))

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Draws of the outputs at new inputs, (n, n_samples) or (n, p, n_samples), with noise.

        The rows of a draw are from the same function.
        """
        _, inputs, _ = self._check_new(X)
        checks.check_count("n_samples", n_samples)
        random = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        with watched("sample_y", self.verbose), computing():
            mean, covariance = complete_rows(self._prior, inputs)
            functions = self._posterior.sample_functions(jax.random.key(int(random.integers(2**31))), n_samples)
            draws = [_draw_rows(mean, covariance, random) for _ in range(n_samples)]
            values = np.stack([functions(draw)[i] for i, draw in enumerate(steps(draws, "functions"))], axis=-1)
        noise = np.sqrt(self._posterior.likelihood.noise_variance)[:, None] * random.normal(size=values.shape)
        samples = (values + noise) * self._y_units.std[:, None] + self._y_units.mean[:, None]
        return samples[:, 0] if self._y_is_flat else samples

    def impute(self, X: Any, y: Any = None, return_std: bool = False) -> Any:
        """Posterior mean, and on request standard deviation, of the inputs of rows with NaN.

        Without outputs `y` the inputs are inferred from each other, under the joint Gaussian. The rows X must be given,
        because the training rows are not kept. Frames are returned as frames. Levels have no standard deviation: it
        is NaN.
        """
        rows, inputs, _ = self._check_new(X)
        is_known = ~np.isnan(rows)
        outputs = None if y is None else self._y_units.standard(check_outputs(y, rows, len(self._y_units)))
        mean, variance = np.empty((2, *inputs.shape))
        with watched("impute", self.verbose), computing():
            for some in steps(blocks(np.arange(len(inputs)), size=ROWS_TO_INFER), "missing entries"):
                mean[some], variance[some] = self._infer(inputs[some], None if outputs is None else outputs[some])
        natural = np.where(is_known, rows, self._x_units.natural(mean))
        codes, std = collapsed(self, natural, np.where(is_known, 0.0, np.sqrt(variance) * self._x_units.std))
        tables = FilledTables(FrameKind.of(X), self._columns)
        filled, std = tables.filled(codes, X), tables.spreads(std, X)
        return (filled, std) if return_std else filled

    def _infer(self, inputs: np.ndarray, outputs: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of the inputs of new rows, in standard units."""
        mean, covariance = complete_rows(self._prior, inputs)
        variance = np.diagonal(covariance, axis1=1, axis2=2)
        is_known = ~np.isnan(inputs)
        if outputs is None or is_known.all():
            return mean, variance
        start = mean, np.where(is_known, 1.0, variance)
        return infer_rows(self._posterior, outputs, *start, inputs, self._prior)[:2]


def _whole_passes(n_passes: int) -> int:
    """The number of iterations of L-BFGS in a round.

    An evaluation costs a fraction of a pass of steps, and a round costs one more pass.
    """
    return min(n_passes // 2, _MOST_ASCENTS) if n_passes >= _PASSES_TO_ASCEND else 0


def _draw_rows(mean: np.ndarray, covariance: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """A draw from N(mean, covariance) for every row. Entries with variance 0 are at their means."""
    spectrum, axes = np.linalg.eigh(covariance)
    noise = np.sqrt(np.maximum(spectrum, 0.0)) * random.normal(size=mean.shape)
    return mean + np.einsum("nij,nj->ni", axes, noise)


def _first_q(sample: Component, batches: Batches, parameters: Parameters, setting: Setting, scale: float) -> Whitened:
    """q(U) from the sample, scaled up to all rows, with the same groups of outputs as the batches."""
    blocks = sample.data.blocks(sample.model)
    regrouped = tuple(replace(block, targets=batches.regroup(block.targets)) for block in blocks)
    return in_float64(whitened_from_blocks)(parameters, regrouped, setting, scale)
