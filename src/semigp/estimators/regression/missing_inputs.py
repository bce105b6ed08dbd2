"""Beliefs about missing inputs: N(0, I), or learned from the rows by chained Gaussian processes.

All arrays are in standard units. The entries of latent columns, in which every value is missing, are N(0, 1).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ...core import GaussianPrior, InputBelief
from ...core.chained.imputation import ChainedGPs, Imputation, impute
from ...core.chained.shares import choose_shares
from ...core.inputs.joint_gaussian import fit_joint_gaussian
from ..common.table import Table

# Inputs that are missing at prediction time are drawn at least this often, over all components together.
DRAWS_AT_PREDICTION = 50
# The largest number of rows to which a joint Gaussian of the inputs is fitted.
_MAX_GAUSSIAN_ROWS = 2000


@dataclass
class StandardInputs:
    """p(x) = N(0, I), as in the paper: the known entries of a row say nothing about the missing ones."""

    gaussian_prior: GaussianPrior | None = field(default=None, init=False)

    def beliefs(self, inputs: np.ndarray, error: np.ndarray) -> list[InputBelief]:
        """A single belief about new rows, which all components share."""
        holes = np.isnan(inputs)
        return [InputBelief(np.where(holes, 0.0, inputs), np.where(holes, 1.0, error**2))]

    def moments(self, inputs: np.ndarray, targets: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of the inputs of new rows. The outputs `targets` are not used."""
        holes = np.isnan(inputs)
        return np.where(holes, 0.0, inputs), holes.astype(float)


@dataclass(frozen=True)
class OwnRows:
    """The training rows of this process, if p(x) is learned from a sample of the rows of all processes."""

    table: Table
    first: int  # the number of the first of these rows among the rows of all processes
    places: np.ndarray | None  # the places of these rows in the sample, if it holds all rows of all processes


