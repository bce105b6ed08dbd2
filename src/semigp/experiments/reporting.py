"""Tables of results, which are collected cell by cell, summarised over seeds, and written with their settings."""

from __future__ import annotations

import concurrent.futures
import contextlib
import csv
import json
import multiprocessing
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import threadpoolctl

from .. import provenance

Row = dict[str, Any]
# The seeds of version 0.1.0 begin here. Smaller ones were used to develop methods, or in earlier reports.
FIRST_SEED = 11_000
_PACKAGES = ("jax", "numpy", "scipy", "scikit-learn")
_ORIGIN = ("commit", "date", "versions", "machine")
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Summary:
    """Mean and standard error over seeds."""

    mean: float
    error: float
    count: int

    @property
    def text(self) -> str:
        """Mean ± standard error: two digits of the error, and the mean to the same decimal place."""
        largest = max(abs(self.mean), self.error)
        if not np.isfinite(largest) or self.error <= 1e-6 * largest:  # all seeds agree, or there is only one
            return f"{plain_number(self.mean)} ± {0 if np.isfinite(largest) else plain_number(self.error)}"
        power = 0 if _is_readable(largest) else _power(largest)
        mean, error = self.mean / 10.0**power, self.error / 10.0**power
        decimals = max(1 - _power(error), 0)
        text = f"{mean:.{decimals}f} ± {error:.{decimals}f}"
        return f"({text})·10{_raised(power)}" if power else text


def plain_number(value: float, digits: int = 3) -> str:
    """A number with so many significant digits; very large and very small ones as 1.2·10⁷, never as 1.2e+07."""
    if not np.isfinite(value) or not value:
        return f"{value:g}"
    value = float(f"{value:.{digits - 1}e}")  # 99999 becomes 100000 before its size is looked at
    if _is_readable(value):
        return f"{value:.{max(digits - 1 - _power(value), 0)}f}"
    power = _power(value)
    return f"{value / 10.0**power:.{digits - 1}f}·10{_raised(power)}"


def _is_readable(value: float) -> bool:
    """Whether a number can be read when it is written out."""
    return 1e-4 <= abs(value) < 1e5


def _power(value: float) -> int:
    """The power of ten of a number's first digit."""
    return int(np.floor(np.log10(abs(value))))


def _raised(power: int) -> str:
    return str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def run_cells(
    cell: Callable[..., list[Row]],
    arguments: Sequence[tuple],
    n_jobs: int,
    table: Path,
    known: Sequence[Row] = (),
    seconds: float = np.inf,
) -> list[Row]:
    """The rows of all cells, computed in `n_jobs` processes with one core each.

    Whenever a cell ends, the table is written again and a line of progress is printed. The rows are returned in the
    order of the cells, after those that were `known` from an earlier run. After so many `seconds` no cell is begun.

    What has ended is kept beside the table until all has: a run that was stopped goes on where it was.
    """
    context = multiprocessing.get_context("spawn")
    cores = context.Queue()
    for i in range(n_jobs):
        cores.put(i)
    table.parent.mkdir(parents=True, exist_ok=True)
    kept = _Kept(table.with_suffix(".cells"))
    left = [some for some in arguments if kept.name(some) not in kept.rows]
    started = time.perf_counter()
    with _one_thread(), concurrent.futures.ProcessPoolExecutor(n_jobs, context, _take_core, (cores,)) as pool:
        jobs = {pool.submit(cell, *some): some for some in left}
        for done, job in enumerate(concurrent.futures.as_completed(jobs), 1):
            if job.cancelled():
                continue
            kept.keep(jobs[job], job.result())
            write_rows(table, [*known, *kept.ended(arguments)])
            spent = time.perf_counter() - started
            rest = spent / done * (len(left) - done)
            print(f"{done}/{len(left)} cells, {spent:.0f} s, about {rest:.0f} s left", flush=True)
            if spent > seconds:
                for waiting in jobs:
                    waiting.cancel()  # has no effect on cells that have begun
    if all(kept.name(some) in kept.rows for some in arguments):
        kept.path.unlink(missing_ok=True)
    return [*known, *kept.ended(arguments)]


