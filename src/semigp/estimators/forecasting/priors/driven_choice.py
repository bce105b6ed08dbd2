"""Which members simulate a driven system best: by free simulations of blocks that were held back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....scores import sample_crps
from ..searches import Searches
from .base import limits
from .driven_members import Kind, DrivenMember

_BLOCKS, _FINALISTS, _KEPT, _PATHS = 3, 15, 5, 60
_TEMPERATURE = 0.1  # of weights, in logarithms of the score
_SPREADS, _COVERAGE = np.linspace(0.5, 1.6, 23), 0.95
_FIRST = 20  # steps before the first block


@dataclass(frozen=True)
class Choice:
    """The best kinds of members, their weights, and by how much their paths must be spread."""

    kinds: list[Kind]
    weights: np.ndarray
    spread: np.ndarray  # (p,)


@dataclass
class HeldBack:
    """A series, and the simulations of its blocks so far."""

    past: np.ndarray
    covariates: np.ndarray
    columns: dict[Kind, np.ndarray]
    max_iter: int
    searches: Searches

    def __post_init__(self) -> None:
        count = len(self.past)
        self.edges = np.linspace(min(_FIRST, count // 4), count, _BLOCKS + 1).astype(int)
        self.paths: dict[tuple[Kind, int], np.ndarray] = {}
        self._done, self._total = 0, len(self.columns) + (_BLOCKS - 1) * min(_FINALISTS, len(self.columns))

    def score(self, kind: Kind, block: int) -> float:
        """The mean log CRPS of a free simulation of a block by a member that has not seen it."""
        (start, stop), steps = self.edges[block : block + 2], np.arange(kind.reach, len(self.past))
        steps = steps[(steps < start) | (steps - kind.reach >= stop)]
        self._done += 1
        own = self.past, self.covariates, steps
        try:
            place = self._done, self._total
            member = DrivenMember.fitted(kind, self.columns[kind], *own, self.max_iter, self.searches, place)
            before, known = self.past[:start], self.covariates[:stop]
            paths, _ = member.rolled(member.posteriors(*own), before, known, limits(self.past), _PATHS, block)
        except np.linalg.LinAlgError:
            return np.inf
        self.paths[kind, block] = paths
        truth = self.past[start:stop]
        return float(np.mean([np.log(sample_crps(y, x)) for y, x in zip(truth.T, paths.transpose(2, 0, 1), strict=True)]))

    def spread(self, kinds: list[Kind], weights: np.ndarray) -> np.ndarray:
        """For each output, the factor with which 95 % intervals hold nearest to 95 % of the blocks."""
        shares = np.maximum(np.round(_PATHS * weights / weights.max()).astype(int), 2)
        held = []
        for block in range(_BLOCKS):
            mixed = np.concatenate([self.paths[kind, block][:share] for kind, share in zip(kinds, shares, strict=True)])
            truth = self.past[self.edges[block] : self.edges[block + 1]]
            middle, low, high = np.quantile(mixed, [0.5, (1 - _COVERAGE) / 2, (1 + _COVERAGE) / 2], axis=0)
            factors = _SPREADS[:, None, None]
            apart = truth - middle
            held.append((factors * (low - middle) < apart) & (apart < factors * (high - middle)))
        covered = np.concatenate(held, axis=1).mean(axis=1)  # [factors, p]
        return _SPREADS[np.argmin(np.abs(covered - _COVERAGE), axis=0)]


def choose(held_back: HeldBack) -> Choice:
    """All kinds are tried on the last block, and the best of them on the others. After an interrupt, the best so far."""
    last, searches = _BLOCKS - 1, held_back.searches
    first: dict[Kind, float] = {}
    for kind in held_back.columns:
        first[kind] = held_back.score(kind, last)
        if searches.interrupted:
            break
    best = sorted(first, key=first.__getitem__)[:_FINALISTS]
    total: dict[Kind, float] = {}
    for kind in best:
        if searches.interrupted:
            break
        total[kind] = np.mean([first[kind], *(held_back.score(kind, block) for block in range(last))])
    if searches.interrupted:
        return Choice(best[:1], np.ones(1), np.ones(held_back.past.shape[1]))
    kinds = sorted(total, key=total.__getitem__)[:_KEPT]
    scores = np.array([total[kind] for kind in kinds])
    weights = np.exp((scores[0] - scores) / _TEMPERATURE)
    weights /= weights.sum()
    return Choice(kinds, np.round(weights, 6), held_back.spread(kinds, weights))
