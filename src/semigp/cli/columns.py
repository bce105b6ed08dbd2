"""Which columns of a table are inputs, which are outputs, and which are error bars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..columns import Columns, Number
from ..columns.texts import number_slips, read_numbers, time_slips
from ..columns.values import is_key
from .problems import WRONG_USE, Problem
from .tables import numbers
from .wording import listed, shortened

ERROR_SUFFIX = "_std"
_MOST_LEVELS = 20  # more different values are not a few levels


@dataclass(frozen=True)
class Inputs:
    """Columns with their error bars."""

    names: list[str]
    frame: pl.DataFrame  # numbers as floats, other columns as they were read; null where missing
    std: np.ndarray | None  # (n, q), 0 where exact; None if all values are exact

    def used(self) -> Columns:
        """The columns of which a model will make use."""
        return Columns.learn(self.frame)


def check_present(names: Sequence[str], table: pl.DataFrame, path: Path, option: str) -> None:
    """Raise a Problem if an option names a column that the table does not have, or names one twice."""
    for name in names:
        if name not in table.columns:
            raise Problem(f"{option} {name}: {path} has no such column; there are {listed(table.columns)}.", WRONG_USE)
        if list(names).count(name) > 1:
            raise Problem(f"{option} {name}: given more than once.", WRONG_USE)


def choose_inputs(
    table: pl.DataFrame, others: Sequence[str], path: Path, note: Callable[[str], None], keeps_empty: bool = False
) -> list[str]:
    """The columns that are neither in `others` nor error bars. Columns that hold nothing are left out, with a note.

    With `keeps_empty` they are kept if they have a type: another process may have values there.
    """
    chosen = []
    for name, kind in table.schema.items():
        if name in others or _is_error_bar(name, table):
            continue
        if kind == pl.Null or (not keeps_empty and table[name].null_count() == len(table)):
            note(f"{path}: column {name!r} is left out; it holds nothing.")
        else:
            chosen.append(name)
    if not chosen:
        raise Problem(f"{path}: no column is left to learn from.")
    return chosen


def choose_numbers(table: pl.DataFrame, others: Sequence[str], path: Path, note: Callable[[str], None]) -> list[str]:
    """The columns of numbers among those that `choose_inputs` chooses. Text and times are left out, with a note."""
    chosen, kinds = [], table.schema  # which takes time to make
    for name in choose_inputs(table, others, path, note, keeps_empty=True):
        kind = kinds[name]
        if kind.is_numeric() or kind == pl.Boolean or holds_numbers(table[name]):
            chosen.append(name)
        else:
            note(f"{path}: column {name!r} is left out; it holds {'times' if kind.is_temporal() else 'text'}.")
    if not chosen:
        raise Problem(f"{path}: no column of numbers is left to learn from.")
    return chosen


def _is_error_bar(name: str, table: pl.DataFrame) -> bool:
    base = name.removesuffix(ERROR_SUFFIX)
    return base != name and base in table.columns and _stands_for_numbers(table[base])


def holds_numbers(column: pl.Series) -> bool:
    """Whether a column of text holds a number in any cell."""
    if column.dtype != pl.String:
        return False
    return any(read_numbers([cell]) is not None for cell in column.drop_nulls().unique(maintain_order=True))


def _stands_for_numbers(column: pl.Series) -> bool:
    """Whether a column holds numbers, or text that was meant to be numbers.

    Keys such as 007 were not. Other text was meant to be numbers if at least half of the cells are. But a text such as
    4+ that occurs again and again is a level beside others, if there are few of them.
    """
    if column.dtype != pl.String:
        return column.dtype.is_numeric() or column.dtype == pl.Null
    cells = column.drop_nulls().to_list()
    if any(is_key(cell) for cell in cells):
        return False
    strange = [cells[row] for row in number_slips(cells)[0]]
    if not strange:
        return bool(cells)
    return _are_slips(strange, cells)


def _are_slips(strange: list[str], cells: list[str]) -> bool:
    """Whether some cells were meant to be as the others are."""
    is_rare = len(set(strange)) == len(strange) or len(set(cells)) > _MOST_LEVELS
    return 2 * len(strange) <= len(cells) and is_rare


def check_dates(column: pl.Series, path: Path, cure: str = "the cell empty if the date is missing") -> None:
    """Raise a Problem if a column of text was meant to be dates, most of which can be read."""
    if column.dtype != pl.String:
        return
    rows, example = time_slips(column.to_list())
    strange = [column[row] for row in rows]
    if not strange or example is None or 2 * len(strange) >= column.count():
        return
    if _are_slips(strange, column.drop_nulls().to_list()):
        many = "" if len(rows) == 1 else f" There are {len(rows)} such cells."
        raise Problem(
            f"{path}, row {rows[0] + 1}, column {column.name!r}: {shortened(strange[0])} is not a date written as "
            f"{shortened(example)} is.{many} Correct it, or leave {cure}."
        )


def input_frame(table: pl.DataFrame, names: Sequence[str], path: Path, model: Any = None) -> pl.DataFrame:
    """Columns as an estimator takes them: numbers as floats, and other columns as they were read.

    For new rows of a fitted model, columns are numbers if they were so in training. Columns that the model has left out
    may be missing in the table.
    """
    return pl.DataFrame([_input(table, name, path, model) for name in names])


def _input(table: pl.DataFrame, name: str, path: Path, model: Any) -> pl.Series:
    known = getattr(model, "_columns", None)
    if known is not None and name in known.left_out:
        return table[name] if name in table.columns else pl.Series(name, [None] * len(table), dtype=pl.Null)
    if known is not None:
        numeric = any(isinstance(kind, Number) and kind.name == name for kind in known.used)
    else:
        numeric = model is not None or name not in table.columns or _stands_for_numbers(table[name])
    if numeric or name not in table.columns:  # `numbers` says what is wrong
        return pl.Series(name, numbers(table, [name], path)[:, 0]).fill_nan(None)
    check_dates(table[name], path)
    return table[name]


def names_used(model: Any) -> list[str]:
    """The names of the columns from which a model has learned."""
    columns = getattr(model, "_columns", None)
    return list(model.feature_names_in_ if columns is None else columns.names_of_used)


def note_left_out(session: Any, columns: Columns | None, path: Path) -> None:
    """Say which columns a model leaves out, and why."""
    left_out = {} if columns is None else columns.left_out
    for name, reason in left_out.items():
        session.note(f"{path}: column {name!r} is left out; {reason}.")
    if left_out:
        session.tell(left_out=left_out)


def read_inputs(
    table: pl.DataFrame,
    names: list[str],
    errors: dict[str, str],
    path: Path,
    others: Sequence[str] = (),
    model: Any = None,
) -> Inputs:
    """Values and error bars of columns.

    `errors` maps the name of a column to a number or to a column of error bars. Columns in `others` are never taken as
    error bars. The inputs are new rows if there is a fitted model.
    """
    frame = input_frame(table, names, path, model)
    std = np.zeros(frame.shape)
    for k, name in enumerate(names):
        default = name + ERROR_SUFFIX
        told = errors.get(name, default if default in table.columns and default not in others else "0")
        if frame[name].dtype.is_numeric():
            std[:, k] = _error_bars(table, name, told, frame[name].to_numpy(), path)
        elif name in errors:
            raise Problem(f"--error {name}: error bars are for numbers, but {name!r} holds others.", WRONG_USE)
    return Inputs(names, frame, std if std.any() else None)


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
