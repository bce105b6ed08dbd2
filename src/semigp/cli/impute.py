"""The command `semigp impute`."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
import typer

import semigp

from ..columns import Columns, Levels
from . import options
from .columns import ERROR_SUFFIX, check_present, choose_inputs, input_frame, names_used, note_left_out
from .problems import WRONG_USE, Problem, reported
from .session import Session
from .sources import Reading
from .tables import numbers, rounded
from .wording import listed

PROBABILITY_SUFFIX = "_prob"


@reported
def impute(
    data: Annotated[Path, typer.Argument(help="CSV or Parquet file with missing cells.", show_default=False)],
    output: options.Output = None,
    ignore: options.Ignore = [],  # noqa: B006
    draws: Annotated[int, typer.Option("--draws", help="Number of draws of the missing values.", min=1)] = 10,
    save: options.Save = None,
    model: options.Model = None,
    plot: options.Plot = None,
    report: options.Report = None,
    encoding: options.Encoding = "utf-8",
    day_first: options.DayFirst = None,
    missing: options.Missing = [],  # noqa: B006
    seed: options.Seed = 0,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Fill in the missing cells of a table, with their uncertainty.

    Every column is predicted from the others, by a Gaussian process and by similar rows. A column x of numbers or times
    that had missing cells is followed by x_std: the standard deviation of the filled-in values (of times, in seconds),
    and 0 where the value was known. A column x of text or of true and false is followed by x_prob: the probability of
    the filled-in value. Identifiers and free text are unchanged.

    Example: semigp impute data.csv -o filled.csv
    """
    session = Session(quiet, as_json, (output, save, plot), Reading(encoding, day_first, tuple(missing)), report)
    if report is not None and model is not None:
        raise Problem("--report is about the table that a model is fitted to: leave out --model.", WRONG_USE)
    table = session.read(data)
    check_present(ignore, table, data, "--ignore")
    if model is not None:
        imputer = session.load(model, semigp.GPImputer)
        frame = input_frame(table, list(imputer.feature_names_in_), data, imputer)
    else:
        frame = input_frame(table, choose_inputs(table, ignore, data, session.note), data)
        with session.fitting("impute"):
            imputer = semigp.GPImputer(draws, random_state=seed).fit(frame)
        note_left_out(session, getattr(imputer, "_columns", None), data)
    given = None if model is None else frame
    with session.working("impute"):
        filled, std = imputer.impute(given, return_std=True)
        bars = _Bars.of(imputer, given, filled, std)
    names = names_used(imputer)
    holes = np.column_stack([frame[name].is_null() for name in names])
    left = sum(filled.select(names).null_count().row(0))
    session.note(
        f"{data}: holes among {holes.size} cells: {holes.sum()}, in {holes.any(axis=1).sum()} of {len(table)} rows. "
        f"Filled in: {holes.sum() - left}. Left: {left or 'none'}."
    )
    session.tell(filled=int(holes.sum()) - left, left=left, entries=holes.size, columns=names)
    rows = _filled(table, frame.select(names), filled, bars, data)
    others = [name for name in table.columns if name not in names and rows[name].null_count()]
    if others:
        session.note(f"{data}: holes in columns that were not learned are as they were: {listed(others)}.")
    session.put(rows, output, data)
    session.save(imputer, save)
    session.draw(lambda axes: _draw(imputer, axes), plot)
    session.report(report, imputer, frame, data=data)
    session.finish()


@dataclass(frozen=True)
class _Bars:
    """How sure the imputer is: standard deviations of numbers and times, and probabilities of levels."""

    std: pl.DataFrame
    levels: set[str]  # the names of columns of levels
    probabilities: dict[str, np.ndarray]  # (n,), of the levels in the table

    @classmethod
    def of(cls, imputer: Any, given: pl.DataFrame | None, filled: pl.DataFrame, std: pl.DataFrame) -> _Bars:
        """For a table that was filled in, and given by the user unless it is that of the fit."""
        columns: Columns | None = getattr(imputer, "_columns", None)
        if columns is None:
            return cls(std, set(), {})
        levels = {kind.name for kind in columns.used if isinstance(kind, Levels)}
        found = imputer.impute_proba(given) if levels and hasattr(imputer, "impute_proba") else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the user has been told of levels that were not seen in training
            codes = dict(zip(columns.names_of_used, columns.encode(filled).T, strict=True))
        return cls(std, levels, {name: _chosen(found[name], codes[name]) for name in found})

    def after(self, name: str) -> tuple[str, np.ndarray] | None:
        """The ending of the name, and the values of the column that follows a column; None if there is none."""
        if name not in self.levels:
            return ERROR_SUFFIX, self.std[name].to_numpy()
        return (PROBABILITY_SUFFIX, self.probabilities[name]) if name in self.probabilities else None


def _chosen(probabilities: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The probability of the level of every row; NaN where the level is unknown to the imputer."""
    is_known = ~np.isnan(codes)
    places = np.where(is_known, codes, 0).astype(int)
    return np.where(is_known, probabilities[np.arange(len(codes)), places], np.nan)


def _filled(table: pl.DataFrame, frame: pl.DataFrame, filled: pl.DataFrame, bars: _Bars, path: Path) -> pl.DataFrame:
    """The table with its missing cells filled in. Existing error bars are kept where the value was known."""
    columns: dict[str, pl.Series] = {}
    replaced: dict[str, pl.Series] = {}
    for name in table.columns:
        columns[name] = table[name]
        if name not in frame.columns:
            continue
        holes = frame[name].is_null()
        columns[name] = _written(table[name], filled[name], holes)
        follower = bars.after(name) if holes.any() else None
        if follower is None:
            continue
        bar = name + follower[0]
        if bar not in table.columns:
            columns[bar] = rounded(bar, follower[1])
        elif bar.endswith(ERROR_SUFFIX):
            replaced[bar] = pl.Series(bar, np.where(holes, follower[1], numbers(table, [bar], path)[:, 0]))
    return pl.DataFrame(list((columns | replaced).values()))


def _written(before: pl.Series, filled: pl.Series, holes: pl.Series) -> pl.Series:
    """A filled column in the form in which it was read; numbers that were filled in have six digits."""
    if not filled.dtype.is_numeric():
        return filled
    values = np.where(holes, rounded("", filled.to_numpy()), filled.to_numpy())
    is_whole = before.dtype.is_integer() and (values == np.rint(values)).all()
    return pl.Series(filled.name, values.astype(np.int64) if is_whole else values)


def _draw(imputer: semigp.GPImputer, axes: Any) -> None:
    from ..plotting import draw_imputed

    draw_imputed(imputer, axes)
