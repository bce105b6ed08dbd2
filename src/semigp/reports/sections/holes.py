"""What is missing, in which patterns, and which columns know each other."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np

from ... import plotting
from ...columns import Columns, Levels
from ...estimators.common.sklearn_private import take_rows
from ...frames import is_missing, names_or_numbers
from ...words import told_share
from ..association import strengths
from ..figures import Drawing
from ..page import Report

_MOST_COLUMNS = 20  # in tables and figures: those with the most missing entries
_MOST_PATTERNS, _MOST_NAMED = 8, 5
_ROWS_TO_RELATE = 2000
_MOST_PAIRS, _LEAST_STRENGTH = 8, 0.1


def add_missing(page: Report, X: Any, X_std: Any = None) -> None:
    """A map of what is missing, the columns with the most holes, and which columns are missing together."""
    missing = is_missing(X)
    names = names_or_numbers(X, missing.shape[1])
    rows = int(missing.any(axis=1).sum())
    page.section("What is missing")
    if not missing.any():
        page.text(f"Nothing: all {missing.size} entries of the {len(missing)} rows are known.")
        return
    page.text(
        f"{missing.sum()} of {missing.size} entries are missing, which is {told_share(missing.mean())}. "
        f"{rows} of {len(missing)} rows have a hole, and {int(missing.any(axis=0).sum())} of {len(names)} columns."
    )
    drawing = Drawing((6.4, 3.0))
    drawing.draw(plotting.draw_missingness, X, X_std=X_std)
    page.figure(
        drawing,
        "Every row from top to bottom, every column from left to right.",
        f"Map of {len(missing)} rows and {len(names)} columns, with {missing.sum()} missing entries.",
    )
    _add_columns(page, missing, names)
    _add_patterns(page, missing, names)


def _add_columns(page: Report, missing: np.ndarray, names: np.ndarray) -> None:
    counts = missing.sum(axis=0)
    order = [j for j in np.argsort(-counts, kind="stable") if counts[j]]
    rows = [[str(names[j]), str(counts[j]), told_share(counts[j] / len(missing))] for j in order[:_MOST_COLUMNS]]
    more = f" The {_MOST_COLUMNS} with the most, of {len(order)}." if len(order) > _MOST_COLUMNS else ""
    page.table(f"Columns with holes.{more}", ["column", "missing", "share"], rows)


def _add_patterns(page: Report, missing: np.ndarray, names: np.ndarray) -> None:
    packed = Counter(map(bytes, np.packbits(missing, axis=1)))
    rows = []
    for pattern, count in packed.most_common(_MOST_PATTERNS):
        holes = np.unpackbits(np.frombuffer(pattern, np.uint8), count=len(names)).astype(bool)
        rows.append([_named(names[holes]), str(count), told_share(count / len(missing))])
    more = f" The {_MOST_PATTERNS} most frequent of {len(packed)} patterns." if len(packed) > _MOST_PATTERNS else ""
    page.table(f"What is missing together in a row.{more}", ["missing together", "rows", "share"], rows)


def _named(names: np.ndarray) -> str:
    if not len(names):
        return "nothing: the row is complete"
    shown = ", ".join(map(str, names[:_MOST_NAMED]))
    return shown + (f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else "")


def add_relations(page: Report, X: Any) -> None:
    """Which columns know each other: a map, and the strongest pairs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns that are left out, which have a section of their own
        columns = Columns.learn(X)
        some = np.linspace(0, len(X) - 1, min(len(X), _ROWS_TO_RELATE)).astype(int)
        codes = columns.encode(take_rows(X, some))
    holes = np.isnan(codes).sum(axis=0)
    chosen = np.sort(np.argsort(-holes, kind="stable")[:_MOST_COLUMNS])
    if len(chosen) < 2:
        return
    is_level = np.array([isinstance(kind, Levels) and not kind.is_ordered for kind in columns.used])
    names = [columns.names_of_used[j] for j in chosen]
    found = strengths(codes[:, chosen], is_level[chosen])
    page.section(
        "Which columns know each other",
        "What is missing in one column can be guessed from columns that are related to it. 0 means no relation and 1 a "
        "perfect one: rank correlation of numbers, and the like for categories.",
    )
    drawing = Drawing((6.4, min(6.0, 1.8 + 0.26 * len(names))))
    drawing.draw(plotting.draw_associations, found, names)
    pairs = [(i, j) for i in range(len(names)) for j in range(len(names)) if np.isfinite(found[i, j])]
    drawing.spots(
        [j for _, j in pairs],
        [i for i, _ in pairs],
        [f"{names[i]} and {names[j]}: {found[i, j]:.2f}" for i, j in pairs],
    )
    which = "columns with the most holes" if holes.any() else "first columns"
    more = f" The {len(names)} {which}, of {len(columns.used)}." if len(names) < len(holes) else ""
    page.figure(
        drawing, f"How strongly pairs of columns are related.{more}", f"Map of {len(names)} by {len(names)} pairs."
    )
    clear = [pair for pair in pairs if pair[0] < pair[1] and found[pair] >= _LEAST_STRENGTH]
    if not clear:
        page.text(
            "No pair of columns is clearly related: what is missing can hardly be guessed from the other columns."
        )
        return
    best = sorted(clear, key=lambda pair: -found[pair])[:_MOST_PAIRS]
    rows = [[str(names[i]), str(names[j]), f"{found[i, j]:.2f}"] for i, j in best]
    page.table(f"The strongest relations.{more}", ["column", "and", "strength"], rows)
