"""Regression on inputs that are observed, uncertain or missing, entry by entry."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from jax.sharding import Mesh
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from ...columns import Columns
from ...columns.kinds import Levels
from ...core import InputBelief
from ...core.numerics import checks
from ...core.search.report import Callback
from ...frames import column_names
from ...progress import steps, told, watched
from ...runtime import computing
from ..common.all_or_nothing import all_or_nothing
from ..common.checks import check_same_rows
from ..common.component import Component, Recipe
from ..common.filled_tables import FilledTables
from ..common.input_units import InputUnits
from ..common.notebook import ShownInNotebooks
from ..common.numbers import read_numbers
from ..common.order import DECIMALS
from ..common.reading import kinds_of_inputs, learn_inputs, read_error_bars, read_inputs
from ..common.relevance import relevance
from ..common.reports import Stopwatch, joint_report, warn_of
from ..common.saving import Saved
from ..common.sklearn_private import Interval, StrOptions
from ..common.table import Table
from .across_processes import RowsAcross
from .certain_component import CertainComponent
from .gathering import AllRowsHere, Gathering
from .input_posterior import ImputesInputs
from .missing_inputs import CorrelatedInputs, StandardInputs
from .particle_inputs import ParticleInputs
from .posteriors import FORMS, fit_particles, fit_published
from .predicting import PredictsMixtures


class SemiDescribedGPRegressor(
    PredictsMixtures, ImputesInputs, Saved, MultiOutputMixin, RegressorMixin, ShownInNotebooks
):
    """Gaussian process regression for inputs with holes and error bars.

    Inputs may be numbers, booleans, categories, text, dates and times, in frames of pandas or polars, or arrays.
    Identifiers and free text are left out, with a warning that names them. Missing values are integrated over, not
    filled in, in training and in prediction.

    What is believed of the missing inputs, q(X), are particles: tables in which every hole is filled with a draw. The
    candidates for a hole come from a GP of its column given the other columns, and from similar rows that random trees
    find. The GP of the outputs itself chooses among them, by how well they explain the outputs. Every table has a GP of
    its own, and predictions are pooled. Other forms of q(X) can be chosen with `posterior`.

    Numbers are warped to be more like normal ones, and inputs far outside the training rows are held near their range.

    Parameters
    ----------
    n_inducing : int
        The number of inducing points. If all inputs are certain, up to twice as many rows are fitted by an exact GP.
        The GP of a particle is exact up to 1000 rows, and beyond that it has at least 1000 inducing points.
    input_prior : {"correlated", "standard"}
        The prior of the missing inputs: learned from the rows, or N(0, I) as in the paper.
    output_noise : {"per-output", "shared"}
        Whether every output has its own noise and signal variance.
    input_noise : {"prior", "constraint"}
        What error bars mean. "prior": the true input has the prior N(x, X_std²), and q(x) is free. "constraint": the
        mean of q(x) stays at x, as in the paper's variational constraint.
    posterior : {"auto", "particles", "mixture", "gaussian"}
        The form of q(X). "particles" is described above. "mixture": draws from chained Gaussian processes, each column
        given the other inputs and the outputs. "gaussian": as in the paper, a Gaussian q(x) for each row, optimised
        together with the model. "auto" means particles, or with a mesh or a checkpoint, which know no particles, a
        mixture. With ``input_prior="standard"``, and if no input is missing, it is always Gaussian.
    n_draws : int
        The number of draws of the missing inputs. Each of them has a GP. Of more than 500 rows there are at most 10
        particles, and of more than 50,000 at most 5.
    max_iter : int
        The largest number of iterations of the optimiser in each stage. The chains of particles have a fixed length.
    callback : callable, optional
        Called with a `Progress` after every iteration of the optimiser, or sweep of a chain. Returning True ends the
        fit there.
    random_state : int, RandomState or None
    mesh : jax.sharding.Mesh, optional
        The devices over which the rows are spread, usually `semigp.row_mesh()`: all devices, including those of other
        processes. Every process then calls `fit` with its own rows, and afterwards has a model that predicts without
        the other processes.
    checkpoint : str or path, optional
        A folder in which the fit keeps its state. A fit that was killed is resumed from it when the same `fit` is
        called again, with the same result to the last digit. The files are removed when the fit is done. With a mesh or
        a checkpoint the optimiser is our own L-BFGS, whose state can be kept, instead of SciPy's. The two end at nearly
        the same bound. `fit_report_.method` says which one was used.
    categorical_features : list of names or numbers, or mask, optional
        Columns that hold categories, whatever their type. In frames, text and booleans always do.
    trend : {"held", "linear"}
        What is predicted for inputs far outside the training rows. "held": what is predicted half a standard deviation
        beyond their range. "linear": the linear part of the kernel goes on.
    verbose : bool
        Whether whatever takes longer than two seconds shows a bar: what it is doing, the share that is done, and about
        how long it takes. This needs rich.

    Attributes
    ----------
    bound_ : float
        The bound on the log evidence of the standardised outputs, hyperpriors included, averaged over the draws. For
        particles it is the log evidence without its constant, of at most 500 rows.
    fit_report_ : FitReport
        Status, message, trace and every stage of the fit. With ``input_prior="standard"``, the first stage may be that
        of the complete rows.
    n_iter_ : int
        The number of iterations of the longest optimisation, or the number of sweeps of all chains.
    relevance_ : (q,)
        How much each of the q columns that are used matters: the prior variance of the slope along it, in standard
        units, relative to the largest, which is 1. Columns that are left out, such as identifiers, have no entry.
    noise_variance_ : (p,)
        The noise variance of the outputs, in their own units squared, averaged over the draws.
    posterior_ : {"particles", "mixture", "gaussian"}
        The form of q(X) that was used.
    has_error_bars_ : (q,)
        Which of these columns have error bars.
    output_names_ : list of str, or None
        The names of the columns of y, if y was a frame, or a series with a name.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from semigp import SemiDescribedGPRegressor
    >>> x = np.linspace(0, 6, 40)
    >>> X, y = np.column_stack([np.sin(x), np.cos(x)]), np.sin(x + 1)
    >>> X[::3, 0] = np.nan
    >>> model = SemiDescribedGPRegressor(random_state=0).fit(X, y)
    >>> bool(abs(model.predict([[np.sin(2.0), np.nan]])[0] - np.sin(3.0)) < 1)
    True
    """

    _columns: Columns | None = None  # in files from before there were kinds of columns, all are numbers
    _FORMER_NAMES: ClassVar = {"_x_scaler": "_x_units", "_y_scaler": "_y_units"}
    _parameter_constraints = {  # noqa: RUF012
        "n_inducing": [Interval(Integral, 1, None, closed="left")],
        "input_prior": [StrOptions({"correlated", "standard"})],
        "output_noise": [StrOptions({"per-output", "shared"})],
        "input_noise": [StrOptions({"prior", "constraint"})],
        "posterior": [StrOptions({"auto", "particles", "mixture", "gaussian"})],
        "categorical_features": ["array-like", None],
        "trend": [StrOptions({"held", "linear"})],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "callback": [callable, None],
        "random_state": ["random_state"],
        "mesh": [Mesh, None],
        "checkpoint": [str, os.PathLike, None],
        "verbose": ["boolean"],
    }

    def __init__(
        self,
        n_inducing: int = 100,
        *,
        input_prior: str = "correlated",
        output_noise: str = "per-output",
        input_noise: str = "prior",
        posterior: str = "auto",
        n_draws: int = 15,
        max_iter: int = 2000,
        callback: Callback | None = None,
        random_state: Any = None,
        mesh: Mesh | None = None,
        checkpoint: str | os.PathLike | None = None,
        categorical_features: Any = None,
        trend: str = "held",
        verbose: bool = False,
    ) -> None:
        self.n_inducing = n_inducing
        self.input_prior = input_prior
        self.output_noise = output_noise
        self.input_noise = input_noise
        self.posterior = posterior
        self.n_draws = n_draws
        self.max_iter = max_iter
        self.callback = callback
        self.random_state = random_state
        self.mesh = mesh
        self.checkpoint = checkpoint
        self.categorical_features = categorical_features
        self.trend = trend
        self.verbose = verbose

    def __sklearn_tags__(self):
        """Tell scikit-learn that X may hold NaN."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    # ---- fitting

    @all_or_nothing
    def fit(self, X: Any, y: Any, X_std: Any = None) -> SemiDescribedGPRegressor:
        """Fit to rows with holes.

        Parameters
        ----------
        X : (n, q)
            NaN where missing. A column that is NaN in every row is a latent input, which is found from the outputs.
        y : (n,) or (n, p)
            NaN where missing.
        X_std : (n, q), optional
            Error bars (standard deviations) of X, 0 where X is exact. They are ignored where X is NaN.
        """
        self._validate_params()
        watch, self.output_names_ = Stopwatch(), column_names(y)
        frame, X, y, error = X, *self._check_training(X, y, X_std)
        everyone: Gathering = AllRowsHere() if self._is_plain else RowsAcross(self.mesh, self.checkpoint)
        with watched("fit", self.verbose), everyone.watching(), computing():
            self._check_everywhere(everyone, X, y)
            self.has_error_bars_ = everyone.is_any(np.any(error > 0, axis=0))
            self._arrangement = everyone.arrange(X, y, error)
            X, y, error = self._arrangement.arranged(X), y[self._arrangement.rows], self._arrangement.arranged(error)
            self._seed = everyone.begin(self, X, y, error)
            self._x_units, self._y_units = self._units_of_inputs(everyone, X, error), everyone.units(y)
            columns = self._x_units.standard(X), self._y_units.standard(y), self._x_units.bars(X, error)
            inputs, targets, bars = (np.round(column, DECIMALS) for column in columns)
            self._table = Table(inputs, targets, bars)
            self._training, self._rows = X, FilledTables.like(frame, self._columns)
            self._fit_components(everyone, watch)
            if self.fit_report_.status != "interrupted":
                everyone.finish()
        warn_of(self.fit_report_)
        return self

    @property
    def _is_plain(self) -> bool:
        """Whether all rows are here, and the fit cannot be resumed."""
        return self.mesh is None and self.checkpoint is None

    def _check_training(self, X, y, X_std) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        check_same_rows(X, X_std)
        # One layout for all arrays: how sums are rounded depends on the order in memory, and iterations amplify that.
        X = learn_inputs(
            self, X, self.categorical_features, keeps_identifiers=not self._is_plain, ensure_min_samples=2, copy=True
        )
        if self._columns is not None and not self._is_plain:
            raise ValueError("With mesh= or checkpoint= all columns must be numbers: encode text, booleans and dates.")
        y = read_numbers(y, "y", ensure_2d=False, order="C")
        check_consistent_length(X, y)
        self._y_is_flat = y.ndim == 1
        return X, y.reshape(len(y), -1), read_error_bars(self, X_std, X)

    def _units_of_inputs(self, everyone: Gathering, X: np.ndarray, error: np.ndarray) -> InputUnits:
        """How inputs become features. They are warped, and held inside their range, unless the paper is followed."""
        if not self._is_plain:
            return InputUnits.linear(everyone.units(np.where(everyone.count_known(X) == 0, 0.0, X)))
        kinds = kinds_of_inputs(self, self._arrangement.columns)
        is_number = np.array([not isinstance(kind, Levels) for kind in kinds])
        is_warped = is_number & ~(error > 0).any(axis=0) & (self.input_prior == "correlated")
        units = InputUnits.of(X, [1 if kind is None else kind.width for kind in kinds], is_warped)
        is_held = self.input_prior == "correlated" and self.trend == "held"
        return units if is_held else units.without_limits()

    def _check_everywhere(self, everyone: Gathering, X: np.ndarray, y: np.ndarray) -> None:
        everyone.check_alike(X, y)
        empty = everyone.count_known(y) == 0
        if empty.any():
            raise ValueError(f"y has no value in column {int(np.argmax(empty))}: there is nothing to learn from.")

    def _fit_components(self, everyone: Gathering, watch: Stopwatch) -> None:
        """Fit a semi-described GP for every draw of the missing inputs, or a single one with a Gaussian q(x)."""
        recipe = self._recipe(everyone, watch.told_to(told(self.callback)))
        table, own = everyone.with_sample(self._table, self._seed)
        if self.input_prior == "standard":
            self._inputs: StandardInputs | CorrelatedInputs | ParticleInputs = StandardInputs()
            self.posterior_ = "gaussian"
            self._components, reports = fit_published(recipe, table)
        elif self._is_plain and self.posterior in ("auto", "particles") and self._has_holes():
            self.posterior_, groups = "particles", self._x_units.groups
            self._components, reports, self._inputs = fit_particles(recipe, table, groups, self.n_draws, self._seed)
        else:
            self._inputs = CorrelatedInputs(table.shared, self._seed, self.n_draws, own=own)
            form = "mixture" if self.posterior in ("auto", "particles") else self.posterior
            self.posterior_ = form if self._inputs.is_any_drawn else "gaussian"  # if there is something to draw
            self._components, reports = FORMS[self.posterior_](recipe, table, self._inputs)
        self.fit_report_ = watch.noted_in(joint_report(reports))
        self.bound_, self.n_iter_ = self.fit_report_.bound, max(len(report.trace) for report in reports)
        slopes = relevance([component.kernel for component in self._components])
        by_column = np.array([slopes[list(group)].max() for group in self._input_units.groups])
        self.relevance_ = self._arrangement.columns_as_given(by_column)
        noise_variance = np.mean([component.noise_variance for component in self._components], axis=0)
        self.noise_variance_ = noise_variance * self._y_units.std**2

    def _has_holes(self) -> bool:
        """Whether an input is missing that is known in other rows."""
        holes = np.isnan(self._table.inputs)
        return bool((holes.any(axis=0) & ~holes.all(axis=0)).any())

    def _recipe(self, everyone: Gathering, callback: Callback | None) -> Recipe:
        return Recipe(
            n_inducing=self.n_inducing,
            per_output=self.output_noise == "per-output",
            constrain_means=self.input_noise == "constraint",
            max_iter=self.max_iter,
            random_state=self._seed,
            callback=callback,
            optimise=everyone.optimise,
            notes=everyone.notes,
        )

    # ---- prediction

    def _check_new(self, X: Any, X_std: Any) -> tuple[np.ndarray, np.ndarray]:
        check_is_fitted(self)
        check_same_rows(X, X_std)
        X = read_inputs(self, X)
        return X[:, self._arrangement.columns], read_error_bars(self, X_std, X)[:, self._arrangement.columns]

    def _beliefs(self, inputs: np.ndarray, error: np.ndarray) -> list[tuple[Component | CertainComponent, InputBelief]]:
        """Pairs of a component and a belief at which it predicts."""
        return paired(self._components, self._inputs.beliefs(inputs, error))

    def _chosen(self, pairs: list, n_samples: int, random: np.random.Generator) -> np.ndarray:
        """The numbers of the pairs that draws of the outputs come from."""
        return random.integers(len(pairs), size=n_samples)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Draws of the outputs at new inputs, (n, n_samples) or (n, p, n_samples), with noise.

        The rows of a draw are from the same function.
        """
        X, _ = self._check_new(X, None)
        checks.check_count("n_samples", n_samples)
        random = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        samples = np.empty((len(X), len(self._y_units), n_samples))
        with watched("sample_y", self.verbose), computing():
            inputs = self._input_units.standard(X)
            beliefs = self._beliefs(inputs, np.zeros(inputs.shape))
            chosen = self._chosen(beliefs, n_samples, random)
            for i in steps(np.unique(chosen), "functions"):
                (component, belief), where = beliefs[i], np.flatnonzero(chosen == i)
                functions = component.sample_functions(int(random.integers(2**31)), len(where))
                noise = np.sqrt(component.noise_variance)
                for function, place in zip(_evaluate(functions, belief, random), where, strict=True):
                    samples[:, :, place] = function + noise * random.normal(size=function.shape)
        samples = samples * self._y_units.std[:, None] + self._y_units.mean[:, None]
        return samples[:, 0] if self._y_is_flat else samples


def paired(components: Sequence[Any], beliefs: Sequence[InputBelief]) -> list[tuple[Any, InputBelief]]:
    """A single belief goes to all components. Several beliefs, which are draws, go to the components in turn."""
    if len(beliefs) == 1:
        return [(component, beliefs[0]) for component in components]
    return [(components[i % len(components)], belief) for i, belief in enumerate(beliefs)]


def _evaluate(functions: Any, belief: InputBelief, random: np.random.Generator) -> Iterator[np.ndarray]:
    """The values of every function at inputs that are drawn from the belief."""
    std = np.sqrt(belief.variance)
    if not std.any():
        yield from functions(belief.mean)
        return
    for i in range(functions.n_samples):
        yield functions(belief.mean + std * random.normal(size=std.shape))[i]
