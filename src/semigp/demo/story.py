"""The report: the example problems solved by semigp and by the usual methods."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from ..reports import Report
from .classification import classification
from .examples import SEED
from .forecast import forecast
from .imputation import imputation
from .regression import regression

_LEAD = (
    "Four small problems with incomplete data: inputs that are missing or uncertain, a table with missing entries, a "
    "series with a gap, and many rows with few labels. For each you see the results of semigp, their uncertainty, and "
    "the results of the usual methods on the same data. There is one data set and one seed each: this is an "
    "illustration, not a study. For studies, see semigp reproduce."
)
_PACKAGES = ("semigp", "jax", "numpy", "scipy", "scikit-learn", "matplotlib")


def tell(path: Path, say: Callable[[str], None]) -> Path:
    """Solve all problems, say one line per score, and write the report."""
    started = time.perf_counter()
    report = Report("semigp on data with holes", _LEAD)
    for chapter in (regression, imputation, forecast, classification):
        what, measures, ((_, ours), *others) = chapter(report)
        for k, measure in enumerate(measures):
            best, name = min((values[k], name) for name, values in others)
            say(f"{what}, {measure}: {ours[k]:.3g}; the best of the usual methods, {name}: {best:.3g}.")
    report.section("Settings and versions")
    report.facts(
        {
            "seed": SEED,
            **{name: version(name) for name in _PACKAGES},
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}",
            "seconds": f"{time.perf_counter() - started:.0f}",
            "made by": "semigp demo",
        }
    )
    return report.write(path)
