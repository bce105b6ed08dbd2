"""One view as a user gives it, and as the model sees it: columns of floats in standard units, in our own order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator

from ...columns import Columns, Kind, Levels
from ...columns.identifiers import is_free_text
from ...frames import FrameKind, as_frame
from ..common.checks import check_columns
from ..common.filled_tables import FilledTables
from ..common.order import column_order
from ..common.reading import collapsed, expanded, learn_inputs, names_of_inputs, read_inputs
from ..common.units import Units, scale_of
from .prediction import Mixture

# A view is uneven if its largest standard deviation is more than this many times the lower quartile.
_UNEVEN = 2.0


class ViewTable(BaseEstimator):
    """What was learned of one view: the kinds of its columns, their units, and their order.

    A view is an array or a frame of any columns, or a single column (n,). A single column of text, booleans or whole
    numbers holds labels. More than two levels without an order are columns of 0 and 1 to the model.
    """

    _columns: Columns | None = None

    def __init__(self, name: Any = None) -> None:
        self.name = name

    def __sklearn_tags__(self):
        """Tell scikit-learn that a view may hold NaN."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    # ---- from the user

    def learn(self, view: Any) -> np.ndarray:
        """The training rows as floats (n, d), NaN where missing, with the columns in our order."""
        self.is_single = np.ndim(view) == 1
        table = _as_column(view) if self.is_single else view
        has_labels = self.is_single and _holds_labels(table)
        with self._naming():
            if has_labels and _is_nearly_unique(table):
                raise ValueError(
                    "a single column of whole numbers or text holds labels, but nearly every value is different. Give "
                    "floats, or a table with one column, if these are numbers."
                )
            codes = learn_inputs(self, table, [0] if has_labels else None, copy=True)
            check_columns(codes, names_of_inputs(self))
        self.kind = FrameKind.of(table)
        self._filled_tables = FilledTables.like(table, self._columns)
        values = expanded(self, codes)
        self.order = column_order(values)
        return values[:, self.order]

    def measure(self, values: np.ndarray, scaling: str) -> None:
        """Set the units, from the training rows in our order of rows and columns."""
        self.units = Units(np.nanmean(values, axis=0), scale_of(values, scaling))
        widths = np.nanstd(values, axis=0)
        self.is_uneven = bool(widths.max() > _UNEVEN * np.quantile(widths, 0.25, method="lower"))

    def read(self, view: Any) -> np.ndarray:
        """Rows as floats (n, d), NaN where missing, with the columns in our order."""
        if (np.ndim(view) == 1) != self.is_single:
            told = "a single column in training" if self.is_single else "a table in training"
            raise ValueError(f"View {self.name!r} was {told}, and now has shape {np.shape(view)}. Give it as before.")
        with self._naming():
            codes = read_inputs(self, _as_column(view) if self.is_single else view)
        return expanded(self, codes)[:, self.order]

    @contextmanager
    def _naming(self) -> Iterator[None]:
        """Errors that say which view they mean."""
        try:
            yield
        except (TypeError, ValueError) as error:
            told = str(error).replace(type(self).__name__, "the model")
            raise type(error)(f"View {self.name!r}: {told}") from error

    # ---- back to the user

    @property
    def is_labels(self) -> bool:
        """Whether the view is a single column of labels."""
        return self.is_single and self._columns is not None

    @property
    def classes(self) -> np.ndarray:
        """The labels of a view of labels."""
        return np.array(self._columns.used[0].levels)  # type: ignore[union-attr]

    @property
    def kinds(self) -> tuple[Kind | None, ...]:
        """The kinds of the columns; None for those of plain numbers."""
        return (None,) * self.n_features_in_ if self._columns is None else self._columns.used

    @property
    def level_groups(self) -> dict[Any, tuple[Levels, tuple[int, ...]]]:
        """For every column of levels: its levels, and its places among the columns that the model sees."""
        if self._columns is None:
            return {}
        place = np.argsort(self.order)
        each = zip(self._columns.used, self._columns.groups, strict=True)
        return {kind.name: (kind, tuple(place[list(g)].tolist())) for kind, g in each if isinstance(kind, Levels)}

    def codes(self, mixture: Mixture) -> tuple[np.ndarray, np.ndarray]:
        """Codes and their standard deviations, in the user's units and order of columns.

        Levels are the most probable ones, and have the standard deviation NaN.
        """
        back = np.argsort(self.order)
        mean, variance = mixture.moments()
        codes, std = collapsed(self, self.units.natural(mean)[:, back], (np.sqrt(variance) * self.units.std)[:, back])
        names = [None if kind is None else kind.name for kind in self.kinds]
        for name, levels in self.probabilities(mixture).items():
            codes[:, names.index(name)] = np.argmax(levels, axis=1)
        return codes, std

    def table(self, codes: np.ndarray) -> Any:
        """New rows as a view like that of training."""
        if self._columns is None:
            return self._shaped(as_frame(codes, self.kind and replace(self.kind, index=None)))
        if self.kind is None:
            levels = [kind.levels if isinstance(kind, Levels) else None for kind in self._columns.used]
            columns = [c if k is None else np.array(k)[c.astype(int)] for c, k in zip(codes.T, levels, strict=True)]
            return columns[0] if self.is_single else np.column_stack(columns)
        found = self._columns.fill(codes, _blank(self.kind, self._columns.names_of_used, len(codes)))
        return found.infer_objects() if self.kind.library.is_pandas() else found

    def filled(self, values: np.ndarray, mixture: Mixture, view: Any = None) -> tuple[Any, Any]:
        """A view with its holes filled in, and standard deviations, which are 0 for known entries.

        `values` holds the floats of the view. If the view is None, it is that of the training rows.
        """
        known = collapsed(self, values[:, np.argsort(self.order)], np.zeros(values.shape))[0]
        codes, std = self.codes(mixture)
        codes, std = np.where(np.isnan(known), codes, known), np.where(np.isnan(known), std, 0.0)
        return self.table(codes) if self.is_single else self._filled_tables.filled(codes, view), self.spreads(std, view)

    def spreads(self, std: np.ndarray, view: Any = None) -> Any:
        """Standard deviations in the form of a view."""
        if self.is_single:
            return std[:, 0]
        kind = FrameKind.of(view) if view is not None else self.kind and replace(self.kind, index=None)
        names = names_of_inputs(self)
        return as_frame(std, kind and replace(kind, columns=list(names)))

    def _shaped(self, table: Any) -> Any:
        return table[:, 0] if self.is_single and isinstance(table, np.ndarray) else table

    def probabilities(self, mixture: Mixture) -> dict[Any, np.ndarray]:
        """For every column of levels, the probabilities (n, l) of its levels.

        They are proportional to the density of what the model would see for each level.
        """
        found = {}
        for name, (kind, places) in self.level_groups.items():
            codes = np.arange(len(kind.levels))
            seen = (codes[:, None] == codes if len(places) > 1 else codes[:, None]).astype(float)  # (l, places)
            wanted = (seen - self.units.mean[list(places)]) / self.units.std[list(places)]
            mean, variance = (part[..., None, list(places)] for part in (mixture.mean, mixture.variance))
            logs = -0.5 * np.sum((wanted - mean) ** 2 / variance, axis=-1)  # (k, n, l)
            found[name] = np.einsum("kn,knl->nl", mixture.weight, softmax(logs, axis=-1))
        return found


