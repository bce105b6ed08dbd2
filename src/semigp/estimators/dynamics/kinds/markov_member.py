"""One model with latent states: what it says of its series and of others, and paths that go on from its states."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ....core.dynamics.chain import ChainMoves
from ....core.dynamics.fit import StateAnswer, infer, statistics
from ....core.dynamics.linear import Moments, regressed
from ....core.dynamics.model import StateData, StateModel
from ....core.dynamics.rollout import roll
from ....core.dynamics.start import make_data
from ....core.inputs.beliefs import InputBelief
from ....core.numerics.padding import padded_length, round_up

BLOCK = 128  # paths that are rolled at once


@dataclass(frozen=True)
class MarkovMember:
    """A fitted model, its data, and its answer."""

    model: StateModel
    data: StateData
    answer: StateAnswer
    bounds: np.ndarray  # (2, p) paths that leave these are given up

    def without(self, is_hidden: np.ndarray) -> MarkovMember:
        """The member as if the last steps of a series were not known, but with the same parameters.

        States are found anew, because those of the whole series remember what came later.
        """
        data = self.data.without(is_hidden)
        return replace(self, data=data, answer=infer(self.model, data))

    def paths(self, last: int, inputs: np.ndarray, n_paths: int, random: np.random.Generator) -> np.ndarray:
        """Paths (n_paths, h, p) that go on from the state at step `last`, driven by inputs (h, c).

        They are rolled in blocks of one size and a round length, which share one compiled program.
        """
        mean, covariances = np.asarray(self.answer.chain.mean), np.asarray(self.answer.covariances)
        count, length = round_up(n_paths, BLOCK), len(inputs)
        first = mean[last] + random.normal(size=(count, mean.shape[1])) @ np.linalg.cholesky(covariances[last]).T
        low, high = (pick(mean[self.data.is_real], axis=0) for pick in (np.min, np.max))
        bounds = low - (high - low), high + (high - low)
        driving = np.pad(inputs, ((0, padded_length(length) - length), (0, 0)), mode="edge")
        driving = np.repeat(driving[:, None], BLOCK, axis=1)
        functions = self.answer.transition, self.answer.observation
        rolled = [roll(*functions, some, driving, bounds, random) for some in first.reshape(-1, BLOCK, mean.shape[1])]
        return np.concatenate(rolled)[:n_paths, :length]

    def outputs(self, found: StateAnswer, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance (count, p) of the outputs at the first steps of an answer, with noise."""
        posterior = found.observation
        mean, variance = posterior.predict(InputBelief(found.chain.mean[:count], found.covariances[:count]))
        return np.asarray(mean), np.asarray(variance + posterior.likelihood.noise_variance)

    def inferred(self, values: np.ndarray, inputs: np.ndarray, is_first: np.ndarray) -> StateAnswer:
        """The answer for new series, which stand one behind the other."""
        model, data = self._moved(values, inputs, is_first)
        return infer(model, data, statistics(self.model, self.data))

    def _moved(self, values: np.ndarray, inputs: np.ndarray, is_first: np.ndarray) -> tuple[StateModel, StateData]:
        """The model, and other series as its data, with states from a linear model of the member's states."""
        found, known = self.answer, self.data
        count, chain, targets = int(np.sum(known.is_real)), found.chain, known.targets
        outputs = np.where(targets.weights[:, targets.group] > 0, targets.values, np.nan)
        noise = chain.factor @ np.swapaxes(chain.factor, 1, 2)
        parts = chain.mean, chain.transition, noise, found.covariances, outputs, known.inputs, known.is_first
        mean, transition, noise, covariances, outputs, driving, begins = (np.asarray(part)[:count] for part in parts)
        linear = regressed(Moments(mean, transition, noise, covariances), outputs, driving, begins)
        data = make_data(values, inputs, is_first, linear.smoothed(values, inputs, is_first))
        return replace(self.model, states=ChainMoves.none(*data.reference.chain.mean.shape)), data
