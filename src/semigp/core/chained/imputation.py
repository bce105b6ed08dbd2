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

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from ..numerics import checks
from ..numerics.mixtures import pooled
from ..search.report import MESSAGES, Callback, FitReport, Progress, Status
from .regression import Conditioned, Regression, choose_regression
from .shares import choose_shares
from .sweeps import (
    MAX_ROWS_TO_CHOOSE,
    SWEEPS_TO_CHOOSE,
    SWEEPS_TO_DRAW,
    Settled,
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

    regressions: dict[int, Regression]  # of the columns that had missing entries
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
        beside it, nor on what is missing there. Rows to learn from need random numbers of their own instead.
        """
        missing = np.isnan(table)
        regressions = {int(j): self._regression(int(j)) for j in np.flatnonzero(missing.any(axis=0))}
        draws, means, variances = [], [], []
        for k, rows in enumerate(self.rows):
            random = np.random.default_rng((*np.atleast_1d(random_state), k))
            gps = {j: self._conditioned(regression, rows, j) for j, regression in regressions.items()}
            filled = np.where(missing, 0.0, table)
            for sweep in range(SWEEPS_TO_DRAW + draws_each - 1):
                noise = random.normal(size=missing.shape[1] if is_noise_shared else missing.shape)
                noise = np.broadcast_to(noise, missing.shape)
                mean, variance = filled.copy(), np.zeros(filled.shape)
                for j, gp in gps.items():
                    holes = missing[:, j]
                    mean[holes, j], variance[holes, j] = gp.predict(without_column(filled[holes], j))
                    filled[holes, j] = mean[holes, j] + np.sqrt(variance[holes, j]) * noise[holes, j]
                if sweep >= SWEEPS_TO_DRAW - 1:
                    draws.append(filled.copy())
                    means.append(mean)
                    variances.append(variance)
        return Imputation(np.stack(draws), *pooled(means, variances))

    def _regression(self, column: int) -> Regression:
        """Of a column; chosen now where the table that was learned from had no missing entry in it."""
        if column in self.regressions:
            return self.regressions[column]
        rows = self.rows[0][self.is_known[:, column]][:MAX_ROWS_TO_CHOOSE]
        return choose_regression(without_column(rows, column), rows[:, column], self.shares)

    def _conditioned(self, regression: Regression, rows: Float[np.ndarray, "r d"], column: int) -> Conditioned:
        known = rows[self.is_known[:, column]]
        return Conditioned.on(regression, without_column(known, column), known[:, column])


def impute(
    table: Float[np.ndarray, "n d"],
    n_draws: int,
    random_state: int,
    shares: tuple[float, ...] | None = None,
    n_sweeps: int = SWEEPS_TO_DRAW,
    callback: Callback | None = None,
) -> tuple[Imputation, ChainedGPs, FitReport]:
    """Draw the missing entries (NaN) of a table in standard units `n_draws` times, each after `n_sweeps` sweeps.

    Every column needs a known entry. The first sweeps choose the regressions and set entries to their means. `shares`
    is the grid of linear shares; by default hidden entries decide between the two. A callback that returns True, or an
    interrupt from the keyboard, ends the draws: those that were made count.
    """
    started = time.perf_counter()
    checks.check_matrix("table", table, allow_nan=True)
    checks.check_count("n_draws", n_draws)
    missing = np.isnan(table)
    if missing.all(axis=0).any():
        raise ValueError(f"Column {int(np.argmax(missing.all(axis=0)))} of the table has no known entry.")
    reference = reference_rows(missing, random_state)
    if shares is None:
        shares = choose_shares(table, random_state)
    settled = settle(table, reference, shares, SWEEPS_TO_CHOOSE)

    def is_stopped(draw: int, sweep: int) -> bool:
        elapsed, bound = time.perf_counter() - started, settled.log_evidence[-1]
        progress = Progress("draws", sweep, n_sweeps, bound, elapsed, part=draw + 1, parts=n_draws)
        return callback is not None and bool(callback(progress))

    parts, status = _draws(settled, missing, reference, n_draws, random_state, n_sweeps, is_stopped)
    draws, means, variances = zip(*parts, strict=True)
    result = Imputation(np.stack(draws), *pooled(means, variances))
    chain = ChainedGPs(settled.regressions, result.draws[:, reference], ~missing[reference], shares)
    return result, chain, _report(settled, status, len(draws) * n_sweeps, time.perf_counter() - started)


def _draws(
    settled: Settled,
    missing: np.ndarray,
    reference: np.ndarray,
    n_draws: int,
    random_state: int,
    n_sweeps: int,
    is_stopped: Callable[[int, int], bool],
) -> tuple[list[tuple[np.ndarray, np.ndarray, np.ndarray]], Status]:
    """Tables, and mean and variance of what each entry was last drawn from; at least one, however early it is ended."""
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    drawn, found = settled.filled, (settled.filled, np.where(missing, 1.0, 0.0))
    try:
        for k in range(n_draws):
            random, drawn = np.random.default_rng((random_state, k)), settled.filled.copy()
            for sweep in range(1, n_sweeps + 1):
                found = draw_missing(drawn, missing, reference, settled.regressions, random)
                if is_stopped(k, sweep):
                    raise KeyboardInterrupt
            parts.append((drawn, *found))
    except KeyboardInterrupt:
        return parts or [(drawn, *found)], "interrupted"
    return parts, "converged"


def _report(settled: Settled, status: Status, n_sweeps: int, seconds: float) -> FitReport:
    message = "All draws were made." if status == "converged" else MESSAGES[status]
    stages: tuple = (("means", "converged", len(settled.log_evidence)), ("draws", status, n_sweeps))
    ratio = np.array([1.0 / each.noise for each in settled.regressions.values()])
    trace = np.array(settled.log_evidence)
    return FitReport(
        status, message, float(trace[-1]), trace, len(trace) + n_sweeps, seconds, stages, ratio, method="chained GPs"
    )
