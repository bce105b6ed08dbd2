"""The first pass over a stream: counts, units, and a sample of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.preprocessing import StandardScaler

from ...progress import steps
from ..common.units import Units
from .row_sources import RowSource


@dataclass(frozen=True)
class FirstPass:
    """What is known about a stream after the first pass."""

    n_rows: int
    n_incomplete: int
    outputs_go_together: bool  # whether every row has all outputs
    x_units: Units
    y_units: Units
    inputs: np.ndarray  # (k, q) inputs of a sample of rows, in standard units
    targets: np.ndarray  # (k, p) outputs of the same rows


class _Sample:
    """A random sample of the rows of a stream. Every row gets a random number, and the smallest numbers are kept."""

    def __init__(self, size: int, random: np.random.Generator) -> None:
        self.size, self.random = size, random
        self.numbers = np.empty(0)
        self.rows: list[np.ndarray] = []

    def add(self, *arrays: np.ndarray) -> None:
        """Let more rows take part in the draw."""
        numbers = self.random.random(len(arrays[0]))
        if len(self.numbers) == self.size:  # most blocks have nothing to add
            few = numbers < self.numbers.max()
            numbers, arrays = numbers[few], tuple(array[few] for array in arrays)
        self.numbers = np.concatenate([self.numbers, numbers])
        before = self.rows or [array[:0] for array in arrays]
        self.rows = [np.concatenate(pair) for pair in zip(before, arrays, strict=True)]
        keep = np.sort(np.argsort(self.numbers, kind="stable")[: self.size])
        self.numbers, self.rows = self.numbers[keep], [rows[keep] for rows in self.rows]


def first_pass(source: RowSource, sample_rows: int, random: np.random.Generator) -> FirstPass:
    """Read all rows once: count them, measure the units of their columns, and draw a sample."""
    x_scaler, y_scaler, sample = StandardScaler(), StandardScaler(), _Sample(sample_rows, random)
    n_rows = n_incomplete = first = 0
    together, has_value = True, np.zeros(1, bool)
    for block in steps(range(source.n_blocks), "first pass"):
        X, y = source.read(block)
        _check_finite(X, y, first)
        first += len(X)
        has_value = has_value | np.concatenate([~np.isnan(X), ~np.isnan(y)], axis=1).any(axis=0)
        X, y = rows_with_outputs(X, y)
        if not len(X):
            continue
        with np.errstate(invalid="ignore"):  # a column may have no value so far
            x_scaler.partial_fit(X)
            y_scaler.partial_fit(y)
        n_rows, n_incomplete = n_rows + len(X), n_incomplete + int(np.isnan(X).any(axis=1).sum())
        together = together and not np.isnan(y).any()
        sample.add(X, y)
    _check_columns(has_value, n_rows, X.shape[1])
    x_units, y_units = Units.measured(x_scaler), Units.measured(y_scaler)
    inputs, targets = x_units.standard(sample.rows[0]), y_units.standard(sample.rows[1])
    return FirstPass(n_rows, n_incomplete, together, x_units, y_units, inputs, targets)


def _check_finite(X: np.ndarray, y: np.ndarray, first: int) -> None:
    for name, values in (("X", X), ("y", y)):
        if np.isinf(values).any():
            row, column = np.argwhere(np.isinf(values))[0]
            raise ValueError(f"{name} is infinite at row {first + row}, column {column}. Mark missing values with NaN.")


def _check_columns(has_value: np.ndarray, n_rows: int, n_inputs: int) -> None:
    for name, seen in (("X", has_value[:n_inputs]), ("y", has_value[n_inputs:])):
        if not seen.all():
            raise ValueError(f"{name} has no value in column {int(np.argmin(seen))}: there is nothing to learn from.")
    if n_rows < 2:
        raise ValueError(f"Only {n_rows} sample(s) have an output; a minimum of 2 is required.")


def rows_with_outputs(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows that have at least one output."""
    rows = ~np.isnan(y).all(axis=1)
    return (X, y) if rows.all() else (X[rows], y[rows])
