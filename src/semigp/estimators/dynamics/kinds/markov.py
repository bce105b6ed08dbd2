"""Dynamics from step to step: x_t = x_{t-1} + f(x_{t-1}, u_t) + noise, with a Gauss-Markov q(X).

The bound has many local optima, and the best bound is not the best simulation. So there are several members, which
start from different amounts of process noise, and a forecast mixes their paths. The weights depend on how well each
member simulates parts of the training series.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ....core.dynamics.chain import ChainMoves
from ....core.dynamics.fit import StateAnswer, answer, infer, statistics
from ....core.dynamics.fit import fit as fit_member
from ....core.dynamics.linear import Moments, regressed
from ....core.dynamics.model import StateData, StateModel
from ....core.dynamics.rollout import roll
from ....core.dynamics.start import make_data, start
from ....core.inputs.beliefs import InputBelief
from ....core.numerics.mixtures import weighted
from ....core.numerics.padding import padded_length, round_up
from ....core.search.report import FitReport, labelled
from ....progress import steps as in_steps
from ....series.reading import fill_gaps
from ...forecasting.weights import shares
from .base import Settings

# Process noise at the start of every member, at most, in units of the variance of the states. The members begin at
# linear models of the outputs, and in driven systems at linear models of filters of the inputs too.
_FROM_OUTPUTS, _FROM_INPUTS = (3e-2, 3e-3), (1e-2, 3e-3)
# Simulations that weigh members: how many, of how many paths, over which share of a series, and at most how long.
_ORIGINS, _PATHS, _SHARE, _LONGEST = 4, 64, 4, 128
_POWER = 6.0  # weights are scores to minus this power
# A path is given up if it leaves the range of the training values by more than this share of the range.
# Where fewer than another share stay, no more paths are drawn.
_MARGIN, _LEAST_STAYING = 0.5, 0.5
_BLOCK = 128  # paths that are rolled at once


@dataclass(frozen=True)
class MarkovMember:
    """One model, and what it says."""

    model: StateModel
    data: StateData
    answer: StateAnswer

    def outputs(self, found: StateAnswer, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance (count, p) of the outputs at the first steps of an answer, with noise."""
        posterior = found.observation
        mean, variance = posterior.predict(InputBelief(found.chain.mean[:count], found.covariances[:count]))
        return np.asarray(mean), np.asarray(variance + posterior.likelihood.noise_variance)

    def paths(self, steps: np.ndarray, inputs: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Paths (s, h, p) that go on from the states at some steps (s,), driven by inputs (h, s, c).

        They are rolled in blocks of one size and a round length, which share one compiled program.
        """
        mean, covariances = np.asarray(self.answer.chain.mean), np.asarray(self.answer.covariances)
        half = np.linalg.cholesky(covariances[steps])
        first = mean[steps] + np.einsum("sij,sj->si", half, random.normal(size=mean[steps].shape))
        low, high = (pick(mean[self.data.is_real], axis=0) for pick in (np.min, np.max))
        bounds = low - (high - low), high + (high - low)
        n_paths, length = len(steps), len(inputs)
        more = round_up(n_paths, _BLOCK) - n_paths, padded_length(length) - length
        first = np.pad(first, ((0, more[0]), (0, 0)), mode="edge")
        inputs = np.pad(inputs, ((0, more[1]), (0, more[0]), (0, 0)), mode="edge")
        functions = self.answer.transition, self.answer.observation
        rolled = [
            roll(*functions, first[at : at + _BLOCK], inputs[:, at : at + _BLOCK], bounds, random)
            for at in range(0, len(first), _BLOCK)
        ]
        return np.concatenate(rolled)[:n_paths, :length]

    def stays(self, paths: np.ndarray) -> np.ndarray:
        """For how many steps each of the paths (s, h, p) stays near the training values."""
        targets = self.data.targets
        known = np.where(np.asarray(targets.weights)[:, targets.group] > 0, targets.values, np.nan)
        low, high = np.nanmin(known, axis=0), np.nanmax(known, axis=0)
        margin = _MARGIN * (high - low)
        is_out = ((paths < low - margin) | (paths > high + margin)).any(axis=2)
        return np.where(is_out.any(axis=1), np.argmax(is_out, axis=1), paths.shape[1])


@dataclass(frozen=True)
class Markov:
    """Members that were fitted to some series, and their weights."""

    report: FitReport
    members: list[MarkovMember]
    weights: np.ndarray
    lengths: list[int]

    def states(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Of the member with the largest weight, because every member has states of its own."""
        best = self.members[int(np.argmax(self.weights))].answer
        std = np.sqrt(np.diagonal(best.covariances, axis1=1, axis2=2))
        return [*zip(_split(np.asarray(best.chain.mean), self.lengths), _split(std, self.lengths), strict=True)]

    def complete(
        self, series: list[np.ndarray] | None, inputs: list[np.ndarray] | None
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """A mixture over the members."""
        lengths = self.lengths if series is None else [*map(len, series)]
        found = [
            member.outputs(member.answer if series is None else _inferred(member, series, inputs), sum(lengths))
            for member in in_steps(self.members, "gaps")
        ]
        means, variances = (np.stack(part) for part in zip(*found, strict=True))
        mean, variance = weighted(means, variances, np.tile(self.weights[:, None], sum(lengths)))
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

        def rolled(member: MarkovMember, count: int) -> np.ndarray:
            return member.paths(np.full(count, last), np.repeat(driving[:, None], count, axis=1), random)

        paths = [rolled(member, _BLOCK) for member in self.members]
        staying = [np.mean(member.stays(own) == steps) for member, own in zip(self.members, paths, strict=True)]
        weights = self.weights * (np.array(staying) + 1.0 / _BLOCK)
        parts = []
        each = [*zip(self.members, paths, staying, shares(weights, n_paths), strict=True)]
        for member, own, share, count in in_steps(each, "paths"):
            wanted = int(np.ceil(count / max(share, _LEAST_STAYING))) - len(own)
            some = np.concatenate([own, rolled(member, wanted)]) if wanted > 0 else own
            parts.append(some[np.argsort(-member.stays(some), kind="stable")[:count]])
        return np.concatenate(parts)


def fit(series: list[np.ndarray], inputs: list[np.ndarray] | None, settings: Settings) -> Markov:
    """Two members from every start, with process noise held and free, and their weights.

    The series are (T, p), with NaN in their gaps, and the inputs (T, c).
    """
    lengths = [*map(len, series)]
    values, filled, driving = _stacked(series, inputs)
    starts = [(each, False) for each in (_FROM_OUTPUTS if driving.shape[1] else (np.inf, *_FROM_OUTPUTS))]
    starts += [(each, True) for each in _FROM_INPUTS if driving.shape[1]]
    members: list[MarkovMember] = []
    reports: list[FitReport] = []
    for number, (process_variance, from_inputs) in enumerate(starts, 1):
        sizes = settings.n_states, settings.n_inducing, process_variance, settings.random_state
        begin = start(values, filled, driving, _is_first(lengths), *sizes, from_inputs)
        told = labelled(settings.callback, part=number, parts=len(starts))
        found, report = fit_member(*begin, settings.max_iter, told)
        members += [MarkovMember(model, data, answer(model, data)) for model, data in found]
        reports += [report] * len(found)
        if report.status == "interrupted":
            break
    weights = _weigh(members, values, driving, lengths, settings.random_state)
    return Markov(reports[int(np.argmax(weights))], members, weights, lengths)


def _stacked(series: list[np.ndarray], inputs: list[np.ndarray] | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, values with their gaps filled along straight lines, and inputs, one series behind the other."""
    filled = [fill_gaps(np.where(np.isnan(one).all(axis=0), 0.0, one)) for one in series]
    return np.concatenate(series), np.concatenate(filled), np.concatenate(_driving(series, inputs))


def _driving(series: list[np.ndarray], inputs: list[np.ndarray] | None) -> list[np.ndarray]:
    """The inputs of every series, with no columns if there are none."""
    return [np.zeros((len(one), 0)) for one in series] if inputs is None else inputs


def _is_first(lengths: list[int]) -> np.ndarray:
    """Whether a series begins at each step."""
    return np.isin(np.arange(sum(lengths)), np.cumsum([0, *lengths[:-1]]))


def _split(rows: np.ndarray, lengths: list[int]) -> list[np.ndarray]:
    """Rows of all series, series by series. Rows behind the last one are padding."""
    return np.split(rows[: sum(lengths)], np.cumsum(lengths)[:-1])


def _moved(
    member: MarkovMember, series: list[np.ndarray], inputs: list[np.ndarray] | None
) -> tuple[StateModel, StateData]:
    """The member's model, and other series as its data, with states from a linear model of the member's states."""
    found, known = member.answer, member.data
    count, chain, targets = int(np.sum(known.is_real)), found.chain, known.targets
    outputs = np.where(targets.weights[:, targets.group] > 0, targets.values, np.nan)
    noise = chain.factor @ np.swapaxes(chain.factor, 1, 2)
    parts = chain.mean, chain.transition, noise, found.covariances, outputs, known.inputs, known.is_first
    mean, transition, noise, covariances, outputs, driving, is_first = (np.asarray(part)[:count] for part in parts)
    linear = regressed(Moments(mean, transition, noise, covariances), outputs, driving, is_first)
    values, _, driving = _stacked(series, inputs)
    is_first = _is_first([*map(len, series)])
    data = make_data(values, driving, is_first, linear.smoothed(values, driving, is_first))
    return replace(member.model, states=ChainMoves.none(*data.reference.chain.mean.shape)), data


def _inferred(member: MarkovMember, series: list[np.ndarray], inputs: list[np.ndarray] | None) -> StateAnswer:
    """The answer for new series."""
    model, data = _moved(member, series, inputs)
    return infer(model, data, statistics(member.model, member.data))


def _weigh(
    members: list[MarkovMember], values: np.ndarray, inputs: np.ndarray, lengths: list[int], seed: int
) -> np.ndarray:
    """Weights by simulations of parts of the longest series, from the states that were found there.

    These are no forecasts: the members know the values. But nobody can follow them over many steps by memory alone. As
    the scores are a little too good all the same, they are not optimised: a member with twice the score of the best has
    a sixtieth of its weight.
    """
    longest = int(np.argmax(lengths))
    horizon = int(np.clip(lengths[longest] // _SHARE, 1, _LONGEST))
    origins = np.linspace(0, lengths[longest] - horizon - 1, _ORIGINS).astype(int) + sum(lengths[:longest])
    ahead = origins[:, None] + 1 + np.arange(horizon)  # [o, h]
    steps, driving = np.repeat(origins, _PATHS), np.repeat(inputs[ahead], _PATHS, axis=0).swapaxes(0, 1)
    shape = len(origins), _PATHS, horizon, values.shape[1]
    scores = []
    for member in members:
        paths = member.paths(steps, driving, np.random.default_rng(seed)).reshape(shape)
        scores.append(np.nanmean(_crps(np.moveaxis(paths, 1, 0), values[ahead])))
    weights = (min(scores) / np.array(scores)) ** _POWER
    return weights / weights.sum()


def _crps(samples: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """The continuous ranked probability score E|x - y| - ½ E|x - x'| of samples (s, …), NaN where there is no truth."""
    count = len(samples)
    ranks = (2.0 * np.arange(1, count + 1) - count - 1.0).reshape(-1, *(1,) * truth.ndim)
    spread = np.sum(ranks * np.sort(samples, axis=0), axis=0) / count**2
    return np.mean(np.abs(samples - truth), axis=0) - spread
