"""The command `semigp regress`."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import numpy as np
import polars as pl
import typer

import semigp

from .. import scores
from ..words import told_number
from . import options
from .columns import (
    Inputs,
    check_present,
    choose_inputs,
    choose_numbers,
    names_used,
    note_left_out,
    parse_errors,
    read_inputs,
)
from .distributed import Alone, together
from .problems import WRONG_USE, Problem, reported
from .session import Session
from .sources import Reading
from .stream import fit_from_parquet
from .tables import numbers, rounded
from .wording import listed


@reported
def regress(
    train: Annotated[Path | None, typer.Argument(help="CSV or Parquet file to learn from.", show_default=False)] = None,
    target: Annotated[list[str], typer.Option("--target", "-t", help="Column to predict (repeatable).")] = [],  # noqa: B006
    predict: Annotated[Path | None, typer.Option("--predict", "-p", help="File with rows to predict.")] = None,
    output: options.Output = None,
    error: Annotated[
        list[str], typer.Option("--error", help="Error bar of an input, as x=0.1 or x=COLUMN (repeatable).")
    ] = [],  # noqa: B006
    ignore: options.Ignore = [],  # noqa: B006
    inducing: Annotated[int, typer.Option("--inducing", help="Number of inducing points.", min=1)] = 100,
    stream: Annotated[
        bool, typer.Option("--stream", help="Read Parquet part by part: for more rows than fit in memory.")
    ] = False,
    save: options.Save = None,
    model: options.Model = None,
    plot: options.Plot = None,
    report: options.Report = None,
    checkpoint: options.Checkpoint = None,
    distributed: options.Distributed = False,
    encoding: options.Encoding = "utf-8",
    day_first: options.DayFirst = None,
    missing: options.Missing = [],  # noqa: B006
    seed: options.Seed = 0,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Learn a column from the others, which may have missing cells and error bars, and predict it for new rows.

    Empty cells are missing. A column x_std holds the error bars of the column x. The result is the new rows with the
    columns y_predicted and y_predicted_std added. If the new rows have the target, the predictions are scored.

    Example: semigp regress train.csv --target y --predict test.csv -o predicted.csv
    """
    if (train is None) == (model is None):
        raise Problem("Give a file to learn from, or --model with a saved model.", WRONG_USE)
    if model is not None and predict is None:
        raise Problem("--model needs --predict with the rows to predict.", WRONG_USE)
    if stream and (model is not None or error or plot is not None or distributed or checkpoint is not None):
        raise Problem(
            "--stream cannot be used with --model, --error, --plot, --distributed or --checkpoint.", WRONG_USE
        )
    if report is not None and (model is not None or stream or distributed or checkpoint is not None):
        raise Problem(
            "--report needs a fit to all rows: leave out --model, --stream, --distributed and --checkpoint.",
            WRONG_USE,
        )
    reading = Reading(encoding, day_first, tuple(missing))
    if train is None:
        session = Session(quiet, as_json, (output, save, plot), reading)
        regressor = session.load(model, semigp.SemiDescribedGPRegressor, semigp.StreamingGPRegressor)  # type: ignore[arg-type]
        _use(session, regressor, None, predict, error, ignore, output, save, plot)
        session.finish()
        return
    with together(distributed, checkpoint) as team:
        is_first = team.rank == 0
        session = Session(quiet or not is_first, as_json and is_first, (output, save, plot), reading, report)
        if predict is None and save is None and plot is None and report is None:
            session.note("Only the fit will be told. To use the model, add --predict, --save, --plot or --report.")
        if stream:
            regressor = fit_from_parquet(session, train, target, ignore, inducing, seed)
            describe_fit(session, regressor)
            _describe_inputs(session, regressor)
            _use(session, regressor, None, predict, error, ignore, output, save, plot)
            session.finish()
            return
        # Processes that see different rows would find different levels in a column of text.
        only_numbers = team.mesh is not None or checkpoint is not None
        inputs, y = _read(session, team, train, target, error, ignore, only_numbers)
        if predict is not None and is_first:
            # Errors in these rows are reported before the fit, not after it.
            _check_new(session, predict, inputs, error, [*target, *ignore], only_numbers)
        regressor = _fit(session, inputs, target, y, inducing, seed, team.mesh, checkpoint)
        if is_first:
            _use(session, regressor, y, predict, error, ignore, output, save, plot)
            session.report(report, regressor, inputs.frame, y, train, target, X_std=inputs.std)
        session.finish()


def _use(
    session: Session,
    regressor: Any,
    y: np.ndarray | None,
    predict: Path | None,
    error: list[str],
    ignore: list[str],
    output: Path | None,
    save: Path | None,
    plot: Path | None,
) -> None:
    """Predict with a fitted model, save it and draw it, as the options ask."""
    if predict is not None:
        session.put(_predict(session, regressor, predict, error, ignore), output, predict)
    session.save(regressor, save)
    session.draw(lambda axes: _draw(regressor, axes, y), plot)


