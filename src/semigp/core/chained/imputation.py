"""Draws of missing entries from chained Gaussian processes: every column is predicted from all the others by a GP.

This is multiple imputation by chained equations, but with nonlinear regressions that know how sure they are. A sweep
goes over the table column by column, and draws the missing entries of each column given the current values of the
others. After a few sweeps, the table is a draw of all missing entries given all known ones. The kernel of a column,
over the other d - 1 columns,

    k(z, z') = s [(1 - w) exp(-|z - z'|² / (2 l² d)) + w zᵀz'/d],   noise variance s r,

has one lengthscale l for all of them. So l, w and r can be chosen from a grid by marginal likelihood (s in closed
form). Linear shares w close to 1 find relations that are nearly but not quite linear, and much can depend on the
difference. But they mislead where hardly anything is known. A trial on hidden entries decides whether they are in the
grid. Columns are expected in standard units. The code is plain NumPy, because there are many small dense problems, each
with its own shape.
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
    """Draws of a table, and mean and variance of its entries over the draws. Known entries keep their values."""

    draws: Float[np.ndarray, "k n d"]
    mean: Float[np.ndarray, "n d"]
    variance: Float[np.ndarray, "n d"]


@dataclass(frozen=True)
class ChainedGPs:
    """Regressions of a table's columns on each other, and the rows (one set per draw) on which they are conditioned."""

    regressions: dict[int, Regression]  # by column, for the columns that had missing entries
    rows: Float[np.ndarray, "k r d"]  # with missing entries drawn
    is_known: Bool[np.ndarray, "r d"]  # which entries of the rows were not missing
    shares: tuple[float, ...]  # the grid of linear shares

    def complete(
        self,
        table: Float[np.ndarray, "n d"],
        random_state: int | tuple[int, ...],
        draws_each: int = 1,
        is_noise_shared: bool = True,
    ) -> Imputation:
        """Draw the missing entries of new rows, `draws_each` times for each of the k draws of the training rows.

        By default all rows get the same random numbers, one for each column. The draws of a row then do not depend on
        the rows beside it, or on what is missing there. Training rows need different random numbers instead
        (`is_noise_shared` False).
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
        """The regression of a column. It is chosen now if the training table had no missing entry in this column."""
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

    Every column needs a known entry. The first sweeps choose the regressions, and set missing entries to their means.
    `shares` is the grid of linear shares; by default a trial on hidden entries chooses one of two. If a callback
    returns True, or on an interrupt from the keyboard, the draws that were made so far are returned.
    """
    started = time.perf_counter()
    checks.check_matrix("table", table, allow_nan=True)
    checks.check_count("n_draws", n_draws)
    missing = np.isnan(table)
    if missing.all(axis=0).any():
        raise ValueError(f"Column {int(np.argmax(missing.all(axis=0)))} of the table has no known entry; leave it out.")
    reference = reference_rows(missing, random_state)
    if shares is None:
        shares = choose_shares(table, random_state)
    settled = settle(table, reference, shares, SWEEPS_TO_CHOOSE)

    def is_stopped(draw: int, sweep: int) -> bool:
        elapsed, bound = time.perf_counter() - started, settled.log_evidence[-1]
        place = "fit", draw + 1, n_draws
        progress = Progress("draws", sweep, n_sweeps, bound, elapsed, *place, has_fixed_length=True)
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
    """Drawn tables, each with the mean and variance from which its entries were last drawn, and how the draws ended.

    There is at least one table, even after an early interrupt.
    """
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
