"""Ways of practice to fill a table with holes. Each is a function of a table and a seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

from ..forests import ChainedForests, iterative_trees
from .coded import CodedTable


@dataclass(frozen=True)
class Filled:
    """The table without holes (n, q), and where a way has them standard deviations and probabilities of levels."""

    values: np.ndarray
    std: np.ndarray | None = None
    probabilities: dict[int, np.ndarray] = field(default_factory=dict)
    seconds: float | None = None  # where a way has measured this itself


Filler = Callable[[CodedTable, int], Filled]


def _missforest(table: CodedTable, seed: int) -> Filled:
    if not table.labels:
        return Filled(iterative_trees(seed).fit_transform(table.values))
    forests = ChainedForests(table.levels, seed)
    return Filled(forests.fit_transform(table.values), None, forests.probabilities_)


def _encoded(imputer: Callable[[int], Any], without_last: bool = False) -> Filler:
    """A way that fills numbers. It sees 0/1 columns for the levels, in standard units, since distances need them."""

    def fill(table: CodedTable, seed: int) -> Filled:
        numbers = table.encoded(without_last)
        mean, std = np.nanmean(numbers, axis=0), np.nanstd(numbers, axis=0)
        std = np.where(std > 0, std, 1.0)
        return _decoded(imputer(seed).fit_transform((numbers - mean) / std) * std + mean, table, without_last)

    return fill


def _decoded(full: np.ndarray, table: CodedTable, without_last: bool) -> Filled:
    """Filled 0/1 columns as the level with the largest number.

    Shares of neighbours or rows are probabilities. What a linear regression predicts (`without_last`) is not.
    """
    values, probabilities, place = np.empty_like(table.values), {}, 0
    for j in range(values.shape[1]):
        width = table.levels[j] - without_last if j in table.labels else 1
        part = full[:, place : place + width]
        place += width
        if j not in table.labels:
            values[:, j] = part[:, 0]
            continue
        if without_last:
            part = np.column_stack([part, 1.0 - part.sum(axis=1)])
        else:
            probabilities[j] = part
        values[:, j] = part.argmax(axis=1)
    return Filled(values, None, probabilities)


FILLERS: dict[str, Filler] = {
    "missForest": _missforest,
    "IterativeImputer": _encoded(
        lambda seed: IterativeImputer(max_iter=30, random_state=seed, keep_empty_features=True), without_last=True
    ),
    "kNN": _encoded(lambda seed: KNNImputer(keep_empty_features=True)),
    "mean": _encoded(lambda seed: SimpleImputer(keep_empty_features=True)),
}