def _blank(kind: FrameKind, names: list[Any], n_rows: int) -> Any:
    """A frame in which every cell is missing."""
    if kind.library.is_pandas():
        return as_frame(np.full((n_rows, len(names)), None, object), replace(kind, columns=names, index=None))
    cells = {name: [None] * n_rows for name in names}
    return nw.to_native(nw.from_dict(cells, backend=kind.library))  # type: ignore[arg-type]


def _as_column(view: Any) -> np.ndarray:
    """A single column as a table. Text and booleans are objects, because arrays of them would be read as numbers."""
    series = nw.from_native(view, series_only=True, pass_through=True)
    values = series.to_list() if isinstance(series, nw.Series) else view
    array = np.asarray(values)
    if array.dtype.kind in "USb":
        array = np.asarray(values, dtype=object)
    return array.reshape(-1, 1)


def _holds_labels(column: np.ndarray) -> bool:
    """Whether a single column holds labels: whole numbers, booleans or text; None marks missing ones."""
    if column.dtype.kind != "O":
        return column.dtype.kind in "iub"
    known = [each for each in column[:, 0] if each is not None and each == each]
    return not all(isinstance(each, float | np.floating) for each in known)


def _is_nearly_unique(column: np.ndarray) -> bool:
    """Whether a column of labels would be taken for an identifier, or for free text."""
    known = [each for each in column[:, 0] if each is not None and each == each]
    return is_free_text(len(set(known)), len(known)) and not set(known) <= {False, True}
