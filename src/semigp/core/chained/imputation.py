"""Draws of missing entries from chained Gaussian processes: every column a GP of all the other columns.

Chained equations (multiple imputation), but with nonlinear regressions that know how sure they are. A table is swept
column by column; the missing entries of each are drawn given the others' current values, and after a few sweeps the
table as a whole is a draw of what is missing given what is known. The kernel of a column, over the other d - 1,

    k(z, z') = s [(1 - w) exp(-|z - z'|² / (2 l² d)) + w zᵀz'/d],   noise variance s r,

has one lengthscale for all, so that l, w and r can be chosen from a grid by marginal likelihood (s in closed form).
Shares w close to 1 find relations that are linear but for a little, on which much can depend, and mislead where hardly
anything is known; whether to offer them is decided by hiding known entries. Columns are expected in standard units.
Plain NumPy: many small dense problems, each of its own shape.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from ..numerics import checks
from .regression import Conditioned, Regression, choose_regression
from .shares import choose_shares
from .sweeps import (
    MAX_ROWS_TO_CHOOSE,
    SWEEPS_TO_CHOOSE,
    SWEEPS_TO_DRAW,
    draw_missing,
    reference_rows,
    settle,
    without_column,
)


@dataclass(frozen=True)
class Imputation:
    """Draws of a table's missing entries, and what the last sweep believed of each; known entries are as they were."""

    draws: Float[np.ndarray, "k n d"]
    mean: Float[np.ndarray, "n d"]
    variance: Float[np.ndarray, "n d"]


@dataclass(frozen=True)
class ChainedGPs:
    """Regressions of a table's columns on each other, and the rows (a set per draw) that they are conditioned on."""

    regressions: dict[int, Regression]
    rows: Float[np.ndarray, "k r d"]
    is_known: Bool[np.ndarray, "r d"]
    shares: tuple[float, ...]

    def complete(
        self,
        table: Float[np.ndarray, "n d"],
        random_state: int | tuple[int, ...],
        draws_each: int = 1,
        is_noise_shared: bool = True,
    ) -> Imputation:
        """Draw the missing entries of new rows, `draws_each` times for each of our own draws.

        All rows get the same random numbers, one for each column, so that the draws of a row do not depend on the rows
        beside it, nor on what those lack. Rows to learn from need random numbers of their own instead.
        """
        missing = np.isnan(table)
        columns = [int(j) for j in np.flatnonzero(missing.any(axis=0))]
        draws, means, variances = [], [], []
        for k, rows in enumerate(self.rows):
            random = np.random.default_rng((*np.atleast_1d(random_state), k))
            gps = {j: self._conditioned(rows, j) for j in columns}
            filled = np.where(missing, 0.0, table)
            for sweep in range(SWEEPS_TO_DRAW + draws_each - 1):
                noise = random.normal(size=missing.shape[1] if is_noise_shared else missing.shape)
                noise = np.broadcast_to(noise, missing.shape)
                mean, variance = filled.copy(), np.zeros(filled.shape)
                for j in columns:
                    holes = missing[:, j]
                    mean[holes, j], variance[holes, j] = gps[j].predict(without_column(filled[holes], j))
                    filled[holes, j] = mean[holes, j] + np.sqrt(variance[holes, j]) * noise[holes, j]
                if sweep >= SWEEPS_TO_DRAW - 1:
                    draws.append(filled.copy())
                    means.append(mean)
                    variances.append(variance)
        return _collect(draws, means, variances)

    def _conditioned(self, rows: Float[np.ndarray, "r d"], column: int) -> Conditioned:
        known = self.is_known[:, column]
        regression = self.regressions.get(column)
        points = without_column(rows[known], column)
        if regression is None:  # complete in the table that was learned from
            some = slice(0, MAX_ROWS_TO_CHOOSE)
            regression = choose_regression(points[some], rows[known, column][some], self.shares)
            self.regressions[column] = regression
        return Conditioned.on(regression, points, rows[known, column])


def impute(
    table: Float[np.ndarray, "n d"], n_draws: int, random_state: int, shares: tuple[float, ...] | None = None
) -> tuple[Imputation, ChainedGPs]:
    """Draw the missing entries (NaN) of a table in standard units `n_draws` times.

    Every column needs a known entry. The first sweeps choose the regressions and set entries to their means. `shares`
    is the grid of linear shares; by default hidden entries decide between the two above.
    """
    checks.check_matrix("table", table, allow_nan=True)
    checks.check_count("n_draws", n_draws)
    missing = np.isnan(table)
    if missing.all(axis=0).any():
        raise ValueError(f"Column {int(np.argmax(missing.all(axis=0)))} of the table has no known entry.")
    reference = reference_rows(missing, random_state)
    if shares is None:
        shares = choose_shares(table, random_state)
    filled, regressions = settle(table, reference, shares, SWEEPS_TO_CHOOSE)
    draws, means, variances = [], [], []
    for k in range(n_draws):
        random = np.random.default_rng((random_state, k))
        drawn = filled.copy()
        for _ in range(SWEEPS_TO_DRAW):
            mean, variance = draw_missing(drawn, missing, reference, regressions, random)
        draws.append(drawn)
        means.append(mean)
        variances.append(variance)
    result = _collect(draws, means, variances)
    return result, ChainedGPs(regressions, result.draws[:, reference], ~missing[reference], shares)


def _collect(draws: list, means: list, variances: list) -> Imputation:
    """Mean and variance of the mixture over draws of the last conditionals."""
    mean = np.mean(means, axis=0)
    return Imputation(np.stack(draws), mean, np.mean(variances, axis=0) + np.var(means, axis=0))
