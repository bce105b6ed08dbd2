"""What was left out, how the fit ended, the settings, and the Python that does the same."""

from __future__ import annotations

import platform
import sys
from datetime import datetime
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..kinds.base import Subject
from ..page import Report

_PACKAGES = ("semigp", "numpy", "scipy", "scikit-learn", "jax")
_NOTES = {
    "X": "The training rows were not given to the report. With X there would be sections on what is missing and on "
    "which columns know each other.",
    "y": "The outputs were not given to the report. With X and y there would be a check on rows that are held back.",
}


def add_left_out(page: Report, model: Any, reasons: list[str]) -> None:
    """Columns that the model does not use, and sections that the page does not have."""
    columns = getattr(model, "_columns", None)
    left_out = {} if columns is None else columns.left_out
    if not left_out and not reasons:
        return
    page.section("What was left out")
    if left_out:
        rows = [[str(name), reason] for name, reason in left_out.items()]
        page.table("Columns that the model does not use.", ["column", "why"], rows)
    for reason in reasons:
        page.text(_NOTES.get(reason, reason))


def add_settings(page: Report, subject: Subject, imports: str, python: str) -> None:
    """How the fit ended, versions, and a few lines of Python: names from semigp, and what is done with them."""
    model = subject.model
    fitted = getattr(model, "fit_report_", None)
    page.section("Settings and versions")
    facts = {} if fitted is None else {"fit": f"{fitted.status}: {fitted.message}", "seconds": f"{fitted.seconds:.1f}"}
    page.facts(
        {
            **facts,
            "model": repr(model) if fitted is not None else type(model).__name__,
            **{name: version(name) for name in _PACKAGES},
            "python": platform.python_version(),
            "made by": _command(),
            "on": f"{datetime.now():%Y-%m-%d %H:%M}",
        }
    )
    page.text("The same in Python:" if subject.reading else "The same in Python, with your own data:")
    before = "import pandas\n\n" if subject.reading else ""
    lines = escape(f"{before}from semigp import {imports}\n\n{subject.reading}{python}")
    page.html(f"<pre><code>{lines}</code></pre>")


def _command() -> str:
    """The command line, if it is ours; otherwise what was called in Python."""
    name = Path(sys.argv[0]).name if sys.argv and sys.argv[0] else ""
    return " ".join(["semigp", *sys.argv[1:]]) if name == "semigp" else "semigp.report"
