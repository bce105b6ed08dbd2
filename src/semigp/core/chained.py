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

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from jaxtyping import Bool, Float, Int

from . import checks

LENGTHSCALES = (0.35, 0.6, 1.0, 1.7)
CURVED, NEARLY_LINEAR = (0.0, 0.2, 1.0), (0.0, 0.2, 0.95, 0.995, 1.0)
NOISES = (1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0)

# Rows that a regression is conditioned on, and rows that its hyperparameters are chosen on, at most.
MAX_ROWS, MAX_ROWS_TO_CHOOSE = 1000, 300
SWEEPS_TO_CHOOSE, SWEEPS_TO_SETTLE, SWEEPS_TO_DRAW = 2, 3, 10
_MIN_KNOWN = 50
# To compare the two grids: rows at most, tables with hidden entries, sweeps before and while draws count, and by how
# many nats the curved one has to win.
_TRIAL_ROWS, _TRIALS, _TRIAL_SWEEPS, _TRIAL_MARGIN = 300, 2, (3, 6), 0.1
_ROWS_AT_ONCE = 4096
# Rows are predicted in multiples of this: BLAS rounds the odd ones otherwise than the rest, sweep after sweep amplifies
# that, and a row should be predicted as if it were alone.
_BLOCK = 16


@dataclass(frozen=True)
class Regression:
    """Hyperparameters of one column given the others."""

    lengthscale: float
    linear_share: float
    noise: float
    scale: float

    def covariance(self, left: Float[np.ndarray, "a e"], right: Float[np.ndarray, "b e"]) -> Float[np.ndarray, "a b"]:
        """k(z, z')/s over the other columns."""
        products, d = left @ right.T, left.shape[1] + 1
        squares = np.sum(left**2, axis=1)[:, None] + np.sum(right**2, axis=1) - 2.0 * products
        bumps = np.exp(np.maximum(squares, 0.0) * (-0.5 / (self.lengthscale**2 * d)))
        return (1.0 - self.linear_share) * bumps + (self.linear_share / d) * products

    def variance(self, points: Float[np.ndarray, "a e"]) -> Float[np.ndarray, " a"]:
        """k(z, z)/s + r: prior variance of a value, noise included."""
        linear = np.sum(points**2, axis=1) / (points.shape[1] + 1)
        return 1.0 - self.linear_share + self.linear_share * linear + self.noise


def choose_regression(
    points: Float[np.ndarray, "n e"], values: Float[np.ndarray, " n"], shares: tuple[float, ...] = CURVED
) -> Regression:
    """The hyperparameters of highest marginal likelihood.

    With K + rI = U (Λ + r) Uᵀ and P = (Uᵀy)², -log p(y) = ½ Σ log(λ + r) + (n + 1)/2 log s up to a constant, where
    s = (Σ P/(λ + r) + 1)/(n + 1). The ones stand for one more value, of unit size, which keeps s sensible for columns
    with hardly a value in them.
    """
    # One after the other: the lengthscale, with a little of the linear part, then the linear share.
    lengthscale = min(LENGTHSCALES, key=lambda some: _best_noise(points, values, some, shares[1])[0])
    losses = [_best_noise(points, values, lengthscale, share) for share in shares]
    return min(losses, key=lambda found: found[0])[1]


def _best_noise(
    points: Float[np.ndarray, "n e"], values: Float[np.ndarray, " n"], lengthscale: float, share: float
) -> tuple[float, Regression]:
    covariance = Regression(lengthscale, share, 0.0, 1.0).covariance(points, points)
    eigenvalues, vectors = scipy.linalg.eigh(covariance, driver="evd", check_finite=False)
    spectrum = np.maximum(eigenvalues, 0.0)[:, None] + np.array(NOISES)
    squares = (vectors.T @ values)[:, None] ** 2
    scales = (np.sum(squares / spectrum, axis=0) + 1.0) / (len(values) + 1.0)
    losses = 0.5 * np.sum(np.log(spectrum), axis=0) + 0.5 * (len(values) + 1.0) * np.log(scales)
    i = int(np.argmin(losses))
    return float(losses[i]), Regression(lengthscale, share, NOISES[i], float(scales[i]))


