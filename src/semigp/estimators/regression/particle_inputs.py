"""Beliefs about missing inputs as particles: tables that were drawn given the outputs, through the GP itself.

All arrays are features in standard units. The entries of latent columns, in which every value is missing, are N(0, 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from ...core import InputBelief
from ...core.exact.certain import OutputDensity
from ..particles.chains import Particle, choose
from ..particles.relations import Relations
from ..particles.side_by_side import map_side_by_side
from ..particles.tables import choose_for_new_rows, draw_new_rows

# Inputs that are missing at prediction time are drawn this often, over all chains together.
_DRAWS, _TREES = 50, 3
# The outputs of new rows choose among so many candidates of a chain for their inputs, so many times.
_CANDIDATES, _CHOSEN = 80, 20
# Only so many training rows take part in the GP that weighs these candidates.
_ROWS_TO_WEIGH = 1000


@dataclass
class ParticleInputs:
    """p(x) learned from the training rows, and draws of their missing inputs given the outputs."""

    relations: Relations  # of the features that are not latent
    particles: list[Particle]
    targets: np.ndarray
    is_latent: np.ndarray  # (d,)
    seed: int

    @property
    def tables(self) -> np.ndarray:
        """The tables without holes (k, n, d), NaN in latent columns."""
        return np.stack([self.among_latent(particle.table) for particle in self.particles])

    def beliefs(self, inputs: np.ndarray, error: np.ndarray) -> list[InputBelief]:
        """Beliefs about new rows: one if nothing has to be drawn, otherwise one for every draw."""
        holes = np.isnan(inputs)
        drawn = holes & ~self.is_latent
        variance = np.where(holes & ~drawn, 1.0, np.where(drawn, 0.0, error**2))
        if not drawn.any():
            return [InputBelief(np.where(holes, 0.0, inputs), variance)]
        return [InputBelief(np.nan_to_num(draw), variance) for draw in self.draws(inputs, None)]

    def draws(self, inputs: np.ndarray, targets: np.ndarray | None) -> np.ndarray:
        """Draws (k, n, d) of the inputs of new rows, given their outputs if there are some; NaN in latent columns.

        All rows get the same random numbers, so that the draws of a row do not depend on the rows beside it.
        """
        known = inputs[:, ~self.is_latent]
        chains = self.chains()
        choose_for_new_rows(known, self.relations, chains[0].table, self.seed)
        if targets is None:
            draw = partial(self._without_outputs, inputs=known, count=-(-_DRAWS // len(chains)))
        else:
            draw = partial(self._given_outputs, inputs=known, targets=targets)
        parts = map_side_by_side(draw, range(len(chains)), "missing entries")
        return np.stack([self.among_latent(draw) for draw in np.concatenate(parts)])

    def chains(self) -> list[Particle]:
        """The last particle of every chain."""
        return list({particle.chain: particle for particle in self.particles}.values())

    def _without_outputs(self, chain: int, inputs: np.ndarray, count: int) -> np.ndarray:
        """Draws (count, n, d) of rows given their known inputs."""
        table = self.chains()[chain].table
        return draw_new_rows(inputs, self.relations, table, count, _TREES, (self.seed, chain))

    def _given_outputs(self, chain: int, inputs: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Draws of rows given their known inputs and outputs: candidates without outputs, chosen by the outputs."""
        particle = self.chains()[chain]
        rows = np.linspace(0, len(self.targets) - 1, min(_ROWS_TO_WEIGH, len(self.targets))).astype(int)
        density = OutputDensity.given(particle.parameters, particle.table[rows], self.targets[rows])
        options = np.swapaxes(self._without_outputs(chain, inputs, _CANDIDATES), 0, 1)
        logs = density.log_densities(options, targets)
        places = (np.arange(_CHOSEN) + 0.5) / _CHOSEN  # evenly spread, as in systematic resampling
        chosen = [choose(logs, np.full(len(logs), place)) for place in places]
        return np.stack([options[np.arange(len(options)), each] for each in chosen])

    def among_latent(self, columns: np.ndarray) -> np.ndarray:
        """Features that are not latent, put in their places in an array whose latent columns are NaN."""
        full = np.full((len(columns), len(self.is_latent)), np.nan)
        full[:, ~self.is_latent] = columns
        return full
