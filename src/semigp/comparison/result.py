"""`Comparison`: the scores of all ways, as a table, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from ..words import told_number
from .tasks.base import COVERAGE, OURS

_LEVEL = 0.02  # scores that differ by less than this share are level
_HOLDS = (0.90, 0.99)  # a coverage in here is near enough to 95 %


@dataclass(frozen=True)
class Comparison:
    """What every way scored on the same splits of the data.

    Attributes
    ----------
    about : str
        What was compared.
    scores : tuple of str
        The names of the scores. The first decides, and smaller is better.
    records : list of dict
        For every way and split that was run: "way", "split", the scores, and "seconds".
    left_out : dict
        Ways that could not be used, and why.
    """

    about: str
    scores: tuple[str, ...]
    records: list[dict[str, Any]]
    left_out: dict[str, str]

    @property
    def ways(self) -> list[str]:
        """The ways that were run, the best first."""
        found = list(dict.fromkeys(record["way"] for record in self.records))
        return sorted(found, key=lambda way: self.mean(way, self.scores[0]))

    @property
    def n_splits(self) -> int:
        """The number of splits that all ways have seen."""
        return len({record["split"] for record in self.records})

    @property
    def best(self) -> str:
        """The way with the smallest first score."""
        return self.ways[0]

    def mean(self, way: str, score: str) -> float:
        """The mean of a score over splits; NaN if the way does not have it."""
        values = self._values(way, score)
        return float(np.mean(values)) if len(values) else np.nan

    def _values(self, way: str, score: str) -> np.ndarray:
        return np.array([record[score] for record in self.records if record["way"] == way and score in record])

    def difference(self, way: str, other: str) -> tuple[float, float]:
        """Mean and standard error of the difference in the first score, split by split: `way` minus `other`."""
        apart = self._values(way, self.scores[0]) - self._values(other, self.scores[0])
        error = np.std(apart, ddof=1) / np.sqrt(len(apart)) if len(apart) > 1 else np.nan
        return float(np.mean(apart)), float(error)

    @property
    def advice(self) -> str:
        """What to use here, in one or two sentences."""
        main, ways = self.scores[0], self.ways
        if OURS not in ways:
            return f"semigp could not be used: {self.left_out.get(OURS, 'it was not run')}."
        if len(ways) == 1:
            return "No other way could be used here."
        rival = next(way for way in ways if way != OURS)
        ours, theirs = self.mean(OURS, main), self.mean(rival, main)
        apart, error = self.difference(OURS, rival)
        is_clear = not np.isfinite(error) or abs(apart) > 2 * error
        share = abs(apart) / max(theirs if apart < 0 else ours, 1e-300)
        figures = f"{main} {told_number(ours)}, {rival} {told_number(theirs)}"
        if share < _LEVEL or not is_clear:
            return f"semigp and {rival} are level here ({figures}). {self._cheaper(rival)}{self._intervals(rival)}"
        if apart < 0:
            return f"semigp is the best way here: {figures}.{self._intervals(rival)}"
        return f"{rival} is better here: its {main} is {share:.0%} smaller ({figures}).{self._intervals(rival)}"

    def _cheaper(self, rival: str) -> str:
        ours, theirs = self.mean(OURS, "seconds"), self.mean(rival, "seconds")
        if max(ours, theirs) < 3 * min(ours, theirs):
            return "Both take about the same time."
        quick, slow = (OURS, rival) if ours < theirs else (rival, OURS)
        return f"{quick} is quicker: {min(ours, theirs):.2g} s a fit, {slow} {max(ours, theirs):.2g} s."

    def _intervals(self, rival: str) -> str:
        """A sentence about intervals where one way's hold and the other's do not."""
        ours, theirs = self.mean(OURS, COVERAGE), self.mean(rival, COVERAGE)
        holds, others = (_HOLDS[0] <= value <= _HOLDS[1] for value in (ours, theirs))
        if np.isnan(ours) or (holds and (others or np.isnan(theirs))):
            return ""
        if holds:
            return f" The 95 % intervals of semigp hold {ours:.0%} of the values, those of {rival} {theirs:.0%}."
        return f" The 95 % intervals of semigp hold {ours:.0%} of the values; do not rely on them here."

    def to_dict(self) -> dict[str, list[Any]]:
        """The table by columns, for any kind of frame: way, mean scores, seconds of one fit; the best way first."""
        columns: dict[str, list[Any]] = {"way": self.ways}
        return columns | {name: [self.mean(way, name) for way in self.ways] for name in (*self.scores, "seconds")}

    def rows(self) -> list[list[str]]:
        """The table as text."""
        names = (*self.scores, "seconds")
        return [[way, *(_told(self.mean(way, name), name) for name in names)] for way in self.ways]

    def __str__(self) -> str:
        header = ["", *self.scores, "seconds"]
        lines = [header, *self.rows()]
        widths = [max(len(line[k]) for line in lines) for k in range(len(header))]
        told = ["  ".join([line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))])
                for line in lines]  # fmt: skip
        missing = [f"Left out: {way}, because {reason}" for way, reason in self.left_out.items()]
        return "\n".join([f"Compared: {self.about}, {self.n_splits} splits.", *told, *missing, self.advice])

    def _repr_html_(self) -> str:
        header = "".join(f"<th>{escape(name)}</th>" for name in ("", *self.scores, "seconds"))
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self.rows())
        missing = "".join(f"<p>Left out: {escape(f'{way}, because {why}')}</p>" for way, why in self.left_out.items())
        about = f"<p>Compared: {escape(self.about)}, {self.n_splits} splits.</p>"
        return f"{about}<table><tr>{header}</tr>{body}</table>{missing}<p><b>{escape(self.advice)}</b></p>"


def _told(value: float, name: str) -> str:
    if np.isnan(value):
        return "–"
    if name == "seconds":
        return f"{value:.2f}" if value < 10 else told_number(value)
    return f"{value:.0%}" if name in (COVERAGE, "wrong", "error") else told_number(value)
