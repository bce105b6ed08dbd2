"""The command `semigp forecast`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
import typer

import semigp

from ..series.dates import HOW
from ..series.forecast import Forecast
from . import options
from .columns import check_present, choose_numbers, holds_numbers
from .grid import on_grid
from .problems import WRONG_USE, Problem, reported
from .session import Session
from .tables import listed, numbers, read_table, rounded, shortened

_HISTORY = 200  # a figure shows at least this many past steps


@reported
def forecast(
    series: Annotated[
        Path | None, typer.Argument(help="CSV or Parquet file with a series.", show_default=False)
    ] = None,
    steps: Annotated[int, typer.Option("--steps", "-n", help="Number of steps to forecast.", min=1, max=100_000)] = 10,
    column: Annotated[
        list[str], typer.Option("--column", "-c", help="Column to forecast (repeatable); default: all.")
    ] = [],  # noqa: B006
    time: Annotated[str, typer.Option("--time", help="Column of times; default: the column of dates.")] = "",
    covariate: Annotated[
        list[str], typer.Option("--covariate", help="Column that is known in advance (repeatable); needs --future.")
    ] = [],  # noqa: B006
    future: Annotated[Path | None, typer.Option("--future", help="File with the covariates of future steps.")] = None,
    window: Annotated[str, typer.Option("--window", help="Number of past values to use, or auto.")] = "auto",
    paths: Annotated[int, typer.Option("--paths", help="Number of futures to draw.", min=2)] = 500,
    output: options.Output = None,
    ignore: options.Ignore = [],  # noqa: B006
    save: options.Save = None,
    model: options.Model = None,
    plot: options.Plot = None,
    seed: options.Seed = 0,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Forecast a series that may have gaps, with intervals.

    Empty cells and missing times are gaps. The result has a row for each future step, with mean, standard deviation and
    quantiles.

    Example: semigp forecast series.csv --steps 100 --plot fan.png -o forecast.csv
    """
    session = Session(quiet, as_json, (output, save, plot))
    if (series is None) == (model is None):
        raise Problem("Give a file with a series, or --model with a saved model.", WRONG_USE)
    if bool(covariate) and future is None:
        raise Problem("--covariate needs --future, a file with its values for the future steps.", WRONG_USE)
    if model is not None:
        forecaster = session.load(model, semigp.GPForecaster)
    else:
        needed = {"--column": column, "--covariate": covariate, "--ignore": ignore}
        table, time = _read(session, series, needed, time)
        names = column or choose_numbers(table, [time, *covariate, *ignore], series, session.note)
        frame = _frame(table, names, time, series)
        known = numbers(table, covariate, series) if covariate else None
        with session.fitting("forecast"):
            forecaster = semigp.GPForecaster(_window(window), random_state=seed)
            forecaster.fit(frame, known, time or None)
        _describe(session, forecaster, series)
    ahead = None if future is None else _ahead(future, covariate, steps)
    with session.working("forecast"):
        found = forecaster.forecast(steps, n_paths=paths, covariates=ahead)
    session.put(_rows(found), output)
    session.save(forecaster, save)
    count = len(found.timeline.names)
    session.draw(lambda axes: _draw(found, axes), plot, (9.0, 1.0 + 2.6 * count), count)
    session.finish()


def _window(text: str) -> int | str:
    if text == "auto":
        return text
    if not text.isdecimal() or int(text) < 1:
        raise Problem(f"--window {text}: give a whole number, 1 or more, or auto.", WRONG_USE)
    return int(text)


def _check_texts(table: pl.DataFrame, others: list[str], path: Path) -> None:
    """Raise a Problem if a column holds text: it most likely holds dates in a form that was not recognised."""
    for name, kind in table.schema.items():
        is_text = kind == pl.String and table[name].null_count() < len(table) and not holds_numbers(table[name])
        if is_text and name not in others:
            example = shortened(table[name].drop_nulls()[0])
            raise Problem(
                f"{path}, column {name!r}: {example} is not recognised as a date. {HOW} Or use --ignore {name}."
            )


def _read(session: Session, path: Path, needed: dict[str, list[str]], time: str) -> tuple[pl.DataFrame, str]:
    """The table on a regular time grid, and the name of its column of times, or "" if it has none."""
    table = read_table(path)
    for option, names in needed.items():
        check_present(names, table, path, option)
    if time:
        check_present([time], table, path, "--time")
    else:
        dates = [name for name, kind in table.schema.items() if kind.is_temporal()]
        if len(dates) > 1:
            raise Problem(f"{path}: several columns hold dates ({listed(dates)}); choose one with --time.", WRONG_USE)
        time = dates[0] if dates else ""
    if not time:
        _check_texts(table, [name for names in needed.values() for name in names], path)
        return table, ""
    if table[time].dtype == pl.String:
        table = table.with_columns(pl.Series(time, _numbers_or_dates(table, time, path), nan_to_null=True))
    if table[time].dtype == pl.Time:
        raise Problem(f"{path}, column {time!r}: these are times of day without a date. Add the date.")
    return on_grid(table, time, path, session.note), time


def _numbers_or_dates(table: pl.DataFrame, time: str, path: Path) -> np.ndarray:
    """The numbers of a column of text, such as 00012. Raises a Problem if they are not numbers."""
    try:
        return numbers(table, [time], path)[:, 0]
    except Problem:
        example = shortened(table[time].drop_nulls()[0])
        raise Problem(f"{path}, column {time!r}: {example} is neither a date nor a number. {HOW}") from None


def _frame(table: pl.DataFrame, names: list[str], time: str, path: Path) -> pl.DataFrame:
    """The series with its times. Times that are whole numbers become integers."""
    frame = pl.DataFrame(numbers(table, names, path), schema=names)
    if not time:
        return frame
    times = table[time]
    if times.dtype == pl.Float64 and (times == times.round()).all():
        times = times.cast(pl.Int64)
    return frame.with_columns(times)


def _describe(session: Session, forecaster: semigp.GPForecaster, path: Path) -> None:
    report, std = forecaster.fit_report_, forecaster.impute(return_std=True)[1]
    gaps = int(sum((std[name] > 0).sum() for name in forecaster.series_names_))
    session.note(f"{path}: {len(std)} steps, {gaps} values missing; window {forecaster.window_}.")
    session.note(f"Fit: {report.status}, bound {report.bound:.1f}, {len(report.trace)} iterations.")
    session.tell(status=report.status, bound=float(report.bound), window=forecaster.window_, gaps=gaps)


def _rows(found: Forecast) -> pl.DataFrame:
    """A table with a row for each step, or for each step and series if there are several."""
    table = pl.DataFrame(found.to_frame())
    table = table.with_columns(rounded(name, table[name]) for name in ("mean", "std") if name in table.columns)
    table = table.with_columns(rounded(name, table[name]) for name in table.columns if name.startswith("q0."))
    return table.drop("series") if len(found.timeline.names) == 1 else table


def _ahead(path: Path, names: list[str], steps: int) -> np.ndarray:
    """The covariates of the future steps."""
    table = read_table(path)
    check_present(names, table, path, "--covariate")
    if len(table) < steps:
        raise Problem(f"{path} has {len(table)} rows, but --steps {steps} needs {steps}.")
    return numbers(table, names, path)[:steps]


def _draw(found: Forecast, axes: Any) -> None:
    from ..plotting import draw_fan

    draw_fan(found, axes, history=max(_HISTORY, 2 * len(found)))
