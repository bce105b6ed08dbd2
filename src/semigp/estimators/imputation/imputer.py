"""Fills the holes of a table: every column is predicted from the others by a Gaussian process."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ...core.chained.imputation import Imputation, impute
from ...core.search.report import Callback
from ...frames import FrameKind, as_frame
from ...runtime import computing
from ..common.all_or_nothing import all_or_nothing
from ..common.checks import check_columns
from ..common.order import DECIMALS, Arrangement
from ..common.reports import Stopwatch
from ..common.saving import Saved
from ..common.sklearn_private import Interval
from ..common.units import Units


class GPImputer(Saved, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Fills in the missing entries of a table, with error bars.

    The method is chained equations with a Gaussian process for each column. Every column is regressed on all the
    others, and its missing entries are drawn given the current values of the rest. Several sweeps over all columns make
    one draw of the whole table. This is repeated `n_draws` times. No column is special here: to predict one column, use
    `SemiDescribedGPRegressor`.

    Parameters
    ----------
    n_draws : int
        The number of draws of the whole table.
    max_iter : int
        The number of sweeps over the columns for each draw of the table.
    callback : callable, optional
        Called with a `Progress` after every sweep. Returning True ends the fit with the draws that were made so far.
    random_state : int, RandomState or None

    Attributes
    ----------
    bound_ : float
        The log evidence of the known values of each column with holes, given the other columns, in standard units and
        summed over these columns.
    fit_report_ : FitReport
        How the fit went. The trace is the log evidence after each of the first sweeps.
    n_iter_ : int
        The number of sweeps for each draw.
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

    _FORMER_NAMES: ClassVar = {"_scaler": "_units"}
    _parameter_constraints = {  # noqa: RUF012
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "callback": [callable, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self, n_draws: int = 10, *, max_iter: int = 10, callback: Callback | None = None, random_state: Any = None
    ) -> None:
        self.n_draws = n_draws
        self.max_iter = max_iter
        self.callback = callback
        self.random_state = random_state

    def __sklearn_tags__(self):
        """Tell scikit-learn that X may hold NaN."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> GPImputer:
        """Learn how the columns of X depend on each other. Missing entries are NaN."""
        self._validate_params()
        watch = Stopwatch()
        self._frame_kind = FrameKind.of(X)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=2, copy=True)
        check_columns(X, getattr(self, "feature_names_in_", None))
        self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._arrangement = Arrangement.of(X)
        self._units, self._training = Units.of(X[self._arrangement.rows]), X
        standard = np.round(self._arrangement.arranged(self._units.standard(X)), DECIMALS)
        with computing():
            found, self._chain, report = impute(
                standard, self.n_draws, self._seed, n_sweeps=self.max_iter, callback=watch.told_to(self.callback)
            )
        self.fit_report_, self.bound_, self.n_iter_ = watch.noted_in(report), report.bound, self.max_iter
        self._imputation = _each(self._arrangement.as_given, found)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """New rows with their NaN filled in by posterior means. Each row is filled on its own."""
        X, found = self._complete(X)
        return self._moments(X, found)[0]

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """The training rows with their NaN filled in."""
        self.fit(X)
        return self._moments(self._training, self._imputation)[0]

    def impute(self, X: Any = None, return_std: bool = False) -> Any:
        """Rows with their NaN filled in, by default the training rows, and on request their standard deviations.

        The standard deviation of a known entry is 0. Frames are returned as frames.
        """
        check_is_fitted(self)
        kind = self._frame_kind if X is None else FrameKind.of(X)
        X, found = (self._training, self._imputation) if X is None else self._complete(X)
        mean, std = (as_frame(part, kind) for part in self._moments(X, found))
        return (mean, std) if return_std else mean

    def sample(self, X: Any = None) -> np.ndarray:
        """Draws of the whole table (n_draws, n, p), for multiple imputation. By default the table is that of `fit`."""
        check_is_fitted(self)
        X, found = (self._training, self._imputation) if X is None else self._complete(X)
        natural = self._units.natural(found.draws)
        return np.where(np.isnan(X), natural, X)

    def _complete(self, X: Any) -> tuple[np.ndarray, Imputation]:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        with computing():
            found = self._chain.complete(self._units.standard(X)[:, self._arrangement.columns], self._seed)
        return X, _each(self._arrangement.columns_as_given, found)

    def _moments(self, X: np.ndarray, found: Imputation) -> tuple[np.ndarray, np.ndarray]:
        holes = np.isnan(X)
        mean = np.where(holes, self._units.natural(found.mean), X)
        return mean, np.where(holes, np.sqrt(found.variance) * self._units.std, 0.0)


def _each(order: Callable[[np.ndarray], np.ndarray], found: Imputation) -> Imputation:
    return Imputation(order(found.draws), order(found.mean), order(found.variance))