def _read(
    session: Session,
    team: Alone,
    path: Path,
    targets: list[str],
    error: list[str],
    ignore: list[str],
    only_numbers: bool,
) -> tuple[Inputs, np.ndarray]:
    """The inputs and outputs of the training rows."""
    if not targets:
        raise Problem("Say what to predict: --target COLUMN.", WRONG_USE)
    table = team.read(session, path)
    check_present(targets, table, path, "--target")
    check_present(ignore, table, path, "--ignore")
    errors = parse_errors(error, table, path)
    bars = [told for told in errors.values() if told in table.columns]
    choose = choose_numbers if only_numbers else choose_inputs
    names = choose(table, [*targets, *ignore, *bars], path, session.note)
    for name in set(errors).difference(names):
        raise Problem(f"--error {name}: error bars are for inputs, but {name!r} is not an input.", WRONG_USE)
    inputs, y = read_inputs(table, names, errors, path, [*targets, *ignore]), numbers(table, targets, path)
    if not only_numbers:
        used = inputs.used()
        note_left_out(session, used, path)
        names = used.names_of_used
    holes = sum(inputs.frame.select(names).null_count().row(0))
    n, missing, bars, *known = team.total(len(y), holes, inputs.std is not None, *np.sum(~np.isnan(y), axis=0))
    for name, count in zip(targets, known, strict=True):
        if not count:
            raise Problem(f"{path}, column {name!r}: no value to learn from. Choose another --target.")
    share, told = missing / (n * len(names)), ", some with error bars." if bars else "."
    session.note(f"{path}: {n:.0f} rows, inputs {listed(names, 6)}; {share:.0%} of their entries missing{told}")
    session.tell(rows_learned_from=int(n), inputs=names, targets=targets, share_missing=float(share))
    return inputs, y


def _fit(
    session: Session,
    inputs: Inputs,
    targets: list[str],
    y: np.ndarray,
    inducing: int,
    seed: int,
    mesh: Any,
    checkpoint: Path | None,
) -> semigp.SemiDescribedGPRegressor:
    outputs = pl.DataFrame(y, schema=targets) if len(targets) > 1 else pl.Series(targets[0], y[:, 0])
    with session.fitting("regress"):
        regressor = semigp.SemiDescribedGPRegressor(inducing, random_state=seed, mesh=mesh, checkpoint=checkpoint)
        regressor.fit(inputs.frame, outputs, inputs.std)
    describe_fit(session, regressor)
    _describe_inputs(session, regressor)
    return regressor


def describe_fit(session: Session, model: Any) -> None:
    """Report how a fit ended."""
    report = model.fit_report_
    session.note(f"Fit: {report.status}, bound {report.bound:.1f}, {len(report.trace)} iterations.")
    session.tell(status=report.status, bound=float(report.bound))


def _describe_inputs(session: Session, model: semigp.SemiDescribedGPRegressor) -> None:
    found = dict(zip(names_used(model), model.relevance_.tolist(), strict=True))
    best = sorted(found, key=lambda name: -found[name])[:8]
    session.note("Relevance (1: matters most): " + ", ".join(f"{name} {found[name]:.2f}" for name in best) + ".")
    session.tell(relevance=found)


def _check_new(
    session: Session, path: Path, inputs: Inputs, error: list[str], others: list[str], only_numbers: bool
) -> None:
    """Raise a Problem if new rows do not have the columns from which a model will learn."""
    columns = None if only_numbers else inputs.used()
    names = inputs.names if columns is None else columns.names_of_used
    table = session.read(path)
    read_inputs(table, names, parse_errors(error, table, path), path, others, SimpleNamespace(_columns=columns))


def _predict(session: Session, regressor: Any, path: Path, error: list[str], ignore: list[str]) -> pl.DataFrame:
    table, others = session.read(path), [*regressor.output_names_, *ignore]
    errors = parse_errors(error, table, path)
    inputs = read_inputs(table, list(regressor.feature_names_in_), errors, path, others, regressor)
    with session.working("predict"):
        mean, std = _predict_rows(session, regressor, inputs, path)
    mean, std = mean.reshape(len(table), -1), std.reshape(len(table), -1)
    targets = regressor.output_names_
    for k, name in enumerate(targets):
        table = table.with_columns(
            rounded(f"{name}_predicted", mean[:, k]), rounded(f"{name}_predicted_std", std[:, k])
        )
    if set(targets) <= set(table.columns):
        _score(session, numbers(table, targets, path), mean, std)
    return table


def _predict_rows(session: Session, regressor: Any, inputs: Inputs, path: Path) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(regressor, semigp.StreamingGPRegressor):
        if inputs.std is not None:
            session.note(f"{path}: a model fitted with --stream cannot use error bars; all values count as exact.")
        return regressor.predict(inputs.frame, return_std=True)
    now = set() if inputs.std is None else set(np.array(inputs.names)[inputs.std.any(axis=0)])
    without = [name for name in _with_bars(regressor) if name not in now]
    if without:
        session.note(
            f"{path}: no error bars for {listed(without)}, which had them in training; these values count as exact."
        )
    return regressor.predict(inputs.frame, return_std=True, X_std=inputs.std)


def _with_bars(regressor: semigp.SemiDescribedGPRegressor) -> list[str]:
    """The names of the inputs that had error bars in training."""
    had = regressor.has_error_bars_
    names = names_used(regressor)
    if len(had) != len(names):
        names = list(regressor.feature_names_in_)
    return [name for name, has in zip(names, had, strict=True) if has]


def _score(session: Session, truth: np.ndarray, mean: np.ndarray, std: np.ndarray) -> None:
    if np.isnan(truth).all():
        return
    found = {"RMSE": float(np.sqrt(scores.ALL["MSE"](truth, mean, std)))}
    found |= {name: float(scores.ALL[name](truth, mean, std)) for name in ("MAE", "NLPD", "CRPS", "coverage")}
    words = ", ".join(f"{name} {told_number(value)}" for name, value in found.items() if name != "coverage")
    session.note(f"Scores: {words}; {found['coverage']:.0%} of the values inside the 95 % intervals.")
    session.tell(scores=found)


def _draw(regressor: semigp.SemiDescribedGPRegressor, axes: Any, y: np.ndarray | None) -> None:
    from ..plotting import draw_prediction

    draw_prediction(regressor, axes, y=y)