@dataclass(frozen=True)
class Conditioned:
    """A column's regression given the rows in which the column is known."""

    regression: Regression
    points: Float[np.ndarray, "n e"]
    cholesky: Float[np.ndarray, "n n"]
    weights: Float[np.ndarray, " n"]

    @classmethod
    def on(
        cls, regression: Regression, points: Float[np.ndarray, "n e"], values: Float[np.ndarray, " n"]
    ) -> Conditioned:
        """L Lᵀ = K + rI and L⁻ᵀL⁻¹ y."""
        covariance = regression.covariance(points, points)
        covariance[np.diag_indices(len(points))] += regression.noise
        cholesky = scipy.linalg.cholesky(covariance, lower=True, check_finite=False)
        return cls(regression, points, cholesky, scipy.linalg.cho_solve((cholesky, True), values, check_finite=False))

    def predict(self, points: Float[np.ndarray, "k e"]) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
        """Mean and variance of the column's value at each point, noise included."""
        means, variances = [], []
        for start in range(0, len(points), _ROWS_AT_ONCE):
            some = points[start : start + _ROWS_AT_ONCE]
            some = np.pad(some, ((0, -len(some) % _BLOCK), (0, 0)), mode="edge")
            cross = self.regression.covariance(some, self.points)
            half = scipy.linalg.solve_triangular(self.cholesky, cross.T, lower=True, check_finite=False)
            explained = np.sum(half**2, axis=0)
            means.append(cross @ self.weights)
            variances.append(np.maximum(self.regression.variance(some) - explained, self.regression.noise))
        count = len(points)
        return np.concatenate(means)[:count], self.regression.scale * np.concatenate(variances)[:count]


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
                    mean[holes, j], variance[holes, j] = gps[j].predict(_without(filled[holes], j))
                    filled[holes, j] = mean[holes, j] + np.sqrt(variance[holes, j]) * noise[holes, j]
                if sweep >= SWEEPS_TO_DRAW - 1:
                    draws.append(filled.copy())
                    means.append(mean)
                    variances.append(variance)
        return _collect(draws, means, variances)

    def _conditioned(self, rows: Float[np.ndarray, "r d"], column: int) -> Conditioned:
        known = self.is_known[:, column]
        regression = self.regressions.get(column)
        points = _without(rows[known], column)
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
    reference = _reference_rows(missing, random_state)
    if shares is None:
        shares = choose_shares(table, random_state)
    filled, regressions = _settled(table, reference, shares, SWEEPS_TO_CHOOSE)
    draws, means, variances = [], [], []
    for k in range(n_draws):
        random = np.random.default_rng((random_state, k))
        drawn = filled.copy()
        for _ in range(SWEEPS_TO_DRAW):
            mean, variance = _draw(drawn, missing, reference, regressions, random)
        draws.append(drawn)
        means.append(mean)
        variances.append(variance)
    result = _collect(draws, means, variances)
    return result, ChainedGPs(regressions, result.draws[:, reference], ~missing[reference], shares)


def _settled(
    table: np.ndarray, reference: np.ndarray, shares: tuple[float, ...], sweeps_to_choose: int
) -> tuple[np.ndarray, dict[int, Regression]]:
    """The table with missing entries at their means, and the regressions chosen on the way."""
    missing = np.isnan(table)
    filled = np.where(missing, 0.0, table)
    regressions: dict[int, Regression] = {}
    for sweep in range(sweeps_to_choose + SWEEPS_TO_SETTLE):
        offered = shares if sweep < sweeps_to_choose else None
        for j, holes, gp in _sweep(filled, missing, reference, regressions, offered):
            filled[holes, j] = gp.predict(_without(filled[holes], j))[0]
    return filled, regressions


