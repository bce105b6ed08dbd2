"""The command `semigp info`."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
import typer
from rich.table import Table
from rich.text import Text

import semigp

from ..storage.errors import NotAModel
from . import options
from .problems import reported
from .session import Session
from .sources import Reading

_PACKAGES = ("jax", "jaxlib", "numpy", "scipy", "scikit-learn", "polars", "matplotlib")


@reported
def info(
    file: Annotated[Path | None, typer.Argument(help="A table or a saved model.", show_default=False)] = None,
    encoding: options.Encoding = "utf-8",
    day_first: options.DayFirst = None,
    missing: options.Missing = [],  # noqa: B006
    as_json: options.Json = False,
) -> None:
    """Describe this installation, a table, or a saved model.

    Example: semigp info train.csv
    """
    session = Session(as_json, as_json, reading=Reading(encoding, day_first, tuple(missing)))
    facts = _installation() if file is None else _model(file) or _table(session, file)
    session.tell(**facts)
    if not as_json:
        _show(session, facts)
    session.finish()


def _installation() -> dict[str, Any]:
    import jax

    from ..runtime import cache_folder

    def installed(name: str) -> str | None:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            return None

    folder = cache_folder()
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) if folder and folder.exists() else 0
    return {
        "semigp": semigp.__version__,
        "python": platform.python_version(),
        **{name: installed(name) or "not installed" for name in _PACKAGES},
        "computes on": ", ".join(str(device) for device in jax.devices()),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "compiled code": f"{folder}, {size / 1e6:.0f} MB" if folder else "not kept (SEMIGP_CACHE=off)",
        "data sets": os.environ.get(
            "SEMIGP_DATA", "downloaded when needed; set SEMIGP_DATA to a folder to read them there"
        ),
    }


def _model(path: Path) -> dict[str, Any] | None:
    if path.suffix.lower() in (".csv", ".tsv", ".txt", ".parquet", ".pq"):
        return None
    try:
        model = semigp.load(path)
    except NotAModel:
        if path.suffix == ".semigp":
            raise
        return None
    report = model.fit_report_ if hasattr(model, "fit_report_") else None
    facts = {"model": type(model).__name__, "inputs": ", ".join(getattr(model, "feature_names_in_", [])) or "no names"}
    if getattr(model, "output_names_", None):
        facts["outputs"] = ", ".join(model.output_names_)
    if report is not None:
        facts |= {"fit": report.status, "bound": round(float(report.bound), 3)}
    given = {k: v for k, v in model.get_params(deep=False).items() if v is not None}
    return {**facts, **{f"parameter {name}": value for name, value in given.items()}}


def _table(session: Session, path: Path) -> dict[str, Any]:
    table = session.read(path)
    facts: dict[str, Any] = {"rows": len(table)}
    for name in table.columns:
        facts[f"column {name}"] = _column(table[name])
    return facts


def _column(column: pl.Series) -> str:
    missing = f", {column.null_count()} missing" if column.null_count() else ""
    if column.dtype.is_numeric():
        values = column.drop_nulls().to_numpy()
        return f"numbers, {np.min(values):.4g} to {np.max(values):.4g}{missing}" if len(values) else "empty"
    if column.dtype.is_temporal():
        return f"times, {column.min()} to {column.max()}{missing}"
    return f"text, {column.n_unique()} different{missing}"


def _show(session: Session, facts: dict[str, Any]) -> None:
    from rich.console import Console

    grid = Table.grid(padding=(0, 2))
    for name, value in facts.items():
        grid.add_row(Text(name, "bold"), Text(str(value)))
    Console(highlight=False).print(grid)
