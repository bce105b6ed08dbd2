"""`Columns`: a table with columns of any kind, as floats and back."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import narwhals as nw
import numpy as np

from .cells import Cells, read_cells
from .filling import filled_array, filled_series
from .identifiers import is_identifier, is_identifying_name
from .kinds import Kind, Levels, Number
from .learning import codes_of, learn_kind
from .tables import Sheet, read_sheet


@dataclass(frozen=True)
class Columns:
    """The kinds of the columns of a table, learned from its training rows.

    Codes are floats (n, q), one column for each used column: numbers as they are, levels as 0, 1, 2 …, and times as
    seconds. NaN marks missing values. An expanded table has more columns, as it is needed where codes of levels must
    not be compared: a column of more than two levels without an order becomes a group of columns of 0 and 1.

    Attributes
    ----------
    used : tuple of Number, Levels or Time
        The columns that have codes, in the order of the table.
    left_out : dict
        The columns without codes, and why they are left out.
    places : tuple of int
        Where the used columns stand in the table.
    """

    used: tuple[Kind, ...]
    left_out: dict[Any, str]
    places: tuple[int, ...]

    @classmethod
    def learn(cls, X: Any, categorical_features: Any = None) -> Columns:
        """The kinds of the columns of a frame or of an array.

        Parameters
        ----------
        X : frame or array (n, q)
            None, NaN, NA, NaT and null are missing.
        categorical_features : list of names or numbers, or mask (q,), optional
            Columns that hold categories, whatever their type. In frames, text and booleans always do.

        Warns of columns that are left out: identifiers and free text.
        """
        sheet = read_sheet(X)
        chosen = _chosen(categorical_features, sheet)
        used, places, left_out = [], [], {}
        for place, (name, column) in enumerate(zip(sheet.names, sheet.columns, strict=True)):
            found = learn_kind(read_cells(column, name), name, place in chosen)
            if isinstance(found, str):
                left_out[name] = found
                continue
            if sheet.frame is None and isinstance(found, Levels) and place not in chosen:
                raise ValueError(
                    f"Column {name} of the array X does not hold numbers. Give a frame, or say which columns hold "
                    f"categories: categorical_features=[{name}]."
                )
            used.append(found)
            places.append(place)
        told = "; ".join(f"{name!r}: {reason}" for name, reason in left_out.items())
        if not used:
            raise ValueError(f"No column of X can be learned from ({told}). Leave out what identifies the rows.")
        if left_out:
            warnings.warn(f"Columns are left out ({told}).", UserWarning, stacklevel=2)
        return cls(tuple(used), left_out, tuple(places))

    @property
    def names_of_used(self) -> list[Any]:
        """The names of the used columns, or their numbers in an array."""
        return [kind.name for kind in self.used]

    @property
    def is_numeric_only(self) -> bool:
        """Whether all columns hold numbers, and none is left out."""
        return not self.left_out and all(isinstance(kind, Number) for kind in self.used)

    def encode(self, X: Any) -> np.ndarray:
        """The codes of a table, (n, q). Levels that were not there in training count as missing, with a warning."""
        return np.ascontiguousarray(
            np.column_stack([codes_of(cells, kind) for _, cells, kind in self._read(read_sheet(X))])
        )

    def fill(self, codes: np.ndarray, X: Any) -> Any:
        """A table like X, with its types and its index, whose holes in used columns are filled in from codes.

        What is filled in is rounded to what the column can hold: whole numbers, levels, days. It is never outside the
        range of the training rows. Known values are unchanged.
        """
        sheet = read_sheet(X)
        new = {}
        fill = filled_array if sheet.frame is None else filled_series
        for (place, cells, kind), values in zip(self._read(sheet), np.asarray(codes, float).T, strict=True):
            if not cells.is_known.all():
                new[place] = fill(sheet.columns[place], cells, kind, values)
        return _with_columns(sheet, new)

    def _read(self, sheet: Sheet) -> Iterator[tuple[int, Cells, Kind]]:
        for place, kind in zip(self.places, self.used, strict=True):
            here = sheet.place_of(kind.name, place)
            yield here, read_cells(sheet.columns[here], kind.name, getattr(kind, "is_day_first", None)), kind

    # ---- groups of 0 and 1

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """For every used column, its places in the expanded table."""
        ends = np.cumsum([0, *(kind.width for kind in self.used)]).tolist()
        return tuple(tuple(range(*pair)) for pair in pairwise(ends))

    def expand(self, codes: np.ndarray) -> np.ndarray:
        """Codes (n, q) as an expanded table (n, d), in which a missing level makes its whole group NaN."""
        parts = []
        for kind, column in zip(self.used, np.asarray(codes, float).T, strict=True):
            group = column[:, None]
            if kind.width > 1:
                group = np.where(np.isnan(group), np.nan, group == np.arange(kind.width))
            parts.append(group)
        return np.ascontiguousarray(np.column_stack(parts))

    def collapse(self, expanded: np.ndarray) -> np.ndarray:
        """An expanded table as codes. The largest of a group wins; codes of levels are rounded to those that exist."""
        expanded = np.asarray(expanded, float)
        codes = np.empty((len(expanded), len(self.used)))
        for k, (kind, group) in enumerate(zip(self.used, self.groups, strict=True)):
            values = expanded[:, group]
            if kind.width > 1:
                codes[:, k] = np.where(np.isnan(values).any(axis=1), np.nan, np.argmax(values, axis=1))
            else:
                codes[:, k] = kind.nearest(values[:, 0]) if isinstance(kind, Levels) else values[:, 0]
        return codes


def holds_only_numbers(X: Any, keeps_identifiers: bool = False) -> bool:
    """Whether X is a frame with columns of numbers only, none of which is an identifier that is to be left out."""
    sheet = read_sheet(X)
    if sheet.frame is None or not all(column.dtype.is_numeric() for column in sheet.columns):
        return False
    if keeps_identifiers:
        return True
    named = [pair for pair in zip(sheet.names, sheet.columns, strict=True) if is_identifying_name(pair[0])]
    return not any(is_identifier(name, read_cells(column, name).floats) for name, column in named)


def _chosen(features: Any, sheet: Sheet) -> set[int]:
    """The places of the columns that a user has called categorical."""
    if features is None:
        return set()
    features = np.atleast_1d(np.asarray(features)) if not isinstance(features, list | tuple) else features
    if len(features) and all(isinstance(each, bool | np.bool_) for each in features):
        if len(features) != len(sheet.names):
            raise ValueError(f"categorical_features has {len(features)} entries; X has {len(sheet.names)} columns.")
        return set(np.flatnonzero(features).tolist())
    return {_place(each, sheet) for each in features}


def _place(feature: Any, sheet: Sheet) -> int:
    if sheet.frame is not None and feature in sheet.names:
        return sheet.names.index(feature)
    if not isinstance(feature, int | np.integer) or not -len(sheet.names) <= feature < len(sheet.names):
        there = ", ".join(map(repr, sheet.names[:10]))
        raise ValueError(f"categorical_features names the column {feature!r}, which X does not have: {there}.")
    return int(feature) % len(sheet.names)


def _with_columns(sheet: Sheet, new: dict[int, Any]) -> Any:
    """A copy of a table with some of its columns replaced."""
    if sheet.frame is None:
        array = sheet.array.copy()
        for place, column in new.items():
            array[:, place] = column
        return array
    if not sheet.frame.implementation.is_pandas_like():
        return nw.to_native(sheet.frame.with_columns(*new.values()))
    frame = nw.to_native(sheet.frame).copy()
    for place, column in new.items():
        frame.isetitem(place, column.to_native())
    return frame
