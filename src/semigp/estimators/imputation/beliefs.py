"""What is believed of the missing entries of a table: means, standard deviations, and probabilities of levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..common.input_units import InputUnits
from ..particles.tables import DrawnTables, Wanted


@dataclass(frozen=True)
class Beliefs:
    """Moments (n, q) in the user's units, and probabilities (n, k) of levels. They are valid for missing entries."""

    mean: np.ndarray  # of columns with levels, the code of the most probable level
    std: np.ndarray  # NaN for columns with levels
    probabilities: dict[int, np.ndarray]  # by column

    @classmethod
    def wanted(cls, units: InputUnits, level_counts: tuple[int, ...]) -> Wanted:
        """The functions of every column whose means are needed: x - c and its square of numbers, 0 or 1 for each level.

        c lies in the middle of the column. Without it, digits would be lost where numbers are large and differ little.
        """

        def functions(values: np.ndarray, column: int) -> np.ndarray:
            codes, count = units.natural_of(values, column)[..., None], level_counts[column]
            if count:
                return (np.rint(codes) == np.arange(count)) * 1.0  # units round, and levels are compared
            codes = codes - _middle(units, column)
            return np.concatenate([codes, codes**2], axis=-1)

        return functions

    @classmethod
    def of_training(
        cls, found: DrawnTables, units: InputUnits, level_counts: tuple[int, ...], codes: np.ndarray
    ) -> Beliefs:
        """What the sweeps over the training table say."""
        mean, std, probabilities = np.nan_to_num(codes), np.zeros(codes.shape), {}
        for column, count in enumerate(level_counts):
            means = found.expectations.get(column, np.zeros((len(codes), count or 2)))
            if count:
                probabilities[column] = means
                mean[:, column], std[:, column] = np.argmax(means, axis=1), np.nan
            else:
                mean[:, column] = means[:, 0] + _middle(units, column)
                std[:, column] = np.sqrt(np.maximum(means[:, 1] - means[:, 0] ** 2, 0.0))
        return cls(mean, std, probabilities)

    @classmethod
    def of_draws(cls, codes: np.ndarray, level_counts: tuple[int, ...]) -> Beliefs:
        """What draws (k, n, q) of codes say."""
        mean, std, probabilities = codes.mean(axis=0), codes.std(axis=0), {}
        for column, count in enumerate(level_counts):
            if count:
                probabilities[column] = np.mean(np.rint(codes[:, :, column, None]) == np.arange(count), axis=0)
                mean[:, column], std[:, column] = np.argmax(probabilities[column], axis=1), np.nan
        return cls(mean, std, probabilities)

    @classmethod
    def joined(cls, parts: Sequence[Beliefs]) -> Beliefs:
        """Beliefs of the rows of several parts, one after the other."""
        mean, std = (np.concatenate([getattr(part, name) for part in parts]) for name in ("mean", "std"))
        columns = parts[0].probabilities
        return cls(mean, std, {each: np.concatenate([part.probabilities[each] for part in parts]) for each in columns})


def _middle(units: InputUnits, column: int) -> float:
    """The value of a number whose feature is 0."""
    return float(units.natural_of(np.zeros(1), column))
