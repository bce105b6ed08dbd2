"""The command `semigp classify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
import typer

import semigp

from . import options
from .columns import check_present, choose_inputs, input_frame, note_left_out
from .problems import WRONG_USE, Problem, reported
from .session import Session
from .sources import Reading
from .tables import rounded


@reported
def classify(
    data: Annotated[Path | None, typer.Argument(help="CSV or Parquet file to learn from.", show_default=False)] = None,
    label: Annotated[str, typer.Option("--label", "-l", help="Column of classes; empty cells are unknown.")] = "",
    predict: Annotated[Path | None, typer.Option("--predict", "-p", help="File with new rows to classify.")] = None,
    output: options.Output = None,
    ignore: options.Ignore = [],  # noqa: B006
    components: Annotated[int | None, typer.Option("--components", help="Number of latent inputs.", min=1)] = None,
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
    """Find the classes of many rows from the labels of a few.

    The model learns from rows without a label as well. Without --predict, the rows of the file itself are classified.
    The rows are returned with more columns: class_predicted, class_probability and the probability of every class.

    Example: semigp classify labels.csv --label class -o classified.csv
    """
    session = Session(quiet, as_json, (output, save, plot), Reading(encoding, day_first, tuple(missing)), report)
    if report is not None and model is not None:
        raise Problem("--report is about the rows that a model is fitted to: leave out --model.", WRONG_USE)
    if (data is None) == (model is None):
        raise Problem("Give a file to learn from, or --model with a saved model.", WRONG_USE)
    if model is not None:
        if predict is None:
            raise Problem("--model needs --predict with the rows to classify.", WRONG_USE)
        classifier = session.load(model, semigp.SemiSupervisedGPClassifier)
    else:
        classifier = _fit(session, data, label, ignore, components, seed)
        fitted = classifier.fit_report_
        session.note(f"Embedded: {classifier.n_relevant_} of {len(classifier.relevance_)} latent inputs matter.")
        session.tell(status=fitted.status, bound=float(fitted.bound))
    rows = predict or data
    session.put(_classified(session, classifier, rows, is_new=predict is not None), output, rows)
    session.save(classifier, save)
    session.draw(lambda axes: _draw(classifier, axes), plot)
    if report is not None:
        table = session.read(data)
        frame = input_frame(table, list(classifier.feature_names_in_), data, classifier)
        names = np.array(class_names(table[label]), dtype=object)
        session.report(report, classifier, frame, names, data, [label])
    session.finish()


def _fit(
    session: Session, path: Path, label: str, ignore: list[str], components: int | None, seed: int
) -> semigp.SemiSupervisedGPClassifier:
    if not label:
        raise Problem("Say which column holds the classes: --label COLUMN.", WRONG_USE)
    table = session.read(path)
    check_present([label], table, path, "--label")
    check_present(ignore, table, path, "--ignore")
    names = choose_inputs(table, [label, *ignore], path, session.note)
    frame, labels = input_frame(table, names, path), class_names(table[label])
    known = [value for value in labels if value is not None]
    classes = sorted(set(known))
    if len(classes) < 2:
        raise Problem(f"{path}, column {label!r}: at least two classes are needed; there {_found(classes)}.")
    counts = ", ".join(f"{each} {known.count(each)}" for each in classes[:12]) + (", …" if len(classes) > 12 else "")
    session.note(f"{path}: {len(table)} rows, {len(known)} of them with a label: {counts}.")
    if table[label].cast(pl.String).is_in(["-1", "-1.0"]).any():
        session.note(f"{path}, column {label!r}: -1 counts as no label.")
    with session.fitting("classify"):
        classifier = semigp.SemiSupervisedGPClassifier(components, random_state=seed)
        classifier.fit(frame, pl.Series(label, labels, dtype=pl.String))
    note_left_out(session, classifier._columns, path)
    session.tell(rows_learned_from=len(table), labelled=len(known), classes=classes)
    return classifier


def _found(classes: list[str]) -> str:
    return f"is only {classes[0]!r}" if classes else "is no label"


def class_names(column: pl.Series) -> list[str | None]:
    """Classes as text, so that missing cells do not turn 1 into 1.0. Empty cells and -1 mean no label and give None."""
    if column.dtype == pl.Float64:
        values = [None if value is None else f"{value:.0f}" if value.is_integer() else repr(value) for value in column]
    else:
        values = [None if value is None else str(value) for value in column]
    return [None if value == "-1" else value for value in values]


def _classified(session: Session, model: semigp.SemiSupervisedGPClassifier, path: Path, is_new: bool) -> pl.DataFrame:
    table = session.read(path)
    frame = input_frame(table, list(model.feature_names_in_), path, model)
    with session.working("predict"):
        probabilities = model.predict_proba(frame)
    chosen = np.argmax(probabilities, axis=1)
    if not is_new:  # labelled rows keep their label
        chosen = np.searchsorted(model.classes_, model.transduction_)
    best = model.classes_[chosen]
    label = model.output_names_[0]
    if is_new and label in table.columns:
        _score(session, class_names(table[label]), best)
    columns = [pl.Series(f"{label}_predicted", best)]
    columns.append(rounded(f"{label}_probability", probabilities[np.arange(len(chosen)), chosen]))
    columns += [rounded(f"{label}={name}", each) for name, each in zip(model.classes_, probabilities.T, strict=True)]
    return table.with_columns(columns)


def _score(session: Session, truth: list[str | None], found: np.ndarray) -> None:
    pairs = [(a, b) for a, b in zip(truth, found, strict=True) if a is not None]
    if pairs:
        share = float(np.mean([a == b for a, b in pairs]))
        session.note(f"Right: {share:.1%} of the {len(pairs)} rows whose class is known.")
        session.tell(accuracy=share)


def _draw(classifier: semigp.SemiSupervisedGPClassifier, axes: Any) -> None:
    from ..plotting import draw_latent

    draw_latent(classifier, axes, labelled=classifier.labelled_)
