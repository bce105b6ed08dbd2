"""The report of a classification from few labels."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from ... import plotting
from ...estimators.common.sklearn_private import take_rows
from ...estimators.few_labels.labels import is_known
from ...frames import is_missing
from ...words import told_share
from ..figures import Drawing
from ..page import Report
from ..sections.holes import add_missing, add_relations
from ..sections.settings import add_left_out, add_settings
from .base import Subject

_FOLDS, _SECONDS = 3, 30.0
_MOST_CLASSES, _MOST_ROWS = 12, 10
Checked = tuple[np.ndarray, np.ndarray]  # numbers of labelled rows, and probabilities of their classes


def tell(subject: Subject) -> Report:
    """The latent space, classes found, and whether labels that were hidden are found again."""
    model, X, y = subject.model, subject.X, subject.y
    reasons, found = ["X", "y"] if X is None else ["y"] if y is None else [], None
    if not reasons:
        found = _hidden_labels(model, X, np.asarray(y).ravel())
        reasons = [] if found else [f"Some class has fewer than {_FOLDS} labels, too few to hide some for a check."]
    page = Report("Classes from few labels", _lead(subject, found))
    _add_classes(page, subject)
    _draw_latent(page, model)
    if found is not None:
        _add_check(page, model, np.asarray(y).ravel(), *found)
    if X is not None:
        add_missing(page, X)
        if is_missing(X).any():
            add_relations(page, X)
    add_left_out(page, model, reasons)
    python = f'model = {model!r}.fit(X, y)\nreport(model, "report.html", X, y)\n'
    add_settings(page, subject, f"{type(model).__name__}, report", python)
    return page


def _lead(subject: Subject, found: Checked | None) -> str:
    model = subject.model
    told = (
        f"{len(model.transduction_)} rows, {len(model.labelled_)} of them with a label, {len(model.classes_)} classes."
    )
    if found is None:
        return told
    rows, probabilities = found
    truth = np.asarray(subject.y).ravel()[rows].astype(str)
    right = np.mean(model.classes_[probabilities.argmax(axis=1)].astype(str) == truth)
    return f"{told} Of {len(rows)} labels that were hidden in turn, {told_share(right)} were found again."


def _hidden_labels(model: Any, X: Any, y: np.ndarray) -> Checked | None:
    """Probabilities of the classes of labelled rows, from copies of the model that do not know their labels."""
    labelled = np.flatnonzero(is_known(y))
    names = y[labelled].astype(str)
    if np.unique(names, return_counts=True)[1].min() < _FOLDS:
        return None
    parts, started = [], time.perf_counter()
    for number, (_, test) in enumerate(StratifiedKFold(_FOLDS, shuffle=True, random_state=0).split(names, names)):
        spent = time.perf_counter() - started
        if number and spent * (number + 1) / number > _SECONDS:
            break
        hidden = np.array(y, dtype=object)
        hidden[labelled[test]] = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            copy = clone(model).set_params(verbose=False, callback=None).fit(X, hidden)
            parts.append((labelled[test], np.asarray(copy.predict_proba(take_rows(X, labelled[test])))))
    rows, probabilities = (np.concatenate(part) for part in zip(*parts, strict=True))
    return rows, probabilities


def _add_classes(page: Report, subject: Subject) -> None:
    model = subject.model
    page.section("The classes")
    rows = []
    for name in model.classes_[:_MOST_CLASSES]:
        members = model.transduction_ == name
        rows.append([str(name), str(members[model.labelled_].sum()), str(members.sum())])
    more = f" The first {_MOST_CLASSES} of {len(model.classes_)}." if len(model.classes_) > _MOST_CLASSES else ""
    page.table(f"Labels that were given, and rows in each class as found.{more}", ["class", "labels", "rows"], rows)


def _draw_latent(page: Report, model: Any) -> None:
    page.section(
        "The latent space",
        "All rows were placed in a space of a few hidden inputs, with or without a label. Rows that are near each "
        "other there are alike.",
    )
    drawing = Drawing((6.4, 4.4))
    table = drawing.draw(plotting.draw_latent, model, labelled=model.labelled_)
    drawing.spots(table["x"], table["y"], [f"row {i + 1}: {name}" for i, name in enumerate(table["class"])])
    page.figure(
        drawing,
        "The two latent inputs that matter most; rows with a dark rim had a label.",
        f"Scatter plot of {len(table['x'])} rows, coloured by class.",
    )


def _add_check(page: Report, model: Any, y: np.ndarray, rows: np.ndarray, probabilities: np.ndarray) -> None:
    page.section(
        "Does it hold?",
        f"{len(rows)} labels were hidden in turn, and found by a model that did not know them. With all labels it is "
        "likely to be a little better.",
    )
    truth, classes = y[rows].astype(str), model.classes_.astype(str)
    drawing = Drawing((4.8, 3.9))
    table = drawing.draw(plotting.draw_reliability, truth, probabilities, classes=classes)
    points = zip(table["confidence"], table["share"], strict=True)
    drawing.spots(table["confidence"], table["share"], [f"said {said:.0%}, was {was:.0%}" for said, was in points])
    page.figure(
        drawing,
        "How often predictions are right, against their confidence. On the diagonal, probabilities can be trusted.",
        "Confidence against the share of right predictions.",
    )
    own = probabilities[np.arange(len(rows)), np.searchsorted(classes, truth)]
    wrong = [i for i in np.argsort(own) if classes[probabilities[i].argmax()] != truth[i]]
    page.section("Labels that the model finds strange", "Rows whose label, once hidden, was not found again.")
    if not wrong:
        page.text("There are none.")
        return
    lines = [
        [str(rows[i] + 1), truth[i], classes[probabilities[i].argmax()], f"{own[i]:.1%}"] for i in wrong[:_MOST_ROWS]
    ]
    header = ["row", "label", "found", "probability of the label"]
    page.table(f"{len(wrong)} of {len(rows)}. Rows are counted from 1.", header, lines)
