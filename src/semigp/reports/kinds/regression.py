"""The report of a regression."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ... import plotting
from ...frames import is_missing
from ...words import told_share
from ..figures import Drawing
from ..held_back import HeldBack, cross_validated
from ..page import Report
from ..sections.beliefs import add_beliefs, add_relevance
from ..sections.checks import add_checks, in_short
from ..sections.holes import add_missing, add_relations
from ..sections.settings import add_left_out, add_settings
from .base import Subject


def tell(subject: Subject) -> Report:
    """What is missing and believed, what matters, and whether predictions of held-back rows hold."""
    model, X, y = subject.model, subject.X, subject.y
    names = _output_names(subject)
    found, reasons = _checked(subject)
    page = Report(f"{', '.join(names[:3])}: a regression with semigp", _lead(subject, found, names))
    if X is not None:
        add_missing(page, X, subject.X_std)
        add_relations(page, X)
    if hasattr(model, "impute"):
        add_beliefs(page, model)
    add_relevance(
        page,
        model,
        "Which inputs matter",
        "How much the output changes along an input, compared with the input along which it changes most.",
    )
    _draw_curve(page, model, y)
    if found is not None:
        add_checks(page, found, names)
    add_left_out(page, model, reasons)
    add_settings(page, subject, f"{type(model).__name__}, report", _python(subject))
    return page


def _output_names(subject: Subject) -> list[str]:
    named = getattr(subject.model, "output_names_", None)
    count = len(np.ravel(subject.model.noise_variance_))
    return [str(name) for name in named] if named else ["y"] if count == 1 else [f"y{j}" for j in range(count)]


def _checked(subject: Subject) -> tuple[HeldBack | None, list[str]]:
    """Predictions of held-back rows, or why there are none."""
    if subject.X is None:
        return None, ["X", "y"]
    if subject.y is None:
        return None, ["y"]
    try:
        return cross_validated(subject.model, subject.X, subject.y, subject.X_std), []
    except ValueError as error:
        return None, [f"Rows could not be held back. {error}"]


def _lead(subject: Subject, found: HeldBack | None, names: list[str]) -> str:
    told = []
    if subject.X is not None:
        missing = is_missing(subject.X)
        share = told_share(missing.mean()) if missing.any() else "none"
        told.append(f"{len(missing)} rows, {missing.shape[1]} columns, {share} of their entries missing.")
    if found is not None:
        told += [in_short(found, name, j) for j, name in enumerate(names[:3])]
    return " ".join(told) or f"A {type(subject.model).__name__} that was fitted before."


def _draw_curve(page: Report, model: Any, y: Any) -> None:
    """The prediction along the input that matters most."""
    drawing = Drawing((6.4, 3.6))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            drawing.draw(plotting.draw_prediction, model, y=None if y is None else np.asarray(y, float))
    except (ValueError, TypeError, AttributeError):  # an input without an order has no curve
        return
    page.figure(
        drawing,
        "Prediction along the input that matters most, with all others averaged over. The band holds 95 % of new rows.",
        "A curve with a band around it, and the training rows.",
    )


def _python(subject: Subject) -> str:
    bars, told = (", X_std", ", X_std=X_std") if subject.X_std is not None else ("", "")
    return f'model = {subject.model!r}.fit(X, y{bars})\nreport(model, "report.html", X, y{told})\n'
