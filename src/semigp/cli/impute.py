"""The command `semigp impute`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
import typer

import semigp

from . import options
from .columns import ERROR_SUFFIX, check_filled, check_present, choose_inputs
from .problems import reported
from .session import Session
from .tables import numbers, read_table, rounded


@reported
def impute(
    data: Annotated[Path, typer.Argument(help="CSV or Parquet file with missing cells.", show_default=False)],
    output: options.Output = None,
    ignore: options.Ignore = [],  # noqa: B006
    draws: Annotated[int, typer.Option("--draws", help="Number of draws of the missing values.", min=1)] = 10,
    save: options.Save = None,
    model: options.Model = None,
    plot: options.Plot = None,
    seed: options.Seed = 0,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Fill in the missing cells of a table, with their uncertainty.

    Every column of numbers is modelled as a Gaussian process of the others. A column x that had missing cells is
    followed by x_std: the standard deviation of the filled-in values, and 0 where the value was known. Other columns
    are unchanged.

    Example: semigp impute data.csv -o filled.csv
    """
    session = Session(quiet, as_json, (output, save, plot))
    table = read_table(data)
    check_present(ignore, table, data, "--ignore")
    if model is not None:
        imputer = session.load(model, semigp.GPImputer)
        names = list(imputer.feature_names_in_)
    else:
        names = choose_inputs(table, ignore, data, session.note)
    values = numbers(table, names, data)
    if model is None:
        check_filled(values, names, data)
    frame = pl.DataFrame(values, schema=names)
    if model is None:
        with session.fitting("impute", is_gentle=False):  # a fit of draws cannot end early
            imputer = semigp.GPImputer(draws, random_state=seed).fit(frame)
    mean, std = (np.asarray(part) for part in imputer.impute(None if model is None else frame, return_std=True))
    holes = np.isnan(values)
    session.note(f"{data}: {holes.sum()} of {holes.size} entries in {holes.any(axis=1).sum()} rows filled in.")
    session.tell(filled=int(holes.sum()), entries=holes.size, columns=names)
    session.put(_filled(table, names, mean, std, holes, data), output)
    session.save(imputer, save)
    session.draw(lambda axes: _draw(imputer, axes), plot)
    session.finish()


def _filled(
    table: pl.DataFrame, names: list[str], mean: np.ndarray, std: np.ndarray, holes: np.ndarray, path: Path
) -> pl.DataFrame:
    """The table with its missing cells filled in. Existing error bars are kept where the value was known."""
    columns: list[pl.Series] = []
    for name in table.columns:
        if name not in names:
            columns.append(table[name])
            continue
        k = names.index(name)
        columns.append(pl.Series(name, np.where(holes[:, k], rounded(name, mean[:, k]), mean[:, k])))
        bar = name + ERROR_SUFFIX
        if holes[:, k].any() and bar not in table.columns:
            columns.append(rounded(bar, std[:, k]))
    filled = pl.DataFrame(columns)
    for k, name in enumerate(names):
        bar = name + ERROR_SUFFIX
        if bar in table.columns and holes[:, k].any():
            kept = np.where(holes[:, k], std[:, k], numbers(table, [bar], path)[:, 0])
            filled = filled.with_columns(pl.Series(bar, kept))
    return filled


def _draw(imputer: semigp.GPImputer, axes: Any) -> None:
    from ..plotting import draw_imputed

    draw_imputed(imputer, axes)
