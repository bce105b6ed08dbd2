"""Series in files: a wide table with a column for each, or a long table with a row for each series and time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from ..series.dates import HOW
from ..series.grid import shown
from .columns import check_dates, check_present, choose_numbers, holds_numbers
from .grid import on_grid
from .problems import WRONG_USE, Problem
from .session import Session
from .tables import numbers
from .wording import listed, shortened


def read_wide(session: Session, path: Path, needed: dict[str, list[str]], time: str) -> tuple[pl.DataFrame, str]:
    """The table on a regular time grid, and the name of its column of times, or "" if it has none."""
    table, time = _read(session, path, needed, time)
    if not time:
        _check_texts(table, [name for names in needed.values() for name in names], path)
        return table, ""
    return on_grid(table, time, path, session.note), time


def series_frame(table: pl.DataFrame, names: list[str], time: str, path: Path) -> pl.DataFrame:
    """The series with its times. Times that are whole numbers become integers."""
    frame = pl.DataFrame(numbers(table, names, path), schema=names)
    return frame.with_columns(_whole(table[time])) if time else frame


def read_long(
    session: Session, path: Path, needed: dict[str, list[str]], time: str, name: str
) -> tuple[pl.DataFrame, str, str]:
    """The names, times, values and covariates of a panel, and the names of its columns of times and of values."""
    table, time = _read(session, path, {"--id": [name], **needed}, time)
    _check_names(table[name], path)
    if time:
        _check_times(table, name, time, path)
    else:
        _check_texts(table, [name, *(each for names in needed.values() for each in names)], path)
    columns, covariates = needed["--column"], needed["--covariate"]
    if not columns:
        others = [name, time, *covariates, *needed["--ignore"]]
        columns = choose_numbers(table, others, path, session.note)
    if len(columns) > 1:
        raise Problem(
            f"--id {name}: one column holds the values of all series, but there are {listed(columns)}. "
            "Choose one with --column.",
            WRONG_USE,
        )
    return _long(table, name, time, [*columns, *covariates], path), time, columns[0]


def read_covariates(session: Session, path: Path, names: list[str], steps: int) -> np.ndarray:
    """The covariates (steps, c) of the steps after the end of a series."""
    table = session.read(path)
    check_present(names, table, path, "--covariate")
    if len(table) < steps:
        raise Problem(f"{path} has {len(table)} rows, but --steps {steps} needs {steps}.")
    return numbers(table, names, path)[:steps]


def read_long_covariates(session: Session, path: Path, names: list[str], time: str, name: str) -> pl.DataFrame:
    """The covariates of a panel, with names and times of the steps after the end of each series."""
    table, _ = _read(session, path, {"--id": [name], "--covariate": names}, time, is_dated=False)
    _check_names(table[name], path)
    if time:
        _check_times(table, name, time, path)
    return _long(table, name, time, names, path)


def _read(
    session: Session, path: Path, needed: dict[str, list[str]], time: str, is_dated: bool = True
) -> tuple[pl.DataFrame, str]:
    """A table with its column of times, which is found by its type if it is not given and `is_dated`."""
    table = session.read(path)
    for option, names in needed.items():
        check_present(names, table, path, option)
    if time:
        check_present([time], table, path, "--time")
    elif is_dated:
        known = needed.get("--id", [])
        dates = [name for name, kind in table.schema.items() if kind.is_temporal() and name not in known]
        if len(dates) > 1:
            raise Problem(f"{path}: several columns hold dates ({listed(dates)}); choose one with --time.", WRONG_USE)
        time = dates[0] if dates else ""
    if time and table[time].dtype == pl.String:
        table = table.with_columns(pl.Series(time, _numbers_or_dates(table, time, path), nan_to_null=True))
    if time and table[time].dtype == pl.Time:
        raise Problem(f"{path}, column {time!r}: these are times of day without a date. Add the date.")
    return table, time


def _numbers_or_dates(table: pl.DataFrame, time: str, path: Path) -> np.ndarray:
    """The numbers of a column of text, such as 00012. Raises a Problem if they are not numbers."""
    try:
        return numbers(table, [time], path)[:, 0]
    except Problem:
        check_dates(table[time], path, "the row out")
        example = shortened(table[time].drop_nulls()[0])
        raise Problem(f"{path}, column {time!r}: {example} is neither a date nor a number. {HOW}") from None


def _long(table: pl.DataFrame, name: str, time: str, others: Sequence[str], path: Path) -> pl.DataFrame:
    frame = pl.DataFrame(numbers(table, list(others), path), schema=list(others))
    return frame.with_columns(table[name], *([_whole(table[time])] if time else []))


def _whole(times: pl.Series) -> pl.Series:
    """Times that are whole numbers as integers."""
    is_whole = times.dtype == pl.Float64 and (times == times.round()).all()
    return times.cast(pl.Int64) if is_whole else times


def _check_texts(table: pl.DataFrame, others: list[str], path: Path) -> None:
    """Raise a Problem if a column holds text: it most likely holds dates in a form that was not recognised."""
    for name, kind in table.schema.items():
        is_text = kind == pl.String and table[name].null_count() < len(table) and not holds_numbers(table[name])
        if is_text and name not in others:
            check_dates(table[name], path, "the row out")
            example = shortened(table[name].drop_nulls()[0])
            raise Problem(
                f"{path}, column {name!r}: {example} is not recognised as a date. {HOW} Or use --ignore {name}, or "
                f"--id {name} if it holds the names of many series."
            )


def _check_names(names: pl.Series, path: Path) -> None:
    if names.is_null().any():
        row = names.is_null().arg_max() + 1
        raise Problem(f"{path}, row {row}, column {names.name!r}: the name of the series is missing.")


def _check_times(table: pl.DataFrame, name: str, time: str, path: Path) -> None:
    """Raise a Problem unless every row has a time, which occurs once in its series."""
    missing = table[time].is_null()
    if missing.any():
        raise Problem(f"{path}, row {missing.arg_max() + 1}, column {time!r}: the time is missing.")
    twice = ~table.select(pl.struct(name, time).is_first_distinct()).to_series()
    if twice.any():
        row = int(twice.arg_max())
        series, when = shortened(table[name][row]), _shown(table[time], row)
        raise Problem(
            f"{path}, row {row + 1}: the series {series} has {when} in an earlier row too. Keep one row of each time."
        )


def _shown(times: pl.Series, row: int) -> str:
    if getattr(times.dtype, "time_zone", None) is not None:
        times = times.dt.replace_time_zone(None)
    return shown(times.to_numpy()[row])
