"""`semigp forecast`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
import typer

import semigp

from ..series import Forecast
from . import options
from .columns import check_present, choose_inputs
from .problems import WRONG_USE, Problem, reported
from .session import Session
from .tables import numbers, read_table, rounded

_MOST_ADDED = 10  # times as many steps as there are rows: then the times are not those of a series with gaps


@reported
def forecast(
    series: Annotated[
        Path | None, typer.Argument(help="CSV or Parquet file with a series.", show_default=False)
    ] = None,
    steps: Annotated[int, typer.Option("--steps", "-n", help="Steps to forecast.", min=1)] = 10,
    column: Annotated[list[str], typer.Option("--column", "-c", help="What to forecast (repeatable); else all.")] = [],  # noqa: B006
    time: Annotated[str, typer.Option("--time", help="Column of times; else the one that holds dates.")] = "",
    covariate: Annotated[
        list[str], typer.Option("--covariate", help="Column that is known in advance (repeatable); needs --future.")
    ] = [],  # noqa: B006
    future: Annotated[Path | None, typer.Option("--future", help="File with the covariates of the steps.")] = None,
    window: Annotated[str, typer.Option("--window", help="How many past values count: a number, or auto.")] = "auto",
    paths: Annotated[int, typer.Option("--paths", help="Futures to draw.", min=2)] = 500,
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

    Empty cells are gaps, and so are times that lack. The rows that come out are the steps to come, with mean, standard
    deviation and quantiles.

    Example: semigp forecast series.csv --steps 100 --plot fan.png -o forecast.csv
    """
    session = Session(quiet, as_json, (output, save, plot))
    if (series is None) == (model is None):
        raise Problem("Give a file with a series, or --model with a saved model.", WRONG_USE)
    if bool(covariate) and future is None:
        raise Problem("--covariate needs --future, a file with its values for the steps to come.", WRONG_USE)
    if model is not None:
        forecaster = session.load(model, semigp.GPForecaster)
    else:
        needed = {"--column": column, "--covariate": covariate, "--ignore": ignore}
        table, time = _read(session, series, needed, time)
        names = column or choose_inputs(table, [time, *covariate, *ignore], series, session.note)
        frame = _frame(table, names, time, series)
        known = numbers(table, covariate, series) if covariate else None
        with session.fitting("forecast") as bar:
            forecaster = semigp.GPForecaster(_window(window), callback=bar.callback, random_state=seed)
            forecaster.fit(frame, known, time or None)
        _describe(session, forecaster, series)
    ahead = None if future is None else _ahead(future, covariate, steps)
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
        raise Problem(f"--window {text}: a number from 1 on, or auto.", WRONG_USE)
    return int(text)


def _read(session: Session, path: Path, needed: dict[str, list[str]], time: str) -> tuple[pl.DataFrame, str]:
    """The table on a regular grid, and the name of its column of times, if it has one."""
    table = read_table(path)
    for option, names in needed.items():
        check_present(names, table, path, option)
    if time:
        check_present([time], table, path, "--time")
    else:
        dates = [name for name, kind in table.schema.items() if kind.is_temporal()]
        if len(dates) > 1:
            raise Problem(
                f"{path}: several columns hold dates ({', '.join(dates)}); choose one with --time.", WRONG_USE
            )
        time = dates[0] if dates else ""
    if not time:
        return table, ""
    if table[time].dtype == pl.String:  # says where it is neither a number nor a date
        table = table.with_columns(pl.Series(time, numbers(table, [time], path)[:, 0], nan_to_null=True))
    if table[time].dtype == pl.Time:
        raise Problem(f"{path}, column {time!r}: times of day without a date.")
    return _on_grid(session, table, time, path), time


def _on_grid(session: Session, table: pl.DataFrame, time: str, path: Path) -> pl.DataFrame:
    """Rows in order of time, and empty ones where a time lacks; months of unequal length stay as they are."""
    for is_wrong, what in (
        (table[time].is_null(), "no time"),
        (table[time].is_duplicated(), "a time that is there twice"),
    ):
        if is_wrong.any():
            raise Problem(f"{path}, row {is_wrong.arg_max() + 1}, column {time!r}: {what}.")
    table = table.sort(time)
    ticks = table[time].to_physical().cast(pl.Float64).to_numpy()
    step = np.diff(ticks).min() if len(ticks) > 1 else 1.0
    places = (ticks - ticks[0]) / step
    is_even = np.allclose(places, np.round(places), atol=1e-6) and places[-1] < _MOST_ADDED * len(ticks)
    lacking = round(float(places[-1])) + 1 - len(ticks)
    if not is_even or not lacking:
        return table
    session.note(f"{path}: {lacking} times lack between the first and the last; they count as gaps.")
    every = pl.Series(time, ticks[0] + step * np.arange(len(ticks) + lacking)).cast(table[time].to_physical().dtype)
    placed = table.with_columns(every.gather(np.round(places).astype(int)))
    grid = pl.DataFrame([every]).join(placed, on=time, how="left", maintain_order="left")
    return grid.with_columns(pl.col(time).cast(table[time].dtype))


def _frame(table: pl.DataFrame, names: list[str], time: str, path: Path) -> pl.DataFrame:
    """The series with its times, whole numbers where they are."""
    frame = pl.DataFrame(numbers(table, names, path), schema=names)
    if not time:
        return frame
    times = table[time]
    if times.dtype == pl.Float64 and (times == times.round()).all():
        times = times.cast(pl.Int64)
    return frame.with_columns(times)


def _describe(session: Session, forecaster: semigp.GPForecaster, path: Path) -> None:
    values, report = forecaster.impute(), forecaster.fit_report_
    gaps = int(np.sum(forecaster.impute(return_std=True)[1] > 0))
    session.note(f"{path}: {len(values)} steps, {gaps} values missing; window {forecaster.window_}.")
    session.note(f"Fit: {report.status}, bound {report.bound:.1f}, {len(report.trace)} iterations.")
    session.tell(status=report.status, bound=float(report.bound), window=forecaster.window_, gaps=gaps)


def _rows(found: Forecast) -> pl.DataFrame:
    """A row per step; of several series, per step and series."""
    table = pl.DataFrame(found.to_frame())
    table = table.with_columns(rounded(name, table[name]) for name in ("mean", "std") if name in table.columns)
    table = table.with_columns(rounded(name, table[name]) for name in table.columns if name.startswith("q0."))
    return table.drop("series") if len(found.timeline.names) == 1 else table


def _ahead(path: Path, names: list[str], steps: int) -> np.ndarray:
    """Covariates of the steps to come."""
    table = read_table(path)
    check_present(names, table, path, "--covariate")
    if len(table) < steps:
        raise Problem(f"{path}: {len(table)} rows, where --steps {steps} needs as many.")
    return numbers(table, names, path)[:steps]


def _draw(found: Forecast, axes: Any) -> None:
    from ..plotting import draw_fan

    draw_fan(found, axes)
