"""The example problems, solved, beside the usual ways, as a report."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..report import Report
from .classification import classification
from .examples import SEED
from .forecast import forecast
from .imputation import imputation
from .regression import regression

_LEAD = (
    "Four small problems with holes: inputs that are missing or uncertain, a table with lost entries, a series with a "
    "gap, many rows and few labels. What semigp makes of them, how sure it is, and how the usual ways do on the same "
    "data. One data set and one seed each: an illustration, not a study; for that see semigp reproduce."
)
_PACKAGES = ("semigp", "jax", "numpy", "scipy", "scikit-learn", "matplotlib")


def tell(path: Path, say: Callable[[str], None], callback: Any = None) -> Path:
    """Solve everything, one line for each, and write the report. `callback` is that of the estimators."""
    started = time.perf_counter()
    report = Report("What semigp made of data with holes", _LEAD)
    for chapter in (regression, imputation, forecast, classification):
        what, measures, ((_, ours), *others) = chapter(report, callback)
        for k, measure in enumerate(measures):
            best, name = min((values[k], name) for name, values in others)
            say(f"{what}, {measure}: {ours[k]:.3g}; the best of the usual ways, {name}: {best:.3g}.")
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
