"""What is believed of missing inputs: under N(0, I), or learned from the rows by chained Gaussian processes.

All arrays are in standard units. Latent columns, of which nothing is known, are N(0, 1).
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

# Inputs that are missing at prediction time are drawn this often in all.
DRAWS_AT_PREDICTION = 50
# Rows that a joint Gaussian of the inputs is fitted to, at most.
_MAX_GAUSSIAN_ROWS = 2000


@dataclass
class StandardInputs:
    """p(x) = N(0, I), as in the paper: a row's entries tell nothing about each other."""

    gaussian_prior: GaussianPrior | None = field(default=None, init=False)

    def beliefs(self, inputs: np.ndarray, error: np.ndarray) -> list[InputBelief]:
        """One belief of new rows, for all components."""
        holes = np.isnan(inputs)
        return [InputBelief(np.where(holes, 0.0, inputs), np.where(holes, 1.0, error**2))]

    def moments(self, inputs: np.ndarray, targets: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of new rows' inputs without their outputs."""
        holes = np.isnan(inputs)
        return np.where(holes, 0.0, inputs), holes.astype(float)


@dataclass(frozen=True)
class OwnRows:
    """The training rows of one process, where p(x) is learned from a sample of the rows of all."""

    table: Table
    first: int  # the place of the first of them among all rows
    places: np.ndarray | None  # of them in the sample, if that has all rows of all processes


@dataclass
class CorrelatedInputs:
    """p(x) learned from the training rows; what is not needed is not learned."""

    table: Table
    seed: int
    n_draws: int
    shares: tuple[float, ...] | None = None  # of the linear part, in the chained GPs; found if not given
    own: OwnRows | None = None  # training rows that are asked about, if those of `table` are a sample

    @cached_property
    def is_latent(self) -> np.ndarray:
        """Columns of which nothing is known."""
        return np.isnan(self.table.inputs).all(axis=0)

    @cached_property
    def is_drawn(self) -> np.ndarray:
        """Missing entries of the training rows, but for latent columns."""
        inputs = self.table.inputs if self.own is None else self.own.table.inputs
        return np.isnan(inputs) & ~self.is_latent

    @property
    def is_any_drawn(self) -> bool:
        """Whether there are such entries, in whichever process."""
        return bool(np.isnan(self.table.inputs[:, ~self.is_latent]).any())

    @cached_property
    def gaussian_prior(self) -> GaussianPrior:
        """N(m, Σ) of the inputs."""
        rows = np.random.default_rng(self.seed).permutation(len(self.table.inputs))[:_MAX_GAUSSIAN_ROWS]
        return fit_joint_gaussian(self.table.inputs[rows])

    @cached_property
    def _given_all(self) -> tuple[Imputation, ChainedGPs]:
        """Inputs and outputs given each other."""
        return impute(self._rows, self.n_draws, self.seed, self.linear_shares)[:2]

    @cached_property
    def linear_shares(self) -> tuple[float, ...]:
        """The grid of linear shares, given or found."""
        return self.shares or choose_shares(self._rows, self.seed)

    @cached_property
    def _rows(self) -> np.ndarray:
        return self._known_columns(self.table)

    def _known_columns(self, table: Table) -> np.ndarray:
        return np.column_stack([table.inputs[:, ~self.is_latent], table.targets])

    @cached_property
    def _own_given_all(self) -> Imputation:
        """The training rows' inputs and outputs given each other."""
        everyone, chain = self._given_all
        if self.own is None:
            return everyone
        places = self.own.places
        if places is not None:
            return Imputation(everyone.draws[:, places], everyone.mean[places], everyone.variance[places])
        return chain.complete(self._known_columns(self.own.table), (self.seed, self.own.first), is_noise_shared=False)

    @cached_property
    def _given_inputs(self) -> ChainedGPs:
        """Inputs given each other, without the outputs."""
        return impute(self.table.inputs[:, ~self.is_latent], self.n_draws, self.seed, self.linear_shares)[1]

    def drawn(self, table: Table) -> list[Table]:
        """The training rows, and the sample they may come with, with missing inputs drawn; latent columns stay NaN."""
        tables = [replace(table, inputs=self._among_latent(draw)) for draw in self._own_given_all.draws]
        if table.sample is None:
            return tables
        samples = [replace(table.sample, inputs=self._among_latent(draw)) for draw in self._given_all[0].draws]
        return [replace(own, sample=sample) for own, sample in zip(tables, samples, strict=True)]

    def expected(self, table: Table) -> Table:
        """The training rows, and their sample, with what is expected of missing inputs."""
        sample = table.sample and replace(table.sample, moments=self._moments_of(self._given_all[0]))
        return replace(table, moments=self.training_moments(), sample=sample)

    def training_moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of the training inputs given all else; NaN for latent columns."""
        return self._moments_of(self._own_given_all)

    def _moments_of(self, imputation: Imputation) -> tuple[np.ndarray, np.ndarray]:
        return self._among_latent(imputation.mean), self._among_latent(imputation.variance)

    def beliefs(self, inputs: np.ndarray, error: np.ndarray) -> list[InputBelief]:
        """Beliefs of new rows, draws of what is missing, given the rest."""
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
        """Mean and variance of new rows' inputs, given their outputs or not; N(0, 1) for latent columns."""
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
        """Columns of which something is known, put among the latent ones, which are NaN."""
        full = np.full((len(columns), len(self.is_latent)), np.nan)
        full[:, ~self.is_latent] = columns[:, : int(np.sum(~self.is_latent))]
        return full
