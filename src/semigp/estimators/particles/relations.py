"""What the columns of a table say about each other, and a first guess of its holes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from ...progress import steps
from .given_others import ColumnModel, Conditional
from .layout import Layout

# Rounds over the columns: to fill, in the second of which models are chosen, and to guess. Trees for a mean.
_ROUNDS, _ROUNDS_TO_GUESS, _TREES = 3, 2, 10


@dataclass(frozen=True)
class Relations:
    """The columns of a table with holes, and the model of each given the others."""

    layout: Layout
    missing: np.ndarray  # (n, groups)
    models: dict[int, ColumnModel]  # by group

    def conditional(
        self, group: int, filled: np.ndarray, n_trees: int, random: np.random.Generator, is_quick: bool = False
    ) -> Conditional:
        """The distribution of a column given the others, conditioned on a filled table."""
        known = self.known(group)
        return Conditional.on(self.models[group], self.layout, group, filled, known, n_trees, random, is_quick)

    def known(self, group: int) -> np.ndarray:
        """The rows in which a column is known."""
        return np.flatnonzero(~self.missing[:, group])

    def with_holes(self) -> Iterator[int]:
        """The columns with holes. Those with the fewest come first."""
        counts = self.missing.sum(axis=0)
        yield from (int(group) for group in np.argsort(counts, kind="stable") if counts[group])

    def choose(self, group: int, filled: np.ndarray, random: np.random.Generator) -> None:
        """Choose the model of a column, given a filled table."""
        self.models[group] = ColumnModel.chosen(self.layout, group, filled, self.known(group), random)


def guess(filled: np.ndarray, relations: Relations, random: np.random.Generator) -> np.ndarray:
    """A filled table whose holes are filled anew: numbers by means of trees and draws of GPs.

    The two are weighed as they predict known entries. Means of GPs would be too good a guess where columns are nearly
    linear functions of each other. In a table of inputs and outputs, the inputs would then determine the outputs, and
    a GP of the outputs would find no noise.
    """
    layout, filled = relations.layout, filled.copy()
    for group in [*relations.with_holes()] * _ROUNDS_TO_GUESS:
        if layout.is_number(group):
            given = relations.conditional(group, filled, _TREES, random)
            holes = relations.missing[:, group]
            filled[holes, layout.groups[group][0]] = given.between(filled[holes], random.normal(size=holes.sum()))
    return filled


def fill(table: np.ndarray, layout: Layout, random: np.random.Generator) -> tuple[np.ndarray, Relations]:
    """A table whose holes are filled with means given the other columns, and the models of its columns."""
    relations = Relations(layout, layout.is_missing(table), {})
    return _fill(table, relations, random), relations


def _fill(table: np.ndarray, relations: Relations, random: np.random.Generator) -> np.ndarray:
    """Fill numbers with their means, or the nearest level, and categories with a level that a similar row has."""
    layout, filled = relations.layout, common_values(table, relations.layout, table)
    for turn, group in steps([*product(range(_ROUNDS), relations.with_holes())], "first guess"):
        if turn == 0:
            relations.models[group] = ColumnModel(None, 0.0)  # trees, until the other columns are filled
        elif turn == 1:
            relations.choose(group, filled, random)
        given = relations.conditional(group, filled, _TREES, random)
        holes = np.flatnonzero(relations.missing[:, group])
        if layout.is_number(group):
            filled[holes, layout.groups[group][0]] = layout.allowed(given.mean(filled[holes])[:, 0], group)
        else:
            filled[layout.at(holes, group)] = given.draw(filled[holes], *random_numbers(len(holes), random))
    return filled


def common_values(table: np.ndarray, layout: Layout, known: np.ndarray) -> np.ndarray:
    """The table with holes filled by the means of `known` rows, and in categories by the most frequent level."""
    filled = table.copy()
    for group in layout.groups:
        holes, places = np.isnan(table[:, group[0]]), list(group)
        if holes.any():
            rows = known[~np.isnan(known[:, group[0]])][:, places]
            mean = rows.mean(axis=0)
            filled[np.ix_(holes, places)] = mean if len(group) == 1 else rows[np.argmax(rows @ mean)]
    return filled


def random_numbers(count: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For every row a number between 0 and 1, a standard normal one, and another between 0 and 1."""
    return random.random(count), random.normal(size=count), random.random(count)
