"""Dynamics from step to step: x_t = x_{t-1} + f(x_{t-1}, u_t) + noise, with a Gauss-Markov q(X).

The bound has many local optima, and the best bound is not the best simulation. So there are several members, which
start from different amounts of process noise, and two without states. A forecast mixes their paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ....core.dynamics.fit import answer
from ....core.dynamics.fit import fit as fit_member
from ....core.dynamics.start import start
from ....core.numerics.mixtures import weighted
from ....core.search.report import FitReport, labelled
from ....progress import steps as in_steps
from ....series.reading import fill_gaps
from ...forecasting.priors.base import limits
from ...forecasting.weights import shares
from .base import Settings
from .markov_member import BLOCK, MarkovMember
from .markov_weights import Member, stays, weigh
from .stateless_members import MarginalMember, PastMember

# Process noise at the start of every member, at most, in units of the variance of the states. The members begin at
# linear models of the outputs, and in driven systems at linear models of filters of the inputs too.
_FROM_OUTPUTS, _FROM_INPUTS = (3e-2, 3e-3), (1e-2, 3e-3)
# A path is given up if it leaves the range of the training values by more than this share of the range.
# Where fewer than another share stay, no more paths are drawn.
_MARGIN, _LEAST_STAYING = 0.5, 0.5
# A function of the past has chosen its lags with all values in view. In shorter series this flatters it too much.
_FEWEST_STEPS = 100


@dataclass(frozen=True)
class Markov:
    """Members that were fitted to some series, and their weights."""

    report: FitReport
    members: list[MarkovMember]
    stateless: list[PastMember | MarginalMember]
    weights: np.ndarray  # of the members with states, and then of those without
    lengths: list[int]

    @property
    def state_weights(self) -> np.ndarray:
        """The weights of the members with states, among themselves."""
        own = self.weights[: len(self.members)] + 1e-9
        return own / own.sum()

    def states(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Of the member with the largest weight, because every member has states of its own."""
        best = self.members[int(np.argmax(self.state_weights))].answer
        std = np.sqrt(np.diagonal(best.covariances, axis1=1, axis2=2))
        return [*zip(_split(np.asarray(best.chain.mean), self.lengths), _split(std, self.lengths), strict=True)]

    def complete(
        self, series: list[np.ndarray] | None, inputs: list[np.ndarray] | None
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """A mixture over the members with states."""
        lengths = self.lengths if series is None else [*map(len, series)]
        found = []
        for member in in_steps(self.members, "gaps"):
            own = member.answer
            if series is not None:
                own = member.inferred(np.concatenate(series), _driving(series, inputs), _is_first(lengths))
            found.append(member.outputs(own, sum(lengths)))
        means, variances = (np.stack(part) for part in zip(*found, strict=True))
        mean, variance = weighted(means, variances, np.tile(self.state_weights[:, None], sum(lengths)))
        return [*zip(_split(mean, lengths), _split(variance, lengths), strict=True)]

    def simulate(
        self, steps: int, inputs: np.ndarray | None, n_paths: int, random: np.random.Generator, number: int = -1
    ) -> np.ndarray:
        """Paths of all members, in the order of the members.

        Functions may be drawn that are unstable far from the data, but the system has stayed where it is. So paths are
        given up that leave the neighbourhood of the training values, and a member counts in proportion to the share of
        its paths that do not. If too few stay, those that stay longest are taken.
        """
        last = int(np.cumsum(self.lengths)[number]) - 1
        driving = np.zeros((steps, 0)) if inputs is None else inputs
        every: list[Member] = [*self.members, *self.stateless]
        used = np.flatnonzero(shares(self.weights, n_paths))
        paths = [every[k].paths(last, driving, BLOCK, random) for k in used]
        staying = [np.mean(stays(every[k], own) == steps) for k, own in zip(used, paths, strict=True)]
        counts = shares(self.weights[used] * (np.array(staying) + 1.0 / BLOCK), n_paths)
        parts = []
        for k, own, share, count in in_steps([*zip(used, paths, staying, counts, strict=True)], "paths"):
            wanted = int(np.ceil(count / max(share, _LEAST_STAYING))) - len(own)
            some = np.concatenate([own, every[k].paths(last, driving, wanted, random)]) if wanted > 0 else own
            parts.append(some[np.argsort(-stays(every[k], some), kind="stable")[:count]])
        return np.concatenate(parts)


def fit(series: list[np.ndarray], inputs: list[np.ndarray] | None, settings: Settings) -> Markov:
    """Two members from every start, with process noise held and free, members without states, and the weights of all.

    The series are (T, p), with NaN in their gaps, and the inputs (T, c).
    """
    lengths, values, driving = [*map(len, series)], np.concatenate(series), _driving(series, inputs)
    filled = np.concatenate([fill_gaps(np.where(np.isnan(one).all(axis=0), 0.0, one)) for one in series])
    members, reports = _members(values, filled, driving, _is_first(lengths), settings)
    stateless: list[PastMember | MarginalMember] = [MarginalMember(filled)]
    last = reports[-1]
    if len(series) == 1 and len(values) >= _FEWEST_STEPS and last.status != "interrupted":
        past, last = PastMember.fitted(values, driving, settings)
        stateless.insert(0, past)
    weights = weigh([*members, *stateless], values, driving, lengths, settings.random_state)
    report = reports[int(np.argmax(weights[: len(members)]))]
    if last.status == "interrupted":
        report = replace(report, status=last.status, message=last.message)
    return Markov(report, members, stateless, weights, lengths)


def _members(values, filled, driving, is_first, settings) -> tuple[list[MarkovMember], list[FitReport]]:
    """Two members from every start, and their reports. After an interrupt, those that there are."""
    starts = [(each, False) for each in (_FROM_OUTPUTS if driving.shape[1] else (np.inf, *_FROM_OUTPUTS))]
    starts += [(each, True) for each in _FROM_INPUTS if driving.shape[1]]
    bounds = np.stack(limits(values, _MARGIN))
    members: list[MarkovMember] = []
    reports: list[FitReport] = []
    for number, (process_variance, from_inputs) in enumerate(starts, 1):
        sizes = settings.n_states, settings.n_inducing, process_variance, settings.random_state
        begin = start(values, filled, driving, is_first, *sizes, from_inputs)
        told = labelled(settings.callback, part=number, parts=len(starts))
        found, report = fit_member(*begin, settings.max_iter, told)
        members += [MarkovMember(model, data, answer(model, data), bounds) for model, data in found]
        reports += [report] * len(found)
        if report.status == "interrupted":
            break
    return members, reports


def _driving(series: Sequence[np.ndarray], inputs: Sequence[np.ndarray] | None) -> np.ndarray:
    """The inputs of all series, one behind the other, with no columns if there are none."""
    return np.concatenate([np.zeros((len(one), 0)) for one in series] if inputs is None else inputs)


def _is_first(lengths: list[int]) -> np.ndarray:
    """Whether a series begins at each step."""
    return np.isin(np.arange(sum(lengths)), np.cumsum([0, *lengths[:-1]]))


def _split(rows: np.ndarray, lengths: list[int]) -> list[np.ndarray]:
    """Rows of all series, series by series. Rows behind the last one are padding."""
    return np.split(rows[: sum(lengths)], np.cumsum(lengths)[:-1])
