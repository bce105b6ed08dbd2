"""Which columns of a table are inputs, which are outputs, and which are error bars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from .problems import WRONG_USE, Problem
from .tables import listed, numbers

ERROR_SUFFIX = "_std"


@dataclass(frozen=True)
class Inputs:
    """Numeric columns with their error bars."""

    names: list[str]
    values: np.ndarray  # (n, q), NaN where missing
    std: np.ndarray | None  # (n, q), 0 where exact; None if all values are exact

    @property
    def frame(self) -> pl.DataFrame:
        """The values as a frame with column names."""
        return pl.DataFrame(self.values, schema=self.names).fill_nan(None)


def check_present(names: Sequence[str], table: pl.DataFrame, path: Path, option: str) -> None:
    """Raise a Problem if an option names a column that the table does not have, or names one twice."""
    for name in names:
        if name not in table.columns:
            raise Problem(f"{option} {name}: {path} has no such column; there are {listed(table.columns)}.", WRONG_USE)
        if list(names).count(name) > 1:
            raise Problem(f"{option} {name}: given more than once.", WRONG_USE)


def check_filled(values: np.ndarray, names: Sequence[str], path: Path) -> None:
    """Raise a Problem if a column has no value at all."""
    empty = np.isnan(values).all(axis=0)
    if empty.any():
        name = names[int(np.argmax(empty))]
        raise Problem(f"{path}, column {name!r}: no value to learn from. Leave it out with --ignore {name}.")


def choose_inputs(table: pl.DataFrame, others: Sequence[str], path: Path, note: Callable[[str], None]) -> list[str]:
    """The numeric columns that are neither in `others` nor error bars. Text and times are left out, with a note."""
    chosen = []
    for name, kind in table.schema.items():
        base = name.removesuffix(ERROR_SUFFIX)
        if name in others or (base != name and base in table.columns):
            continue
        if kind.is_numeric() or holds_numbers(table[name]):
            chosen.append(name)
        else:
            note(f"{path}: column {name!r} is left out; it holds {_told(kind)}.")
    if not chosen:
        raise Problem(f"{path}: no column of numbers is left to learn from.")
    return chosen


def _told(kind: pl.DataType) -> str:
    return "times" if kind.is_temporal() else "nothing" if kind == pl.Null else "text"


def holds_numbers(column: pl.Series) -> bool:
    """Whether a column of text holds a number in any cell."""
    if column.dtype != pl.String:
        return False
    return column.str.strip_chars().cast(pl.Float64, strict=False).is_not_null().any()


def read_inputs(
    table: pl.DataFrame, names: list[str], errors: dict[str, str], path: Path, others: Sequence[str] = ()
) -> Inputs:
    """Values and error bars of columns.

    `errors` maps the name of a column to a number or to a column of error bars. Columns in `others` are never taken as
    error bars.
    """
    values = numbers(table, names, path)
    std = np.zeros(values.shape)
    for k, name in enumerate(names):
        default = name + ERROR_SUFFIX
        told = errors.get(name, default if default in table.columns and default not in others else "0")
        std[:, k] = _error_bars(table, name, told, values[:, k], path)
    return Inputs(names, values, std if std.any() else None)


def _error_bars(table: pl.DataFrame, name: str, told: str, values: np.ndarray, path: Path) -> np.ndarray:
    if told not in table.columns:
        try:
            constant = float(told)
        except ValueError:
            constant = -1.0
        if not 0 <= constant < np.inf:
            raise Problem(
                f"--error {name}={told}: {told} is neither a number, 0 or more, nor a column of {path}.", WRONG_USE
            )
        return np.where(np.isnan(values), 0.0, constant)
    std = numbers(table, [told], path)[:, 0]
    if (std < 0).any():
        raise Problem(f"{path}, row {np.argmax(std < 0) + 1}, column {told!r}: an error bar cannot be negative.")
    lost = np.isnan(std) & ~np.isnan(values)
    if lost.any():
        raise Problem(
            f"{path}, row {np.argmax(lost) + 1}, column {told!r}: the error bar is missing, but {name!r} has a value. "
            "Use 0 for exact values."
        )
    return np.where(np.isnan(values), 0.0, std)


def parse_errors(options: Sequence[str], table: pl.DataFrame, path: Path) -> dict[str, str]:
    """The error bars from options such as `--error x=0.1` and `--error x=column`, by column name."""
    found = {}
    for option in options:
        name, sign, told = option.partition("=")
        if not sign:
            raise Problem(f"--error {option}: write it as column=number or column=column.", WRONG_USE)
        check_present([name], table, path, "--error")
        found[name] = told
    return found
