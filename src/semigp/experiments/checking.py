"""Whether tables of results are what the code gives today: some of their cells, computed again, number by number."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np

from .. import provenance
from .reporting import as_texts, markdown_table, plain_number, run_cells

Texts = dict[str, str]
CLOSE = 1e-3  # other processors and versions change last digits, and searches amplify that


@dataclass(frozen=True)
class Checked:
    """What became of the numbers of some cells of one experiment."""

    name: str
    n_cells: int
    n_absent: int  # rows that the table does not have
    differences: tuple[tuple[float, str], ...]  # of every number, relative to the larger one, and where it stands

    @property
    def n_equal(self) -> int:
        """How many numbers are the same in all digits that are written."""
        return sum(difference == 0 for difference, _ in self.differences)

    @property
    def worst(self) -> tuple[float, str]:
        """The largest difference, and where it is."""
        return max(self.differences, default=(0.0, ""))

    @property
    def is_confirmed(self) -> bool:
        """Whether there are numbers, and all of them are those of the table, nearly."""
        return bool(self.differences) and self.worst[0] <= CLOSE

    @property
    def sentence(self) -> str:
        """The outcome in a line."""
        told = f"{self.name}: {self.n_equal} of {len(self.differences)} numbers in {self.n_cells} cells are the same"
        if self.n_equal < len(self.differences):
            told += f"; the largest difference is {plain_number(100 * self.worst[0], 2)} %, of {self.worst[1]}"
        return told + (f"; {self.n_absent} rows are not in the table." if self.n_absent else ".")


def check(name: str, experiment: ModuleType, folder: Path, count: int, n_jobs: int = 2, seed: int = 0) -> Checked:
    """Compute `count` cells of an experiment again, drawn at random, and compare them with its tables in `folder`."""
    table = [row for path in sorted(folder.glob(f"{name}*.csv")) for row in _read(path)]
    cells = experiment.cells("paper")
    order = np.random.default_rng(seed).permutation(len(cells))
    drawn = [cells[i] for i in order[:count]]
    with tempfile.TemporaryDirectory() as place:
        rows = run_cells(experiment.run_cell, drawn, n_jobs, Path(place) / f"{name}.csv")
    return compare(name, len(drawn), [as_texts(row) for row in rows], table)


def compare(name: str, n_cells: int, rows: Iterable[Texts], table: Sequence[Texts]) -> Checked:
    """Every number of some rows beside that of the table, but for times."""
    differences, n_absent = [], 0
    for row in rows:
        like = [other for other in table if all(other.get(k, "") == v for k, v in row.items() if _tells_apart(k, v))]
        if not like:
            n_absent += 1
            continue
        # Rows of one cell may differ by a number, such as that of labels: the right one shares most numbers.
        found = max(like, key=lambda other: sum(other.get(k, "") == v for k, v in row.items()))
        place = ", ".join(v for k, v in row.items() if _tells_apart(k, v))
        for column, value in row.items():
            if not _tells_apart(column, value) and "seconds" not in column:
                differences.append((_difference(value, found.get(column, "")), f"{column} ({place})"))
    return Checked(name, n_cells, n_absent, tuple(differences))


def _tells_apart(column: str, value: str) -> bool:
    """Words do, and seeds; other numbers may be scores."""
    return column == "seed" or (bool(value) and not _is_number(value))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _difference(one: str, other: str) -> float:
    """Relative to the larger number; 1 if only one of both is there."""
    if one == other:
        return 0.0
    if not (_is_number(one) and _is_number(other)):
        return 1.0
    a, b = float(one), float(other)
    return abs(a - b) / max(abs(a), abs(b))


def _read(path: Path) -> list[Texts]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_page(folder: Path, checked: Sequence[Checked], count: int) -> Path:
    """Write a page that says which numbers were confirmed, by which code."""
    lines = [
        [
            each.name,
            str(each.n_cells),
            str(len(each.differences)),
            str(each.n_equal),
            f"{plain_number(100 * each.worst[0], 2)} %, {each.worst[1]}" if each.worst[0] else "none",
        ]
        for each in checked
    ]
    header = ["experiment", "cells", "numbers", "the same in five digits", "largest difference"]
    origin = provenance.sentence(
        f"semigp reproduce all --check {count}",
        provenance.commit(),
        provenance.today(),
        provenance.versions("jax", "numpy", "scipy", "scikit-learn"),
        provenance.machine(),
    )
    path = folder / "checked.md"
    path.write_text(
        f"# Cells that were computed again\n\n{_LEAD}\n{markdown_table(header, lines)}\n{origin}\n", "utf-8"
    )
    return path


_LEAD = """Cells of every experiment, drawn at random, were computed again and compared with the tables in this folder.
Differences are relative to the larger number. Times are not compared, nor what other environments compute.
"""