@dataclass
class CorrelatedInputs:
    """p(x) learned from the training rows. Each part is learned when it is first needed."""

    table: Table
    seed: int
    n_draws: int
    shares: tuple[float, ...] | None = None  # grid of linear shares in the chained GPs; chosen by a trial if None
    own: OwnRows | None = None  # the training rows of this process, if `table` is a sample

    @cached_property
    def is_latent(self) -> np.ndarray:
        """Which columns are latent: missing in every row."""
        return np.isnan(self.table.inputs).all(axis=0)

    @cached_property
    def is_drawn(self) -> np.ndarray:
        """Which entries of the training rows are missing, except in latent columns. These entries are drawn."""
        inputs = self.table.inputs if self.own is None else self.own.table.inputs
        return np.isnan(inputs) & ~self.is_latent

    @property
    def is_any_drawn(self) -> bool:
        """Whether there are entries to draw in any process."""
        return bool(np.isnan(self.table.inputs[:, ~self.is_latent]).any())

    @cached_property
    def gaussian_prior(self) -> GaussianPrior:
        """A Gaussian N(m, Σ) fitted to the inputs."""
        rows = np.random.default_rng(self.seed).permutation(len(self.table.inputs))[:_MAX_GAUSSIAN_ROWS]
        return fit_joint_gaussian(self.table.inputs[rows])

    @cached_property
    def _given_all(self) -> tuple[Imputation, ChainedGPs]:
        """Draws of missing inputs and outputs given each other, and the chained GPs that made them."""
        return self._drawn(self._rows)

    @cached_property
    def linear_shares(self) -> tuple[float, ...]:
        """The grid of linear shares: the given one, or the one that a trial has chosen."""
        return self.shares or choose_shares(self._rows, self.seed)

    @cached_property
    def _rows(self) -> np.ndarray:
        return self._known_columns(self.table)

    def _known_columns(self, table: Table) -> np.ndarray:
        return np.column_stack([table.inputs[:, ~self.is_latent], table.targets])

    @cached_property
    def _own_given_all(self) -> Imputation:
        """Draws of the missing inputs and outputs of this process's training rows, given each other."""
        everyone, chain = self._given_all
        if self.own is None:
            return everyone
        places = self.own.places
        if places is not None:
            return Imputation(everyone.draws[:, places], everyone.mean[places], everyone.variance[places])
        return chain.complete(self._known_columns(self.own.table), (self.seed, self.own.first), is_noise_shared=False)

    @cached_property
    def _given_inputs(self) -> ChainedGPs:
        """Chained GPs of the inputs given each other, without the outputs."""
        return self._drawn(self.table.inputs[:, ~self.is_latent])[1]

    def _drawn(self, rows: np.ndarray) -> tuple[Imputation, ChainedGPs]:
        """Draws of rows, and the chained GPs that made them. Fewer draws, after an interrupt, are of no use here."""
        imputation, chain, report = impute(rows, self.n_draws, self.seed, self.linear_shares)
        if report.status == "interrupted":
            raise KeyboardInterrupt
        return imputation, chain

    def drawn(self, table: Table) -> list[Table]:
        """For every draw, the training rows (and their sample, if any) with missing inputs filled in by the draw.

        Latent columns stay NaN.
        """
        tables = [replace(table, inputs=self._among_latent(draw)) for draw in self._own_given_all.draws]
        if table.sample is None:
            return tables
        samples = [replace(table.sample, inputs=self._among_latent(draw)) for draw in self._given_all[0].draws]
        return [replace(own, sample=sample) for own, sample in zip(tables, samples, strict=True)]

    def expected(self, table: Table) -> Table:
        """The training rows, and their sample, with the mean and variance of missing inputs as `moments`."""
        sample = table.sample and replace(table.sample, moments=self._moments_of(self._given_all[0]))
        return replace(table, moments=self.training_moments(), sample=sample)

    def training_moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of the training inputs, given all known inputs and outputs; NaN in latent columns."""
        return self._moments_of(self._own_given_all)

    def _moments_of(self, imputation: Imputation) -> tuple[np.ndarray, np.ndarray]:
        return self._among_latent(imputation.mean), self._among_latent(imputation.variance)

    def beliefs(self, inputs: np.ndarray, error: np.ndarray) -> list[InputBelief]:
        """Beliefs about new rows: one if nothing has to be drawn, otherwise one for every draw."""
        holes = np.isnan(inputs)
        drawn = holes & ~self.is_latent
        variance = np.where(holes & ~drawn, 1.0, np.where(drawn, 0.0, error**2))
        mean = np.where(holes, 0.0, inputs)
        rows = drawn.any(axis=1)
        if not rows.any():
            return [InputBelief(mean, variance)]
        beliefs = []
        for draw in self._complete(inputs[rows], None).draws:
            filled = mean.copy()
            filled[np.ix_(rows, ~self.is_latent)] = draw
            beliefs.append(InputBelief(filled, variance))
        return beliefs

    def moments(self, inputs: np.ndarray, targets: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of the inputs of new rows, given their outputs if there are some.

        They are 0 and 1 in latent columns.
        """
        mean, variance = np.nan_to_num(inputs), np.isnan(inputs).astype(float)
        if np.isnan(inputs[:, ~self.is_latent]).any():
            result, known = self._complete(inputs, targets), np.flatnonzero(~self.is_latent)
            mean[:, known], variance[:, known] = result.mean[:, : len(known)], result.variance[:, : len(known)]
        return mean, variance

    def _complete(self, inputs: np.ndarray, targets: np.ndarray | None) -> Imputation:
        known = inputs[:, ~self.is_latent]
        chain = self._given_inputs if targets is None else self._given_all[1]
        rows = known if targets is None else np.column_stack([known, targets])
        return chain.complete(rows, self.seed, -(-DRAWS_AT_PREDICTION // len(chain.rows)))

    def _among_latent(self, columns: np.ndarray) -> np.ndarray:
        """The columns that are not latent, put in their places in an array whose latent columns are NaN."""
        full = np.full((len(columns), len(self.is_latent)), np.nan)
        full[:, ~self.is_latent] = columns[:, : int(np.sum(~self.is_latent))]
        return full
