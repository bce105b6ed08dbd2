"""Dynamics from step to step: x_t = x_{t-1} + f(x_{t-1}, u_t) + noise, with a Gauss-Markov q(X).

The bound has many local optima, and the best bound is not the best simulation. So there are several members, which
start from different amounts of process noise, and a forecast mixes their paths. The weights are those with which
simulations of the training series would have scored best.
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
from ....core.numerics.padding import padded_length
from ....core.search.report import FitReport, labelled
from ....series.reading import fill_gaps
from ...forecasting.weights import best_weights, shares
from .base import Settings

# Process noise at the start of every member, at most, in units of the variance of the states. The members begin at
# linear models of the outputs, and in driven systems at linear models of filters of the inputs too.
_FROM_OUTPUTS, _FROM_INPUTS = (np.inf, 3e-2, 1e-2, 3e-3), (1e-2, 3e-3)
# Simulations of the training series: how many, of how many paths, over which share of a series, and at most how long.
_ORIGINS, _PATHS, _SHARE, _LONGEST = 4, 64, 4, 128
_QUANTILES = (np.arange(25) + 0.5) / 25.0


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
        """Paths (s, h, p) that go on from the states at some steps (s,), driven by inputs (h, s, c)."""
        mean, covariances = np.asarray(self.answer.chain.mean)[self.data.is_real], np.asarray(self.answer.covariances)
        half = np.linalg.cholesky(covariances[steps])
        first = mean[steps] + np.einsum("sij,sj->si", half, random.normal(size=mean[steps].shape))
        low, high = mean.min(axis=0), mean.max(axis=0)
        bounds = low - (high - low), high + (high - low)
        n_paths, length = len(steps), len(inputs)
        # Round numbers of paths and steps share one compiled program.
        more = padded_length(n_paths) - n_paths, padded_length(length) - length
        first = np.pad(first, ((0, more[0]), (0, 0)), mode="edge")
        inputs = np.pad(inputs, ((0, more[1]), (0, more[0]), (0, 0)), mode="edge")
        rolled = roll(self.answer.transition, self.answer.observation, first, inputs, bounds, random)
        return rolled[:n_paths, :length]


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
            for member in self.members
        ]
        means, variances = (np.stack(part) for part in zip(*found, strict=True))
        mean, variance = weighted(means, variances, np.tile(self.weights[:, None], sum(lengths)))
        return [*zip(_split(mean, lengths), _split(variance, lengths), strict=True)]

    def simulate(
        self, steps: int, inputs: np.ndarray | None, n_paths: int, random: np.random.Generator, number: int = -1
    ) -> np.ndarray:
        """Paths of all members, in the order of the members."""
        last = int(np.cumsum(self.lengths)[number]) - 1
        driving = np.zeros((steps, 0)) if inputs is None else inputs
        parts = []
        for member, count in zip(self.members, shares(self.weights, n_paths), strict=True):
            if count:
                parts.append(member.paths(np.full(count, last), np.tile(driving[:, None], (1, count, 1)), random))
        return np.concatenate(parts)


def fit(series: list[np.ndarray], inputs: list[np.ndarray] | None, settings: Settings) -> Markov:
    """Members fitted to series (T, p), whose gaps are NaN, and to their inputs (T, c)."""
    lengths = [*map(len, series)]
    values, filled, driving = _stacked(series, inputs)
    members, reports = [], []
    starts = [(each, False) for each in _FROM_OUTPUTS] + [(each, True) for each in _FROM_INPUTS if driving.shape[1]]
    for number, (process_variance, from_inputs) in enumerate(starts, 1):
        begin = start(
            values, filled, driving, _is_first(lengths), settings.n_states, settings.n_inducing, process_variance,
            settings.random_state, from_inputs,
        )  # fmt: skip
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
    n = sum(map(len, series))
    return (
        np.concatenate(series),
        np.concatenate(filled),
        np.zeros((n, 0)) if inputs is None else np.concatenate(inputs),
    )


def _is_first(lengths: list[int]) -> np.ndarray:
    """Whether a series begins at each step."""
    return np.isin(np.arange(sum(lengths)), np.cumsum([0, *lengths[:-1]]))


def _split(rows: np.ndarray, lengths: list[int]) -> list[np.ndarray]:
    """Rows of all series, series by series. Rows behind the last one are padding."""
    return np.split(rows[: sum(lengths)], np.cumsum(lengths)[:-1])


def _inferred(member: MarkovMember, series: list[np.ndarray], inputs: list[np.ndarray] | None) -> StateAnswer:
    """The answer for new series, which starts at that of a linear model of the member's states."""
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
    return infer(replace(member.model, states=ChainMoves.none(*data.reference.chain.mean.shape)), data, statistics(
        member.model, known
    ))  # fmt: skip


def _weigh(
    members: list[MarkovMember], values: np.ndarray, inputs: np.ndarray, lengths: list[int], seed: int
) -> np.ndarray:
    """Weights with the best score in simulations of the series, from states that were found with their values.

    These are not forecasts: the members know the values. But none can follow them over many steps by its memory.
    """
    starts = np.cumsum([0, *lengths[:-1]])
    longest = int(np.argmax(lengths))
    horizon = int(np.clip(lengths[longest] // _SHARE, 1, _LONGEST))
    origins = starts[longest] + np.unique(np.linspace(0, lengths[longest] - horizon - 1, _ORIGINS).astype(int))
    ahead = origins[:, None] + 1 + np.arange(horizon)  # [o, h]
    steps = np.repeat(origins, _PATHS)
    driving = np.repeat(inputs[ahead], _PATHS, axis=0).swapaxes(0, 1)
    samples = np.stack([_quantiles(member, steps, driving, len(origins), seed) for member in members])
    truth = values[ahead]
    errors = np.mean(np.abs(samples - truth[:, None]), axis=2)  # [K, o, h, p]
    distances = np.array([[np.mean(np.abs(a[:, :, None] - b[:, None]), axis=(1, 2)) for b in samples] for a in samples])
    distances = np.where(np.isnan(truth), np.nan, distances)
    weights = best_weights(np.moveaxis(errors, 1, 0), np.moveaxis(distances, 2, 0))
    return weights / weights.sum()


def _quantiles(member: MarkovMember, steps: np.ndarray, inputs: np.ndarray, n_origins: int, seed: int) -> np.ndarray:
    paths = member.paths(steps, inputs, np.random.default_rng(seed))
    by_origin = paths.reshape(n_origins, _PATHS, *paths.shape[1:])
    return np.moveaxis(np.quantile(by_origin, _QUANTILES, axis=1), 1, 0)  # [o, quantiles, h, p]
