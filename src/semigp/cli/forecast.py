"""The command `semigp forecast`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
import typer

import semigp

from ..series import Forecast, PanelForecast
from . import options
from .columns import choose_numbers
from .problems import WRONG_USE, Problem, reported
from .series_files import read_covariates, read_long, read_long_covariates, read_wide, series_frame
from .session import Session
from .sources import Reading
from .tables import numbers, rounded
from .wording import listed, shortened

_HISTORY = 200  # a figure shows at least this many past steps
_MOST_DRAWN = 6  # a figure of a panel shows at most this many series
_DEFAULT_LEVELS, _DRAWN = "50,95", [50.0, 80.0, 95.0]  # a figure has room for one more interval than a table
_MANY_ROWS = 3000  # with fewer, starting processes takes longer than one process needs for all
_TRENDS = {"auto": "auto", "none": None, "increments": "increments", "time": "time"}
_PRIORS = {
    "past": "a function of the past",
    "increments": "the last increments",
    "time": "a function of time",
    "recent": "a function of recent time",
}


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
    series_id: Annotated[
        str, typer.Option("--id", help="Column of names, if each row belongs to one of many series.")
    ] = "",
    covariate: Annotated[
        list[str], typer.Option("--covariate", help="Column that is known in advance (repeatable); needs --future.")
    ] = [],  # noqa: B006
    future: Annotated[Path | None, typer.Option("--future", help="File with the covariates of future steps.")] = None,
    covariate_lags: Annotated[
        int, typer.Option("--covariate-lags", help="Number of earlier values of each covariate to use.", min=0)
    ] = 0,
    window: Annotated[str, typer.Option("--window", help="Number of past values to use, or auto.")] = "auto",
    season: Annotated[
        str, typer.Option("--season", help="Steps in a season, such as 24 or 24,168; auto; none.")
    ] = "auto",
    trend: Annotated[str, typer.Option("--trend", help="auto, none, increments or time.")] = "auto",
    levels: Annotated[
        list[str],
        typer.Option("--levels", help="Probabilities of intervals, such as 50,80,95; or quantiles, such as .1,.5,.9."),
    ] = [_DEFAULT_LEVELS],  # noqa: B006
    paths: Annotated[int, typer.Option("--paths", help="Number of futures to draw.", min=2)] = 500,
    output: options.Output = None,
    ignore: options.Ignore = [],  # noqa: B006
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
    """Forecast a series that may have gaps, or many series, with intervals.

    Empty cells and missing times are gaps. Seasons and trends are found. The result has a row for each future step,
    with mean, standard deviation and quantiles. With --id, the file has a row for each series and time, and so has the
    result.

    Example: semigp forecast series.csv --steps 100 --plot fan.png -o forecast.csv
    """
    session = Session(quiet, as_json, (output, save, plot), Reading(encoding, day_first, tuple(missing)), report)
    if (series is None) == (model is None):
        raise Problem("Give a file with a series, or --model with a saved model.", WRONG_USE)
    if bool(covariate) and future is None:
        raise Problem("--covariate needs --future, a file with its values for the future steps.", WRONG_USE)
    if future is not None and not covariate:
        raise Problem("--future needs --covariate, the columns that are known in advance.", WRONG_USE)
    wanted, bands = _levels(",".join(levels))
    if model is not None:
        forecaster = session.load(model, semigp.GPForecaster)
    else:
        forecaster = semigp.GPForecaster(
            _window(window),
            season=_season(season),
            trend=_trend(trend),
            covariate_lags=covariate_lags,
            random_state=seed,
        )
        needed = {"--column": column, "--covariate": covariate, "--ignore": ignore}
        if series_id:
            _fit_panel(session, forecaster, series, needed, time, series_id)
        else:
            _fit_series(session, forecaster, series, needed, time)
    with session.working("forecast"):
        ahead = _ahead(session, forecaster, future, covariate, steps)
        found = forecaster.forecast(steps, n_paths=paths, covariates=ahead)
    session.put(_rows(found, wanted), output, series, _time_names(found))
    session.save(forecaster, save)
    drawn = found.forecasts[:_MOST_DRAWN] if isinstance(found, PanelForecast) else [found]
    count = sum(len(each.timeline.names) for each in drawn)
    session.draw(lambda axes: _draw(found, drawn, bands, axes), plot, (9.0, 1.0 + 2.6 * count), count)
    session.report(report, forecaster, forecast=found)
    session.finish()


# ---- options


def _window(text: str) -> int | str:
    if text == "auto":
        return text
    if not text.isdecimal() or int(text) < 1:
        raise Problem(f"--window {text}: give a whole number, 1 or more, or auto.", WRONG_USE)
    return int(text)


def _season(text: str) -> str | list[int] | None:
    if text in ("auto", "none"):
        return "auto" if text == "auto" else None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) > 1 for part in parts):
        raise Problem(
            f"--season {text}: give whole numbers, 2 or more, with commas between them, or auto, or none.", WRONG_USE
        )
    return [int(part) for part in parts]


def _trend(text: str) -> str | None:
    if text not in _TRENDS:
        raise Problem(f"--trend {text}: give one of {', '.join(_TRENDS)}.", WRONG_USE)
    return _TRENDS[text]


def _levels(text: str) -> tuple[list[float], list[float]]:
    """The quantiles to write, and the probabilities of intervals to draw, in percent."""
    try:
        found = sorted({float(part.strip().removesuffix("%")) for part in text.split(",")})
    except ValueError:
        found = []
    if found and all(0 < level < 1 for level in found):
        return found, _DRAWN
    if not found or not all(1 < level < 100 for level in found):
        raise Problem(
            f"--levels {text}: give numbers between 0 and 1 for quantiles, such as .1,.5,.9, or between 1 and 100 for "
            "intervals, such as 50,80,95, with commas between them.",
            WRONG_USE,
        )
    edges = {round(0.5 + sign * level / 200, 6) for level in found for sign in (-1, 1)}
    return sorted({0.5, *edges}), found if text != _DEFAULT_LEVELS else _DRAWN


# ---- fitting


def _fit_series(
    session: Session, forecaster: semigp.GPForecaster, path: Path, needed: dict[str, list[str]], time: str
) -> None:
    table, time = read_wide(session, path, needed, time)
    covariates = needed["--covariate"]
    names = needed["--column"] or choose_numbers(table, [time, *covariates, *needed["--ignore"]], path, session.note)
    frame = series_frame(table, names, time, path)
    known = numbers(table, covariates, path) if covariates else None
    with session.fitting("forecast"):
        forecaster.fit(frame, known, time or None)
    std = forecaster.impute(return_std=True)[1]
    gaps = int(sum((std[name] > 0).sum() for name in forecaster.series_names_))
    session.note(f"{path}: {len(std)} steps, {gaps} values missing; {_structure(forecaster)}.")
    _describe(session, forecaster, forecaster.weights_, gaps)


def _fit_panel(
    session: Session, forecaster: semigp.GPForecaster, path: Path, needed: dict[str, list[str]], time: str, name: str
) -> None:
    frame, time, value = read_long(session, path, needed, time, name)
    forecaster.set_params(n_jobs=-1 if len(frame) >= _MANY_ROWS else None)
    with session.fitting("forecast") as bar:
        try:
            forecaster.fit(frame, needed["--covariate"], time or None, id=name, value=value)
        except Exception as error:  # Ctrl-C reaches all processes, which then fail in many ways
            if bar.is_interrupted and forecaster.n_jobs is not None:
                raise KeyboardInterrupt from error
            raise
    std = forecaster.impute(return_std=True)
    lengths, gaps = std[name].value_counts()["count"], int((std["std"] > 0).sum())
    shortest, longest = int(lengths.min()), int(lengths.max())
    steps = f"{shortest} steps" if shortest == longest else f"{shortest} to {longest} steps"
    first = shortened(forecaster.series_names_[0])
    session.note(f"{path}: {len(lengths)} series of {steps}, {gaps} values missing.")
    session.note(f"The first series, {first}: {_structure(forecaster)}.")
    _describe(session, forecaster, _mean_weights(forecaster.weights_), gaps)
    session.tell(series=len(lengths))


def _mean_weights(weights: list[dict[str, float]]) -> dict[str, float]:
    """The mean share of each prior over the series, which need not all have the same priors."""
    names = dict.fromkeys(name for each in weights for name in each)
    return {name: sum(each.get(name, 0.0) for each in weights) / len(weights) for name in names}


def _structure(forecaster: semigp.GPForecaster) -> str:
    """The window and the seasons, in words."""
    seasons = [f"{season:.6g}" for season in forecaster.seasons_]
    if len(seasons) < 2:
        return f"window {forecaster.window_}, " + (f"a season of {seasons[0]} steps" if seasons else "no season")
    return f"window {forecaster.window_}, seasons of {' and '.join(seasons)} steps"


def _describe(session: Session, forecaster: semigp.GPForecaster, weights: dict[str, float], gaps: int) -> None:
    """What was learned, and how well that went."""
    report = forecaster.fit_report_
    shares = sorted(weights.items(), key=lambda item: -item[1])
    told = listed([f"{share:.0%} from {_PRIORS.get(name, name)}" for name, share in shares if share > 0.005])
    session.note(f"Paths: {told}.")
    session.note(f"Fit: {report.status}, bound {report.bound:.1f}, {len(report.trace)} iterations.")
    session.tell(
        status=report.status,
        bound=float(report.bound),
        window=forecaster.window_,
        seasons=list(forecaster.seasons_),
        weights={name: round(share, 4) for name, share in weights.items()},
        gaps=gaps,
    )


# ---- forecasting


def _ahead(session: Session, forecaster: semigp.GPForecaster, path: Path | None, names: list[str], steps: int) -> Any:
    """The covariates of the steps to come, if there are any."""
    if path is None:
        return None
    panel = forecaster._panel
    if panel is None:
        return read_covariates(session, path, names, steps)
    is_timed = panel.timelines[0].index is not None
    return read_long_covariates(session, path, names, panel.time_name if is_timed else "", panel.id_name)


def _rows(found: Forecast | PanelForecast, levels: list[float]) -> pl.DataFrame:
    """A table with a row for each step, or for each step and series if there are several."""
    table = pl.DataFrame(found.to_frame(levels))
    named = ["mean", "std", *(f"q{level:g}" for level in levels)]
    table = table.with_columns(rounded(name, table[name]) for name in named)
    return table.drop("series") if isinstance(found, Forecast) and len(found.timeline.names) == 1 else table


def _time_names(found: Forecast | PanelForecast) -> list[str]:
    """The name of the column of times, which is written as in the file."""
    return [found.panel.time_name if isinstance(found, PanelForecast) else found.timeline.time_name]


def _draw(found: Forecast | PanelForecast, drawn: list[Forecast], levels: list[float], axes: Any) -> None:
    from ..plotting import draw_fan
    from ..plotting.style import plain

    if isinstance(found, Forecast):
        draw_fan(found, axes, history=max(_HISTORY, 2 * len(found)), levels=levels)
        return
    for number, (name, each, panel) in enumerate(zip(found, drawn, np.ravel(axes), strict=False)):
        draw_fan(each, panel, history=max(_HISTORY, 2 * len(each)), levels=levels)
        panel.set_ylabel(plain(str(name)))
        if number:
            panel.get_legend().remove()
