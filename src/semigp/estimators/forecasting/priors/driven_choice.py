"""Which members simulate a driven system best: by free simulations of blocks that were held back."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ....scores import sample_crps
from ..searches import Searches
from .base import limits
from .driven_members import DrivenMember, Kind

_BLOCKS, _FINALISTS, _KEPT, _PATHS = 3, 10, 5, 60
_TEMPERATURE = 0.1  # of weights, in logarithms of the score
_SPREADS, _COVERAGE = np.linspace(0.5, 1.6, 23), 0.95
_FIRST = 20  # steps before the first block


@dataclass(frozen=True)
class Choice:
    """The best members by their kinds, their weights, and the factor by which their paths must be spread."""

    members: dict[Kind, DrivenMember]
    weights: np.ndarray
    spread: np.ndarray  # (p,)


@dataclass
class HeldBack:
    """A series in blocks, and the simulations of them so far."""

    past: np.ndarray
    covariates: np.ndarray
    paths: dict[tuple[Kind, int], np.ndarray] = field(default_factory=dict)

    @property
    def edges(self) -> np.ndarray:
        """Where blocks begin and end."""
        count = len(self.past)
        return np.linspace(min(_FIRST, count // 4), count, _BLOCKS + 1).astype(int)

    def others(self, block: int, reach: int) -> np.ndarray:
        """The steps that have nothing to do with a block."""
        (start, stop), steps = self.edges[block : block + 2], np.arange(reach, len(self.past))
        return steps[(steps < start) | (steps - reach >= stop)]

    def score(self, kind: Kind, member: DrivenMember, block: int) -> float:
        """The mean log CRPS of a free simulation of a block, given the others."""
        start, stop = self.edges[block : block + 2]
        before, known = self.past[:start], self.covariates[:stop]
        try:
            given = member.posteriors(self.past, self.covariates, self.others(block, kind.reach))
        except np.linalg.LinAlgError:
            return np.inf
        paths, _ = member.rolled(given, before, known, limits(self.past), _PATHS, block)
        self.paths[kind, block] = paths
        columns = zip(self.past[start:stop].T, paths.transpose(2, 0, 1), strict=True)
        return float(np.mean([np.log(sample_crps(truth, own) + 1e-12) for truth, own in columns]))

    def spread(self, kinds: list[Kind], weights: np.ndarray) -> np.ndarray:
        """For each output, the factor with which 95 % intervals hold nearest to 95 % of the blocks."""
        shares = np.maximum(np.round(_PATHS * weights / weights.max()).astype(int), 2)
        factors, is_held = _SPREADS[:, None, None], []
        for block, (start, stop) in enumerate(zip(self.edges[:-1], self.edges[1:], strict=True)):
            mixed = np.concatenate([self.paths[kind, block][:share] for kind, share in zip(kinds, shares, strict=True)])
            middle, low, high = np.quantile(mixed, [0.5, (1 - _COVERAGE) / 2, (1 + _COVERAGE) / 2], axis=0)
            apart = self.past[start:stop] - middle
            is_held.append((factors * (low - middle) < apart) & (apart < factors * (high - middle)))
        covered = np.concatenate(is_held, axis=1).mean(axis=1)  # [factors, p]
        return _SPREADS[np.argmin(np.abs(covered - _COVERAGE), axis=0)]


def choose(
    past: np.ndarray, covariates: np.ndarray, columns: dict[Kind, np.ndarray], max_iter: int, searches: Searches
) -> Choice:
    """The best members, of kinds that see certain columns of the covariates. After an interrupt, the best so far.

    All are fitted without the last block and simulate it. The best of them simulate the others too. They are not
    fitted again for this: their functions are conditioned on what is left, but their hyperparameters have seen it all.
    Other hyperparameters would choose no better, and take longer.
    """
    held_back, last = HeldBack(past, covariates), _BLOCKS - 1
    members: dict[Kind, DrivenMember] = {}
    scores: dict[Kind, list[float]] = {}
    for number, (kind, own) in enumerate(columns.items(), 1):
        steps, place = held_back.others(last, kind.reach), (number, len(columns))
        members[kind] = DrivenMember.fitted(kind, own, past, covariates, steps, max_iter, searches, place)
        scores[kind] = [held_back.score(kind, members[kind], last)]
        if searches.interrupted:
            break
    best = sorted(scores, key=lambda kind: scores[kind][0])[:_FINALISTS]
    for kind in best:
        scores[kind] += [held_back.score(kind, members[kind], block) for block in range(last)]
    kept = sorted(best, key=lambda kind: np.mean(scores[kind]))[:_KEPT]
    total = np.array([np.mean(scores[kind]) for kind in kept])
    weights = np.exp((total[0] - total) / _TEMPERATURE)
    weights = np.round(weights / weights.sum(), 6)
    return Choice({kind: members[kind] for kind in kept}, weights, held_back.spread(kept, weights))
