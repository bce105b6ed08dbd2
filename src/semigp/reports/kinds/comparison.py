"""The report of a comparison."""

from __future__ import annotations

import numpy as np

from ...comparison.tasks.base import OURS
from ...plotting.style import COLOURS, plain
from ..figures import Drawing
from ..page import Report
from ..sections.holes import add_missing, add_relations
from ..sections.settings import add_left_out, add_settings
from .base import Subject


def tell(subject: Subject) -> Report:
    """The table of all ways, a figure of their scores split by split, and what follows."""
    found = subject.model
    page = Report("Does it pay on your data?", f"{found.advice} Compared: {found.about}, {found.n_splits} splits.")
    page.section(
        "The ways side by side",
        "Every way saw the same rows with the same holes. The best way is the first. "
        "Seconds are those of one fit and its predictions.",
    )
    page.table("Means over splits.", ["", *found.scores, "seconds"], found.rows())
    _draw(page, subject)
    if subject.X is not None:
        add_missing(page, subject.X)
        add_relations(page, subject.X)
    add_left_out(page, found, [f"{way} was left out: {reason}" for way, reason in found.left_out.items()])
    arguments = "" if subject.X is None else ", X" if subject.y is None else ", X, y"
    told = arguments[2:] or 'series, task="forecast"'
    python = f'found = compare({told})\nprint(found)\nreport(found, "report.html"{arguments})\n'
    add_settings(page, subject, "compare, report", python)
    return page


def _draw(page: Report, subject: Subject) -> None:
    found, score = subject.model, subject.model.scores[0]
    drawing = Drawing((6.4, 1.0 + 0.34 * len(found.ways)))
    rows = [(way, record[score]) for way in found.ways for record in found.records if record["way"] == way]
    for place, way in enumerate(found.ways):
        values = [value for name, value in rows if name == way]
        colour = COLOURS[0] if way == OURS else "0.5"
        drawing.axes.plot(values, np.full(len(values), place), "o", color=colour, ms=4, alpha=0.7, mew=0)
        drawing.axes.plot([found.mean(way, score)], [place], "|", color=colour, ms=18, mew=2.5)
    drawing.axes.set_yticks(range(len(found.ways)), [plain(way) for way in found.ways])
    drawing.axes.invert_yaxis()
    drawing.axes.set(xlabel=score)
    drawing.table = {"way": np.array([way for way, _ in rows]), score: np.array([value for _, value in rows])}
    page.figure(
        drawing,
        f"{score} of every way: a dot for each split, a line for the mean. Smaller is better.",
        f"Dots of the {score} of {len(found.ways)} ways.",
    )