def _draw(
    drawn: np.ndarray,
    missing: np.ndarray,
    reference: np.ndarray,
    regressions: dict[int, Regression],
    random: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw every missing entry once more, in place; mean and variance of what each was drawn from."""
    mean, variance = drawn.copy(), np.zeros(drawn.shape)
    for j, holes, gp in _sweep(drawn, missing, reference, regressions):
        mean[holes, j], variance[holes, j] = gp.predict(_without(drawn[holes], j))
        drawn[holes, j] = mean[holes, j] + np.sqrt(variance[holes, j]) * random.normal(size=holes.sum())
    return mean, variance


def choose_shares(table: Float[np.ndarray, "n d"], random_state: int) -> tuple[float, ...]:
    """The grid of linear shares that finds hidden entries better: rows that have most lose what others have lost.

    The median of log densities, as a few hopeless entries would decide about their mean.
    """
    random = np.random.default_rng(random_state)
    patterns = np.isnan(table)
    patterns = patterns[patterns.any(axis=1)]
    some = table[_reference_rows(np.isnan(table), random_state)[:_TRIAL_ROWS]]
    fullest = np.argsort(np.isnan(some).sum(axis=1), kind="stable")[: -(-len(some) // 3)]
    losses: dict[tuple[float, ...], list[float]] = {CURVED: [], NEARLY_LINEAR: []}
    for _ in range(_TRIALS if len(patterns) else 0):
        rows = random.permutation(fullest)[: -(-len(some) // 10)]
        hidden = np.zeros(some.shape, bool)
        hidden[rows] = patterns[random.choice(len(patterns), len(rows))] & ~np.isnan(some[rows])
        hidden &= np.sum(~np.isnan(some) & ~hidden, axis=0) > 1
        if hidden.any():
            for shares, found in losses.items():
                found.append(_median_loss(some, hidden, shares, random_state))
    curved, nearly_linear = (np.mean(found or [0.0]) for found in losses.values())
    return CURVED if curved < nearly_linear - _TRIAL_MARGIN else NEARLY_LINEAR


def _median_loss(table: np.ndarray, hidden: np.ndarray, shares: tuple[float, ...], random_state: int) -> float:
    """Median negative log density of hidden entries under the mixture of some sweeps' conditionals."""
    random = np.random.default_rng(random_state)
    reduced = np.where(hidden, np.nan, table)
    missing, everyone = np.isnan(reduced), np.arange(len(table))
    drawn, regressions = _settled(reduced, everyone, shares, 1)
    burn, keep = _TRIAL_SWEEPS
    parts = [_draw(drawn, missing, everyone, regressions, random) for _ in range(burn + keep)][burn:]
    means, variances = (np.array([part[i][hidden] for part in parts]) for i in (0, 1))
    variance = variances.mean(axis=0) + means.var(axis=0)
    return 0.5 * float(np.median(np.log(variance) + (table[hidden] - means.mean(axis=0)) ** 2 / variance))


def _sweep(
    filled: np.ndarray,
    missing: np.ndarray,
    reference: np.ndarray,
    regressions: dict[int, Regression],
    shares: tuple[float, ...] | None = None,
) -> Iterator[tuple[int, np.ndarray, Conditioned]]:
    """Column, its holes, and its regression given the current values of the others, least missing first.

    Regressions are chosen anew where linear shares are given.
    """
    counts = missing.sum(axis=0)
    for j in (int(j) for j in np.argsort(counts, kind="stable") if counts[j]):
        known = reference[~missing[reference, j]]
        points, values = _without(filled[known], j), filled[known, j]
        if shares is not None:
            some = slice(0, MAX_ROWS_TO_CHOOSE)
            regressions[j] = choose_regression(points[some], values[some], shares)
        yield j, missing[:, j], Conditioned.on(regressions[j], points, values)


def _reference_rows(missing: Bool[np.ndarray, "n d"], random_state: int) -> Int[np.ndarray, " r"]:
    """MAX_ROWS rows with the fewest holes, ties in random order, and more where a column is hardly known in those."""
    order = np.random.default_rng(random_state).permutation(len(missing))
    order = order[np.argsort(missing[order].sum(axis=1), kind="stable")]
    chosen = order[:MAX_ROWS]
    scarce = np.flatnonzero(np.sum(~missing[chosen], axis=0) < _MIN_KNOWN)
    more = [order[~missing[order, j]][:_MIN_KNOWN] for j in scarce]
    return np.array(list(dict.fromkeys(np.concatenate([chosen, *more]))))


def _without(rows: np.ndarray, column: int) -> np.ndarray:
    return np.delete(rows, column, axis=1)


def _collect(draws: list, means: list, variances: list) -> Imputation:
    """Mean and variance of the mixture over draws of the last conditionals."""
    mean = np.mean(means, axis=0)
    return Imputation(np.stack(draws), mean, np.mean(variances, axis=0) + np.var(means, axis=0))
