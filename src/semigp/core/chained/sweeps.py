"""Sweeps over a table, column by column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from .regression import Conditioned, Regression, choose_regression

# The largest numbers of rows on which a regression is conditioned, and from which its hyperparameters are chosen.
MAX_ROWS, MAX_ROWS_TO_CHOOSE = 1000, 300
SWEEPS_TO_CHOOSE, SWEEPS_TO_SETTLE, SWEEPS_TO_DRAW = 2, 3, 10
_MIN_KNOWN = 50


@dataclass(frozen=True)
class Settled:
    """A table with its missing entries at their means, and the regressions that the sweeps have chosen."""

    filled: np.ndarray
    regressions: dict[int, Regression]
    log_evidence: list[float]  # after each sweep: Σ log p(known values of a column | the other columns)


def settle(table: np.ndarray, reference: np.ndarray, shares: tuple[float, ...], sweeps_to_choose: int) -> Settled:
    """Set missing entries to their means by several sweeps. The first `sweeps_to_choose` choose the regressions."""
    missing = np.isnan(table)
    filled = np.where(missing, 0.0, table)
    regressions: dict[int, Regression] = {}
    evidence = []
    for sweep in range(sweeps_to_choose + SWEEPS_TO_SETTLE):
        offered, total = (shares if sweep < sweeps_to_choose else None), 0.0
        for j, holes, gp in sweep_columns(filled, missing, reference, regressions, offered):
            filled[holes, j] = gp.predict(without_column(filled[holes], j))[0]
            total += gp.log_evidence
        evidence.append(total)
    return Settled(filled, regressions, evidence)


def draw_missing(
    drawn: np.ndarray,
    missing: np.ndarray,
    reference: np.ndarray,
    regressions: dict[int, Regression],
    random: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw every missing entry of `drawn` again, in place. Returns the means and variances of these draws."""
    mean, variance = drawn.copy(), np.zeros(drawn.shape)
    for j, holes, gp in sweep_columns(drawn, missing, reference, regressions):
        mean[holes, j], variance[holes, j] = gp.predict(without_column(drawn[holes], j))
        drawn[holes, j] = mean[holes, j] + np.sqrt(variance[holes, j]) * random.normal(size=holes.sum())
    return mean, variance


def sweep_columns(
    filled: np.ndarray,
    missing: np.ndarray,
    reference: np.ndarray,
    regressions: dict[int, Regression],
    shares: tuple[float, ...] | None = None,
) -> Iterator[tuple[int, np.ndarray, Conditioned]]:
    """For each column with holes: its number, its holes, and its regression given the current values of the others.

    Columns with the fewest holes come first. If linear shares are given, the regressions are chosen again.
    """
    counts = missing.sum(axis=0)
    for j in (int(j) for j in np.argsort(counts, kind="stable") if counts[j]):
        known = reference[~missing[reference, j]]
        points, values = without_column(filled[known], j), filled[known, j]
        if shares is not None:
            some = slice(0, MAX_ROWS_TO_CHOOSE)
            regressions[j] = choose_regression(points[some], values[some], shares)
        yield j, missing[:, j], Conditioned.on(regressions[j], points, values)


def reference_rows(missing: Bool[np.ndarray, "n d"], random_state: int) -> Int[np.ndarray, " r"]:
    """The numbers of the MAX_ROWS rows with the fewest holes, with ties in random order.

    If a column is hardly known in these rows, rows in which it is known are added.
    """
    order = np.random.default_rng(random_state).permutation(len(missing))
    order = order[np.argsort(missing[order].sum(axis=1), kind="stable")]
    chosen = order[:MAX_ROWS]
    scarce = np.flatnonzero(np.sum(~missing[chosen], axis=0) < _MIN_KNOWN)
    more = [order[~missing[order, j]][:_MIN_KNOWN] for j in scarce]
    return np.array(list(dict.fromkeys(np.concatenate([chosen, *more]))))


def without_column(rows: np.ndarray, column: int) -> np.ndarray:
    """The rows without one column."""
    return np.delete(rows, column, axis=1)
