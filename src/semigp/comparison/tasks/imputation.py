"""Filling a table: known entries are hidden, and have to be found."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from ... import scores
from ...baselines.tables.filling import FILLERS, Filled
from ...columns import Columns, Levels
from ...estimators import GPImputer
from .base import COVERAGE, OURS, Scores, coded

_HIDDEN = 0.1  # share of the known entries that are hidden in each split


class Imputation:
    """Numbers are scored in units of their column's standard deviation, categories by the share that is wrong."""

    def __init__(self, X: Any, n_splits: int, seed: int) -> None:
        self._X, self._seed, self.n_splits = X, seed, n_splits
        self._columns = Columns.learn(X)
        self._table = coded(X, self._columns)
        known = ~np.isnan(self._table.values)
        if known.sum() < 10 / _HIDDEN:
            raise ValueError(f"The table has {known.sum()} known entries; comparing needs {10 / _HIDDEN:.0f}.")
        self.scores = ("RMSE",) * bool(self._table.numeric.any()) + ("wrong",) * bool(self._table.labels)
        self.scores += (COVERAGE,) if self._table.numeric.any() else ()
        self.ways = (OURS, *FILLERS)
        self.about = f"filling of {len(known)} rows, {1 - known.mean():.0%} of entries missing, 10 % more hidden"

    def run(self, way: str, split: int) -> Scores:
        """Scores over the entries that are hidden in this split."""
        truth = self._table.values
        hidden = hidden_entries(truth, [self._seed, split])
        if way == OURS:
            found = filled_by(GPImputer(random_state=self._seed), self._X, self._columns, hidden)
        else:
            found = FILLERS[way](self._table.without(hidden), self._seed)
        return self._scored(found, truth, hidden)

    def _scored(self, found: Filled, truth: np.ndarray, hidden: np.ndarray) -> Scores:
        numbers, unit = hidden & self._table.numeric, np.nanstd(truth, axis=0)
        unit = np.where(unit > 0, unit, 1.0)
        row: Scores = {}
        if numbers.any():
            errors = ((found.values - truth) / unit)[numbers]
            row["RMSE"] = float(np.sqrt(np.mean(errors**2)))
            if found.std is not None:
                std = np.maximum((found.std / unit)[numbers], 1e-9)
                row[COVERAGE] = scores.coverage(np.where(np.isnan(std), np.nan, errors), np.zeros_like(errors), std)
        levels = hidden & ~self._table.numeric
        if levels.any():
            row["wrong"] = float(np.mean((found.values != truth)[levels]))
        return row


def hidden_entries(codes: np.ndarray, seed: Any) -> np.ndarray:
    """Which known entries (n, q) are hidden: a tenth, but never so many that a column has nothing to learn from."""
    known = ~np.isnan(codes)
    hidden = known & (np.random.default_rng(seed).random(codes.shape) < _HIDDEN)
    hidden[:, (known & ~hidden).sum(axis=0) < 2] = False
    return hidden


def filled_by(imputer: GPImputer, X: Any, columns: Columns, hidden: np.ndarray) -> Filled:
    """The table as an imputer fills it that is fitted without the hidden entries, in codes of the used columns."""
    means = np.asarray(imputer.fit_transform(_without(X, hidden, np.array(columns.places))), dtype=float)
    table, std = imputer.impute(return_std=True)
    # Means of whole numbers are not rounded. Levels go by name: if one is hidden everywhere, others move up.
    has_mean = [not isinstance(kind, Levels) for kind in columns.used]
    values = np.where(has_mean, means, columns.encode(table))
    return Filled(values, _as_floats(np.asarray(nw.from_native(std, eager_only=True, pass_through=True))))


def _without(X: Any, hidden: np.ndarray, places: np.ndarray) -> Any:
    """The user's own table with some entries of the used columns set to missing."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        array = np.array(X, dtype=object if np.asarray(X).dtype.kind == "O" else float)
        rows, columns = np.nonzero(hidden)
        array[rows, places[columns]] = np.nan
        return array
    names = [frame.columns[place] for place in places]
    masks = [nw.new_series("mask", column, backend=frame.implementation) for column in ~hidden.T]
    kept = [nw.when(mask).then(nw.col(name)).alias(name) for name, mask in zip(names, masks, strict=True)]
    return nw.to_native(frame.with_columns(*kept))


def _as_floats(values: np.ndarray) -> np.ndarray:
    """Standard deviations as floats; what is no number, such as those of categories, becomes NaN."""
    if values.dtype.kind == "f":
        return values
    is_number = np.vectorize(lambda value: isinstance(value, int | float | np.number) and not isinstance(value, bool))
    return np.where(is_number(values), values, np.nan).astype(float)
