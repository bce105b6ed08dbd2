"""The command `semigp compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
import typer

import semigp

from . import options
from .classify import class_names
from .columns import check_present, choose_inputs, input_frame
from .problems import WRONG_USE, Problem, reported
from .series_files import read_wide, series_frame
from .session import Session
from .sources import Reading
from .tables import numbers


@reported
def compare(
    data: Annotated[Path, typer.Argument(help="CSV or Parquet file.", show_default=False)],
    target: Annotated[str, typer.Option("--target", "-t", help="Column of numbers to predict.")] = "",
    label: Annotated[str, typer.Option("--label", "-l", help="Column of classes; empty cells are unknown.")] = "",
    column: Annotated[str, typer.Option("--column", "-c", help="Column of a series to forecast.")] = "",
    time: Annotated[str, typer.Option("--time", help="Column of times; default: the column of dates.")] = "",
    steps: Annotated[int | None, typer.Option("--steps", "-n", help="Number of steps to forecast.", min=1)] = None,
    ignore: options.Ignore = [],  # noqa: B006
    splits: Annotated[int, typer.Option("--splits", help="How often the data are split.", min=2)] = 5,
    minutes: Annotated[float, typer.Option("--minutes", help="No split begins that would end later.", min=0.01)] = 1.0,
    output: options.Output = None,
    report: options.Report = None,
    encoding: options.Encoding = "utf-8",
    day_first: options.DayFirst = None,
    missing: options.Missing = [],  # noqa: B006
    seed: options.Seed = 0,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Does it pay on your own data? Compare semigp with the usual ways, on your rows with your holes.

    With --target numbers are predicted, with --label classes, with --column a series is forecast. Without any of
    these, known cells are hidden and filled. The table has the best way first, and ends with advice.

    Example: semigp compare train.csv --target y
    """
    if sum(map(bool, (target, label, column))) > 1:
        raise Problem("Give one of --target, --label and --column, or none of them.", WRONG_USE)
    session = Session(quiet, as_json, (output, None, None), Reading(encoding, day_first, tuple(missing)), report)
    settings: dict[str, Any] = {"n_splits": splits, "minutes": minutes, "random_state": seed}
    with session.working("compare"):
        found, X, y = _compared(session, data, target, label, column, time, steps, ignore, settings)
    table = pl.DataFrame(found.to_dict()).with_columns(pl.selectors.float().round_sig_figs(4))
    if output is not None:
        session.put(table, output)
    if as_json:
        session.tell(about=found.about, splits=found.n_splits, best=found.best, advice=found.advice)
        session.tell(left_out=found.left_out, ways=table.with_columns(pl.selectors.float().fill_nan(None)).to_dicts())
    else:
        print(found)
    session.report(report, found, X, y, data, [target or label] if y is not None else [])
    session.finish()


def _compared(
    session: Session, path: Path, target: str, label: str, column: str, time: str, steps: int | None,
    ignore: list[str], settings: dict[str, Any],
) -> tuple[semigp.Comparison, Any, Any]:  # fmt: skip
    """The comparison, and the table and the outputs that it is about; None for a series."""
    table = session.read(path)
    asked = [name for name in (target, label, column) if name]
    check_present(asked, table, path, "--target" if target else "--label" if label else "--column")
    check_present(ignore, table, path, "--ignore")
    if column:
        wide, time = read_wide(session, path, {"--column": [column], "--ignore": ignore}, time)
        series = series_frame(wide, [column], time, path).drop(time, strict=False)
        return semigp.compare(series, task="forecast", steps=steps, **settings), None, None
    names = choose_inputs(table, [*asked, *ignore], path, session.note)
    X = input_frame(table, names, path)
    if not asked:
        return semigp.compare(X, task="imputation", **settings), X, None
    y = numbers(table, [target], path)[:, 0] if target else np.array(class_names(table[label]), object)
    task = "regression" if target else "classification"
    return semigp.compare(X, y, task=task, **settings), X, y
