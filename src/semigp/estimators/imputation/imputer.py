"""Fills the holes of a table: every column is predicted from the others, by a Gaussian process and by similar rows."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ...columns import Columns
from ...columns.kinds import Levels
from ...core.search.report import MESSAGES, Callback, FitReport, Progress, Status
from ...progress import steps, told, watched
from ...runtime import computing
from ..common.all_or_nothing import all_or_nothing
from ..common.blocks import blocks
from ..common.checks import check_columns
from ..common.filled_tables import FilledTables
from ..common.input_units import InputUnits
from ..common.notebook import ShownInNotebooks
from ..common.order import DECIMALS, Arrangement
from ..common.reading import kinds_of_inputs, learn_inputs, names_of_inputs, read_inputs
from ..common.reports import Stopwatch
from ..common.saving import Saved
from ..common.sklearn_private import Interval
from ..particles.layout import Layout
from ..particles.side_by_side import map_side_by_side
from ..particles.tables import DrawnTables, choose_for_new_rows, draw_new_rows, draw_tables, schedule_for
from .beliefs import Beliefs

T = TypeVar("T")
# Draws of new rows in all, from which their means are taken, and trees for each.
_DRAWS_OF_NEW_ROWS, _TREES = 100, 3


class GPImputer(Saved, OneToOneFeatureMixin, TransformerMixin, ShownInNotebooks):
    """Fills in the missing entries of a table, with error bars. Columns may hold numbers, categories or times.

    The method is chained equations. Every column is predicted from all the others, and its missing entries are drawn
    given the current values of the rest. A number is predicted by a Gaussian process and by random trees, weighed by
    how well they predict known entries. Trees propose values that occur in similar rows. A category is predicted by
    trees. Chains of several sweeps over all columns draw the whole table `n_draws` times: up to two draws come from
    the second half of each chain. What is filled in lies in the range of the known values. No column is special here:
    to predict one column, use `SemiDescribedGPRegressor`.

    Parameters
    ----------
    n_draws : int
        The number of draws of the whole table.
    max_iter : int
        The number of sweeps over the columns in a chain.
    callback : callable, optional
        Called with a `Progress` after every sweep. Returning True ends the fit with the draws that were made so far.
    random_state : int, RandomState or None
    categorical_features : list of names or numbers, or mask, optional
        Columns that hold categories, whatever their type. In frames, text and booleans always do.
    verbose : bool
        Whether whatever takes longer than two seconds shows a bar: what it is doing, the share that is done, and about
        how long it takes. This needs rich.

    Attributes
    ----------
    bound_ : float
        The log evidence of the known values of each number with holes, given the other columns, in standard units and
        summed over these columns, after the last sweep.
    fit_report_ : FitReport
        How the fit went. The trace is the log evidence after each sweep.
    n_iter_ : int
        The number of sweeps of a chain.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from semigp import GPImputer
    >>> x = np.linspace(0, 6, 50)
    >>> table = np.column_stack([np.sin(x), np.cos(x), np.sin(x + 1)])
    >>> hidden, table[7, 2] = table[7, 2], np.nan
    >>> mean, std = GPImputer(random_state=0).fit(table).impute(return_std=True)
    >>> bool(abs(mean[7, 2] - hidden) < 0.1)
    True
    """

    _columns: Columns | None = None
    _parameter_constraints = {  # noqa: RUF012
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "callback": [callable, None],
        "random_state": ["random_state"],
        "categorical_features": ["array-like", None],
        "verbose": ["boolean"],
    }

    def __init__(
        self,
        n_draws: int = 10,
        *,
        max_iter: int = 8,
        callback: Callback | None = None,
        random_state: Any = None,
        categorical_features: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_draws = n_draws
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

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> GPImputer:
        """Learn how the columns of X depend on each other. NaN, None, NA and NaT are missing."""
        self._validate_params()
        watch = Stopwatch()
        codes = learn_inputs(self, X, self.categorical_features, ensure_min_samples=2, copy=True)
        check_columns(codes, names_of_inputs(self))
        self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._arrangement, self._rows = Arrangement.of(codes), FilledTables.like(X, self._columns)
        kinds = kinds_of_inputs(self, self._arrangement.columns)
        arranged, is_number = self._arrangement.arranged(codes), np.array([not isinstance(k, Levels) for k in kinds])
        self._units = InputUnits.of(arranged, [1 if kind is None else kind.width for kind in kinds], is_number)
        self._level_counts = tuple(len(kind.levels) if isinstance(kind, Levels) else 0 for kind in kinds)
        with watched("fit", self.verbose), computing():
            found = self._draw(np.round(self._units.standard(arranged), DECIMALS), watch)
        self._relations, self._tables = found.relations, np.stack(found.tables)
        self._training, self._known = codes, Beliefs.of_training(found, self._units, self._level_counts, arranged)
        return self

    def _draw(self, features: np.ndarray, watch: Stopwatch) -> DrawnTables:
        """The draws of the training table, and the report of how they were made."""
        started, callback = time.perf_counter(), watch.told_to(told(self.callback))

        sweeps, done = self.max_iter * schedule_for(self.n_draws, self.max_iter).n_chains, itertools.count(1)

        def is_stopped(chain: int, sweep: int, evidence: float) -> bool:
            seconds = time.perf_counter() - started
            now = Progress("draws", next(done), sweeps, evidence, seconds, has_fixed_length=True)
            return callback is not None and bool(callback(now))

        layout, wanted = Layout.of(features, self._units.groups), Beliefs.wanted(self._units, self._level_counts)
        random = np.random.default_rng(self._seed)
        found = draw_tables(features, layout, wanted, self.n_draws, self.max_iter, random, is_stopped)
        status: Status = "interrupted" if found.is_interrupted else "converged"
        message = MESSAGES[status] if found.is_interrupted else "All draws were made."
        ratio = np.array([1 / m.regression.noise for m in found.relations.models.values() if m.regression] or [np.inf])
        count, seconds = len(found.evidence), time.perf_counter() - started
        stages, bound = (("draws", status, count),), float(found.evidence[-1])
        report = FitReport(
            status, message, bound, found.evidence, count, seconds, stages, ratio, method="chained GPs and trees"
        )
        self.fit_report_, self.bound_, self.n_iter_ = watch.noted_in(report), bound, self.max_iter
        return found

    def transform(self, X: Any) -> Any:
        """New rows with their holes filled in. Each row is filled on its own. Codes of categories are returned."""
        codes, beliefs = self._believed(X)
        return np.where(np.isnan(codes), self._arrangement.columns_as_given(beliefs.mean), codes)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns that `transform` returns: those of X, without what is left out."""
        names = super().get_feature_names_out(input_features)
        return names if self._columns is None else names[list(self._columns.places)]

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """The training rows with their holes filled in."""
        self.fit(X)
        return np.where(np.isnan(self._training), self._arrangement.as_given(self._known.mean), self._training)

    def impute(self, X: Any = None, return_std: bool = False) -> Any:
        """Tables without holes, by default the training table, and on request standard deviations.

        Numbers are filled in with their means, and categories with the most probable level. Frames are returned as
        frames, with the types of their columns; whole numbers are rounded there. The standard deviation of a known
        entry is 0, and that of a missing category is NaN: see `impute_proba`. If all known values of a column are the
        same, it is filled with that value, and the standard deviation is 0, because nothing tells its scale.
        """
        codes, beliefs, as_given = self._about(X)
        holes = np.isnan(codes)
        filled = self._rows.filled(np.where(holes, as_given(beliefs.mean), codes), X)
        std = self._rows.spreads(np.where(holes, as_given(beliefs.std), 0.0), X)
        return (filled, std) if return_std else filled

    def impute_proba(self, X: Any = None) -> dict[Any, np.ndarray]:
        """For every categorical column, the probabilities (n, k) of its levels. Those of known entries are 0 and 1."""
        codes, beliefs, _ = self._about(X)
        order = np.argsort(self._arrangement.rows) if X is None else slice(None)
        found = {}
        for place, (column, count) in enumerate(zip(self._arrangement.columns, self._level_counts, strict=True)):
            if count:
                own = np.where(np.isnan(codes[:, [column]]), beliefs.probabilities[place][order], 0.0)
                own += codes[:, [column]] == np.arange(count)
                found[self._columns.names_of_used[column]] = own  # type: ignore[union-attr]
        return dict(sorted(found.items(), key=lambda item: self._columns.names_of_used.index(item[0])))  # type: ignore[union-attr]

    def sample(self, X: Any = None) -> Any:
        """Draws of the whole table, for multiple imputation. By default the table is that of `fit`.

        An array (n_draws, n, p) for arrays and frames of numbers; otherwise a list of `n_draws` frames.
        """
        check_is_fitted(self)
        if X is None:
            codes, draws = self._training, self._arrangement.as_given(self._units.natural(self._tables))
        else:
            codes, count = read_inputs(self, X), len(self._tables)
            every = max(1, _DRAWS_OF_NEW_ROWS // count)
            parts = self._from_draws("sample", codes, lambda draws: draws[::every][:count])
            draws = self._arrangement.columns_as_given(np.concatenate(parts, axis=1))
        draws = np.where(np.isnan(codes), draws, codes)
        return draws if self._columns is None else [self._rows.filled(draw, X) for draw in draws]

    def _about(self, X: Any) -> tuple[np.ndarray, Beliefs, Any]:
        """Codes of rows, what is believed of them, and the function that puts beliefs in the order of the codes."""
        check_is_fitted(self)
        if X is None:
            return self._training, self._known, self._arrangement.as_given
        return *self._believed(X), self._arrangement.columns_as_given

    def _believed(self, X: Any) -> tuple[np.ndarray, Beliefs]:
        check_is_fitted(self)
        codes = read_inputs(self, X)
        parts = self._from_draws("impute", codes, lambda draws: Beliefs.of_draws(draws, self._level_counts))
        return codes, Beliefs.joined(parts)

    def _from_draws(self, title: str, codes: np.ndarray, use: Callable[[np.ndarray], T]) -> list[T]:
        """What is made of draws (k, n, q) of new rows, for every block of rows: all draws may not fit in memory."""
        rows = self._units.standard(codes[:, self._arrangement.columns])
        with watched(title, self.verbose), computing():
            parts = steps(blocks(np.arange(len(rows))), "rows")
            return [use(self._units.natural(self._draws_of(rows[some]))) for some in parts]

    def _draws_of(self, rows: np.ndarray) -> np.ndarray:
        """Draws (k, n, d) of the features of new rows."""
        each = -(-_DRAWS_OF_NEW_ROWS // len(self._tables))
        choose_for_new_rows(rows, self._relations, self._tables[0], self._seed)
        parts = map_side_by_side(
            lambda k: draw_new_rows(rows, self._relations, self._tables[k], each, _TREES, (self._seed, k)),
            range(len(self._tables)),
            "missing entries",
        )
        return np.concatenate(parts)