class _Kept:
    """Rows of cells that have ended, a line for each in a file.

    Those of other commits and machines are not used again: a table names one commit and one machine for each run.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.origin = path, {"commit": provenance.commit(), "machine": provenance.machine()}
        self.rows: dict[str, list[Row]] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
            with contextlib.suppress(ValueError):  # a killed run may leave half a line
                told = json.loads(line)
                if told["origin"] == self.origin and _is_certain(self.origin["commit"]):
                    self.rows[told["cell"]] = told["rows"]

    @staticmethod
    def name(arguments: tuple) -> str:
        return json.dumps(arguments)

    def keep(self, arguments: tuple, rows: list[Row]) -> None:
        self.rows[self.name(arguments)] = rows
        told = {"cell": self.name(arguments), "rows": rows, "origin": self.origin}
        line = json.dumps(told, default=lambda number: number.item())  # of NumPy
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"\n{line}")  # half a line before stays a line of its own

    def ended(self, arguments: Sequence[tuple]) -> list[Row]:
        """The rows of all cells that have ended, in the order of the cells."""
        return [row for some in arguments for row in self.rows.get(self.name(some), [])]


def _is_certain(commit: str) -> bool:
    return commit != "unknown" and not commit.endswith("changed since")


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Processes that start in this context have one thread for linear algebra: NumPy reads this when it is imported."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _take_core(cores: Any) -> None:
    """Pin this process to its own core: the XLA threads of several processes would only wait for each other."""
    if hasattr(os, "sched_setaffinity"):
        allowed = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {allowed[cores.get() % len(allowed)]})
    threadpoolctl.threadpool_limits(1)


def summarise(rows: Iterable[Row], keys: Sequence[str], score: str) -> dict[tuple, Summary]:
    """Mean and standard error of a score over all rows that agree in `keys`."""
    groups: dict[tuple, list[float]] = {}
    for row in rows:
        if row.get(score) is not None:
            groups.setdefault(tuple(row[key] for key in keys), []).append(row[score])
    return {
        key: Summary(float(np.mean(v)), float(np.std(v, ddof=1) / np.sqrt(len(v))) if len(v) > 1 else 0.0, len(v))
        for key, v in groups.items()
    }


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    """Write all results as CSV."""
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = list(dict.fromkeys(key for row in rows for key in row))
    beside = path.with_suffix(".part")  # a run that is killed while it writes leaves the old table
    with beside.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for row in sorted(rows, key=lambda row: [str(row.get(c)) for c in columns[:4]]):
            writer.writerow(as_texts(row))
    beside.replace(path)


def as_texts(row: Row) -> dict[str, str]:
    """A row as it is written: five digits of a number, and nothing for None."""
    return {k: "" if v is None else f"{v:.5g}" if isinstance(v, float) else str(v) for k, v in row.items()}


def read_texts(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file as they are written; none if there is no file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def read_rows(path: Path) -> list[Row]:
    """The results in a CSV file, with numbers as numbers and without empty cells; none if there is no file."""
    return [{k: _read(v) for k, v in row.items() if v} for row in read_texts(path)]


def is_number(text: str) -> bool:
    """Whether a cell of a CSV file holds a number."""
    return isinstance(_read(text), int | float)


def _read(text: str) -> Any:
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text


def _here(packages: Sequence[str] = ()) -> dict[str, Any]:
    """Where a result comes from that is computed now."""
    versions = provenance.versions(*_PACKAGES, *packages)
    found = (provenance.commit(), provenance.today(), versions, provenance.machine())
    return dict(zip(_ORIGIN, found, strict=True))


def origin(command: str) -> str:
    """Where a result of this command comes from, in a sentence."""
    return provenance.sentence(command, **_here())


def write_results(
    folder: Path,
    name: str,
    page: str,
    settings: Mapping[str, Any],
    seconds: float,
    packages: Sequence[str] = (),
    continues: bool = False,
) -> Path:
    """Write the page NAME.md, and NAME.json with the settings; both say where the results come from.

    A run that `continues` with records of earlier ones is one part of several, and all parts are named.
    """
    part = _here(packages) | {"seconds": round(seconds)}
    told = folder / f"{name}.json"
    earlier = json.loads(told.read_text(encoding="utf-8"))["parts"] if continues and told.exists() else []
    parts = [*earlier, part]
    told.write_text(json.dumps({"settings": settings, "parts": parts}, indent=2) + "\n", encoding="utf-8")
    path = folder / f"{name}.md"
    command = f"semigp reproduce {name}"
    origins = [provenance.sentence(command, *(each[key] for key in _ORIGIN)) for each in parts]
    path.write_text(page.rstrip("\n") + "\n\n" + "\n\n".join(dict.fromkeys(origins)) + "\n", encoding="utf-8")
    return path


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


def save_figure(canvas: Any, stem: Path) -> list[Path]:
    """Save a figure as PNG and SVG, with the same bytes for the same figure, and close it."""
    import matplotlib.pyplot as plt

    paths = [stem.with_suffix(suffix) for suffix in (".png", ".svg")]
    for path in paths:
        canvas.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    plt.close(canvas)
    return paths
