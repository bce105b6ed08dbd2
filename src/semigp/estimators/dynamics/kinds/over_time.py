"""States that are smooth functions of time: the variational GP dynamical system of Damianou et al. (2011).

Every latent state is a GP over time with a lengthscale of its own. It suits series with many outputs, such as motion
capture, in which some outputs are missing for a while: the known outputs say where the states are, and the states say
what is missing.

How many states tell the series apart, and how many move, cannot be read off the bound: more states explain the training
series better, and missing outputs no better. So there are up to three members with different numbers of slow states,
and what they say is mixed. Gaps of a new series are filled by this mixture and by regressions (`known_columns`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ....core.numerics.mixtures import pooled
from ....core.search.report import FitReport, labelled
from .base import Settings
from .known_columns import Steps, with_regressions
from .time_member import Moments, TimeMember
from .time_member import fit as fit_member

# At least so many states move. With more, one of them may be a function of the others: it is then not known where its
# outputs are missing.
_MOVING = 3


@dataclass(frozen=True)
class TimeDriven:
    """Fitted models whose states are functions of time. The first has as many states as were asked for."""

    members: tuple[TimeMember, ...]
    report: FitReport

    def states(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Mean and std (T, q) of q(x) of every training series, in the first member."""
        return self.members[0].states()

    def complete(self, series: list[np.ndarray] | None, inputs: list[np.ndarray] | None) -> list[Moments]:
        """Mean and variance (T, p) of the outputs of series with gaps, with noise; None means the training series."""
        _refuse(inputs)
        found = self._by_states(series)
        if series is None:
            return found
        training = self._training_steps()
        return [with_regressions(each, states, training) for each, states in zip(series, found, strict=True)]

    def _by_states(self, series: list[np.ndarray] | None) -> list[Moments]:
        """The mixture of all members."""
        found = [member.complete(series) for member in self.members]
        return [pooled(*map(list, zip(*several, strict=True))) for several in zip(*found, strict=True)]

    def _training_steps(self) -> Steps:
        member = self.members[0]
        series = np.split(member.rows, np.cumsum(member.lengths)[:-1])
        means = [mean for mean, _ in self._by_states(None)] if np.isnan(member.rows).any() else series
        return Steps.of(series, means)

    def simulate(
        self, steps: int, inputs: np.ndarray | None, n_paths: int, random: np.random.Generator, number: int = -1
    ) -> np.ndarray:
        """Paths (n_paths, steps, p) that continue training series `number`. Every member has its share of them."""
        _refuse(inputs)
        shares = np.bincount(np.arange(n_paths) % len(self.members), minlength=len(self.members))
        members = zip(self.members, shares, strict=True)
        return np.concatenate([member.simulate(steps, int(n), random, number) for member, n in members if n])


def _refuse(inputs: Any) -> None:
    if inputs is not None:
        raise ValueError(
            'dynamics="time" has no place for inputs: its states are functions of time alone. Give inputs to '
            "another kind of dynamics, or add them to the series as columns."
        )


def fit(series: list[np.ndarray], inputs: list[np.ndarray] | None, settings: Settings) -> TimeDriven:
    """Fit states over time to series in standard units, with NaN for what is missing."""
    _refuse(inputs)
    counts = slow_states(settings.n_states, len(series))
    members = []
    for part, count in enumerate(counts, 1):
        callback = labelled(settings.callback, part=part, parts=len(counts))
        n_states = settings.n_states - counts[0] + count
        members.append(fit_member(series, count, replace(settings, n_states=n_states, callback=callback)))
        if members[-1].report.status == "interrupted":
            break
    bounds = tuple(member.report.bound for member in members)
    return TimeDriven(tuple(members), replace(members[0].report, restart_bounds=bounds))


def slow_states(n_states: int, n_series: int) -> list[int]:
    """How many states of each member tell the series apart: all but those that move, half of them, a quarter."""
    most = max(0, min(n_states - max(_MOVING, n_states // 4), n_series - 1))
    return sorted({most, most // 2, most // 4}, reverse=True)
