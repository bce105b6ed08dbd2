"""Whether tables of results are what the code gives today: some of their cells, computed again, number by number."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np

from .reporting import as_texts, is_number, markdown_table, origin, plain_number, read_texts, run_cells

Texts = dict[str, str]
CLOSE = 1e-3  # other processors and versions change last digits, and searches amplify that
FLOOR = 0.01  # differences of smaller numbers are relative to this share of the median of their column
_SEED = 0  # always the same cells, so that two commits can be compared


@dataclass(frozen=True)
class Checked:
    """What became of the numbers of some cells of one experiment."""

    name: str
    n_cells: int
    n_absent: int  # rows that the table does not have
    differences: tuple[tuple[float, str], ...]  # of every number, in relation to its size, and where it stands

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
        """Whether all rows are in the table, with nearly the same numbers, and there are any."""
        return bool(self.differences) and not self.n_absent and self.worst[0] <= CLOSE

    @property
    def sentence(self) -> str:
        """The outcome in a line."""
        told = f"{self.name}: {self.n_equal} of {len(self.differences)} numbers are the same (cells: {self.n_cells})"
        if self.n_equal < len(self.differences):
            told += f"; the largest difference is {plain_number(100 * self.worst[0], 2)} %, of {self.worst[1]}"
        return told + (f"; rows that are not in the table: {self.n_absent}." if self.n_absent else ".")


def check(name: str, experiment: ModuleType, profile: str, folder: Path, count: int, n_jobs: int = 2) -> Checked:
    """Compute `count` cells of an experiment again, drawn at random, and compare them with its tables in `folder`."""
    cells = experiment.cells(profile)
    drawn = [cells[i] for i in np.random.default_rng(_SEED).permutation(len(cells))[:count]]
    with tempfile.TemporaryDirectory() as place:
        rows = run_cells(experiment.run_cell, drawn, n_jobs, Path(place) / f"{name}.csv")
    paths = [folder / f"{name}.csv", *sorted(folder.glob(f"{name}-*.csv"))]
    return compare(name, len(drawn), [as_texts(row) for row in rows], [read_texts(path) for path in paths])


def compare(name: str, n_cells: int, rows: Iterable[Texts], tables: Sequence[Sequence[Texts]]) -> Checked:
    """Every number of some rows beside that of the table that has such a row, but for times."""
    differences, n_absent = [], 0
    floors = [_floors(table) for table in tables]
    for row in rows:
        words = {k: v for k, v in row.items() if _identifies(k, v)}
        numbers = {k: v for k, v in row.items() if k not in words and "seconds" not in k}
        options = [
            [_difference(value, other.get(column, ""), floor.get(column, 0.0)) for column, value in numbers.items()]
            for table, floor in zip(tables, floors, strict=True)
            for other in table
            if all(other.get(column, "") == word for column, word in words.items())
        ]
        if not options:
            n_absent += 1
            continue
        found = min(options, key=sum)  # rows of one cell may differ by a number only, such as that of labels
        place = ", ".join(words.values())
        differences += [(each, f"{column} ({place})") for each, column in zip(found, numbers, strict=True)]
    return Checked(name, n_cells, n_absent, tuple(differences))


def _identifies(column: str, value: str) -> bool:
    """Whether a value tells rows apart. Words do, and seeds; other numbers may be scores."""
    return column == "seed" or (bool(value) and not is_number(value))


def _floors(table: Sequence[Texts]) -> Mapping[str, float]:
    """For every column, below which size numbers are not asked to agree in their own digits."""
    found = {}
    for column in dict.fromkeys(column for row in table for column in row):
        sizes = [abs(float(row[column])) for row in table if is_number(row.get(column, ""))]
        finite = [size for size in sizes if math.isfinite(size)]
        if finite:
            found[column] = FLOOR * float(np.median(finite))
    return found


def _difference(one: str, other: str, floor: float) -> float:
    """In relation to the larger number, or to a floor; 1 if only one of both is there, or finite."""
    if one == other:
        return 0.0
    if not (is_number(one) and is_number(other)):
        return 1.0
    a, b = float(one), float(other)
    if a == b:
        return 0.0
    return abs(a - b) / max(abs(a), abs(b), floor) if math.isfinite(a) and math.isfinite(b) else 1.0


def write_page(folder: Path, checked: Sequence[Checked], count: int) -> Path:
    """Write a page that says which numbers were confirmed, by which code."""
    header = [
        "experiment",
        "cells",
        "numbers",
        "the same in five digits",
        "largest difference",
        "rows not in the table",
    ]
    lines = [
        [
            each.name,
            *(str(number) for number in (each.n_cells, len(each.differences), each.n_equal)),
            f"{plain_number(100 * each.worst[0], 2)} %, {each.worst[1]}" if each.worst[0] else "none",
            str(each.n_absent),
        ]
        for each in checked
    ]
    parts = ["# Cells that were computed again", _LEAD, markdown_table(header, lines)]
    parts.append(origin(f"semigp reproduce all --check {count}"))
    path = folder / "checked.md"
    path.write_text("\n\n".join(part.strip() for part in parts) + "\n", encoding="utf-8")
    return path


_LEAD = """Cells of every experiment, drawn at random, were computed again and compared with the tables in this folder.
Differences are relative to the larger number. Times are not compared, nor what other environments compute.
"""
