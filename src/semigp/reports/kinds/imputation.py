"""The report of a table that was filled."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ... import plotting
from ...columns import Columns, Levels
from ...comparison.tasks.imputation import filled_by, hidden_entries
from ...estimators.common.sklearn_private import take_rows
from ...frames import is_missing
from ...words import told_number, told_share
from ..figures import Drawing
from ..page import Report
from ..sections.beliefs import add_beliefs
from ..sections.checks import MOST_STRANGE, STRANGE, Z95
from ..sections.holes import add_missing, add_relations
from ..sections.settings import add_left_out, add_settings
from .base import Subject

_MOST_ROWS, _FEWEST_ENTRIES, _MOST_COLUMNS = 1000, 30, 30


def tell(subject: Subject) -> Report:
    """What is missing and believed, and whether entries that were hidden are found again."""
    model, X = subject.model, subject.X
    found = None if X is None else _check(model, X)
    page = Report("A filled table", _lead(X, found))
    if X is not None:
        add_missing(page, X)
        add_relations(page, X)
    add_beliefs(page, model)
    reasons = ["X"] if X is None else []
    if found is not None:
        _add_check(page, found)
    elif X is not None:
        reasons = [f"Fewer than {_FEWEST_ENTRIES} known entries could be hidden, too few to check the filling."]
    add_left_out(page, model, reasons)
    python = f'model = {model!r}.fit(X)\nreport(model, "report.html", X)\n'
    add_settings(page, subject, "GPImputer, report", python)
    return page


def _lead(X: Any, found: _Hidden | None) -> str:
    if X is None:
        return "A GPImputer that was fitted before."
    missing = is_missing(X)
    told = f"{len(missing)} rows, {missing.shape[1]} columns, {told_share(missing.mean())} of their entries missing. "
    if found is None:
        return told
    numbers = found.is_number
    if numbers.any():
        rmse = np.sqrt(np.mean(found.errors[numbers] ** 2))
        told += f"Hidden numbers are found again up to {rmse:.2f} standard deviations of their column. "
        share = told_share(np.mean(np.abs(found.residuals[numbers]) < Z95))
        told += f"Of the 95 % intervals, {share} hold the true value. "
    if not numbers.all():
        told += f"Of hidden categories, {told_share(np.mean(found.is_right[~numbers]))} are found again."
    return told


@dataclass(frozen=True)
class _Hidden:
    """Entries that were hidden, one after the other."""

    rows: np.ndarray
    names: np.ndarray
    truth: np.ndarray  # codes
    mean: np.ndarray
    std: np.ndarray
    unit: np.ndarray  # the standard deviation of the column
    is_number: np.ndarray

    @property
    def errors(self) -> np.ndarray:
        """In units of the column."""
        return (self.truth - self.mean) / self.unit

    @property
    def residuals(self) -> np.ndarray:
        """In units of the standard deviation; NaN for categories."""
        return (self.truth - self.mean) / self.std

    @property
    def is_right(self) -> np.ndarray:
        """Whether the level was found."""
        return self.truth == self.mean


def _check(model: Any, X: Any) -> _Hidden | None:
    """Hide a tenth of the known entries of at most a thousand rows, and fill them with a copy of the model."""
    chosen = np.linspace(0, len(X) - 1, min(len(X), _MOST_ROWS)).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what the fit has told before
        some = take_rows(X, chosen)
        columns = Columns.learn(some, model.categorical_features)
        truth = columns.encode(some)
        hidden = hidden_entries(truth, 0)
        if hidden.sum() < _FEWEST_ENTRIES:
            return None
        filled = filled_by(clone(model).set_params(verbose=False, callback=None), some, columns, hidden)
    rows, places = np.nonzero(hidden)
    unit = np.nanstd(truth, axis=0)
    unit = np.where(unit > 0, unit, 1.0)[places]
    is_number = np.array([not isinstance(kind, Levels) for kind in columns.used])[places]
    std = np.where(is_number, np.maximum(filled.std[hidden], 1e-9 * unit), np.nan)
    names = np.array([str(name) for name in columns.names_of_used])[places]
    return _Hidden(chosen[rows], names, truth[hidden], filled.values[hidden], std, unit, is_number)


def _add_check(page: Report, found: _Hidden) -> None:
    page.section(
        "Does it hold?",
        f"{len(found.rows)} known entries were hidden, and filled by an imputer that had not seen them. So this is "
        "what to expect of the entries that are really missing, if they are missing for no special reason.",
    )
    rows = [_scored(found, name) for name in dict.fromkeys(found.names)]
    header = ["column", "hidden", "RMSE (standard deviations)", "inside 95 %", "right"]
    more = f" The first {_MOST_COLUMNS} of {len(rows)} columns." if len(rows) > _MOST_COLUMNS else ""
    page.table(f"Hidden entries.{more}", header, rows[:_MOST_COLUMNS])
    numbers = found.is_number
    if numbers.any():
        _draw(page, found, numbers)
        _add_strange(page, found)


def _scored(found: _Hidden, name: str) -> list[str]:
    here = found.names == name
    if not found.is_number[here][0]:
        return [name, str(here.sum()), "", "", told_share(np.mean(found.is_right[here]))]
    rmse, residuals = np.sqrt(np.mean(found.errors[here] ** 2)), np.abs(found.residuals[here])
    return [name, str(here.sum()), f"{rmse:.2f}", told_share(np.mean(residuals < Z95)), ""]


def _draw(page: Report, found: _Hidden, some: np.ndarray) -> None:
    drawing = Drawing((4.8, 3.9))
    # In units of their columns, in which all entries can be drawn together.
    moments = (part[some] / found.unit[some] for part in (found.truth, found.mean, found.std))
    table = drawing.draw(plotting.draw_calibration, *moments)
    told = [f"{a:.0%} intervals hold {b:.1%}" for a, b in zip(table["level"], table["share"], strict=True)]
    drawing.spots(table["level"], table["share"], told)
    page.figure(
        drawing,
        "Calibration: the share of hidden numbers inside intervals, against the level of the intervals.",
        "Share of hidden numbers inside intervals, against their level.",
    )


def _add_strange(page: Report, found: _Hidden) -> None:
    page.section(
        "Entries that the model finds strange",
        f"Hidden numbers that are more than {STRANGE:g} standard deviations from what the rest of their row says. They "
        "may be errors. Rows are counted from 1.",
    )
    places = [i for i in np.argsort(-np.nan_to_num(np.abs(found.residuals))) if abs(found.residuals[i]) > STRANGE]
    if not places:
        page.text("There are none.")
        return
    rows = [
        [str(found.rows[i] + 1), str(found.names[i]), told_number(found.truth[i], 4), told_number(found.mean[i], 4),
         told_number(found.std[i], 2), f"{found.residuals[i]:+.1f}"]
        for i in places[:MOST_STRANGE]
    ]  # fmt: skip
    told = f"{len(places)} of {found.is_number.sum()} hidden numbers."
    page.table(told, ["row", "column", "value", "expected", "std", "off by (std)"], rows)
