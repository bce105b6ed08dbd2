"""A system that is driven by inputs: the next output as a function of earlier outputs, and of inputs now and before.

It is a mixture of members that see different lags. Which of them count, and how much, is decided by free simulations
of blocks of the series, because a member that predicts the next step best need not simulate best.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....core.exact.rollout import Watch
from ..searches import Searches
from ..weights import shares
from .base import in_silence, limits
from .driven_choice import choose
from .driven_members import DrivenMember, Kind, kinds

_LEAST_PATHS = 100  # so many are simulated at least, because the spread is taken around their median


@dataclass(frozen=True)
class Driven:
    """Members, their weights, and the factor of the paths' spread around their median."""

    members: list[DrivenMember]
    weights: np.ndarray
    spread: np.ndarray  # (p,)

    @classmethod
    def fitted(
        cls, past: np.ndarray, covariates: np.ndarray, inputs: int, input_lags: int, max_iter: int, searches: Searches
    ) -> Driven:
        """Fitted to a series without gaps.

        The covariates begin with `inputs` columns at lag 0, followed by as many for each lag up to `input_lags`. All
        members see the columns behind these.
        """
        options = kinds(max(1, len(past) // 10), input_lags)
        columns = {kind: _columns(kind, inputs, input_lags, covariates.shape[1]) for kind in options}
        chosen = choose(past, covariates, columns, max_iter, searches)
        members = [
            DrivenMember.fitted(
                kind,
                trial.columns,
                past,
                covariates,
                np.arange(kind.reach, len(past)),
                max_iter,
                searches,
                starts=trial.models,
            )
            for kind, trial in chosen.members.items()
        ]
        return cls(members, chosen.weights, chosen.spread)

    def paths(self, past, covariates, n_paths, seed, watch: Watch = in_silence):
        """Paths of all members, spread around their median."""
        counts = shares(self.weights, max(n_paths, _LEAST_PATHS))
        parts = [
            member.paths(past, covariates, int(count), seed + 7919 * number, watch)
            for number, (member, count) in enumerate(zip(self.members, counts, strict=True))
            if count
        ]
        paths, ran_out = (np.concatenate(each) for each in zip(*parts, strict=True))
        middle = np.median(paths, axis=0)
        some = np.random.default_rng(seed).permutation(len(paths))[:n_paths]
        return np.clip(middle + self.spread * (paths[some] - middle), *limits(past)), ran_out[some]


def _columns(kind: Kind, inputs: int, input_lags: int, count: int) -> np.ndarray:
    """The columns of the covariates that a member sees."""
    lagged = [lag * inputs + np.arange(inputs) for lag in kind.input_lags]
    return np.concatenate([*lagged, np.arange((input_lags + 1) * inputs, count)]).astype(int)
