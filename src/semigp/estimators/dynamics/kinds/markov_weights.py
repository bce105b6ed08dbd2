"""How much each member counts: by a free simulation of half a series that was held back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ....progress import steps as in_steps
from ...forecasting.weights import best_weights, score_terms

_PATHS = 128
_LEAST_STAYING = 0.5  # of the paths that weigh a member, or it gets no weight


class Member(Protocol):
    """A fitted model that can go on from where its data end."""

    @property
    def bounds(self) -> np.ndarray:
        """Paths that leave these, (2, p), are given up."""

    def without(self, is_hidden: np.ndarray) -> Member:
        """The member as if the last steps of a series (n,) were not known, with the same parameters."""

    def paths(self, last: int, inputs: np.ndarray, n_paths: int, random: np.random.Generator) -> np.ndarray:
        """Paths (n_paths, h, p) that go on from step `last`, driven by inputs (h, c)."""


def stays(member: Member, paths: np.ndarray) -> np.ndarray:
    """For how many steps each of the paths (s, h, p) stays within the bounds."""
    low, high = member.bounds
    is_out = ((paths < low) | (paths > high)).any(axis=2)
    return np.where(is_out.any(axis=1), np.argmax(is_out, axis=1), paths.shape[1])


def weigh(
    members: Sequence[Member], values: np.ndarray, inputs: np.ndarray, lengths: Sequence[int], seed: int
) -> np.ndarray:
    """The weights with which a mixture would have simulated the second half of the longest series best.

    Nobody knows that half but through the parameters. A simulation must be that long, because a member that drifts does
    so slowly. Where more than half of its paths leave the bounds, a member gets no weight.
    """
    longest = int(np.argmax(lengths))
    stop = int(np.cumsum(lengths)[longest])
    start = stop - lengths[longest] // 2
    steps = np.arange(len(values))
    is_hidden = (steps >= start) & (steps < stop)
    weights, usable = np.zeros(len(members)), {}
    for number, member in enumerate(in_steps(members, "weights")):
        random = np.random.default_rng([seed, number])
        paths = member.without(is_hidden).paths(start - 1, inputs[is_hidden], _PATHS, random)
        is_staying = stays(member, paths) == paths.shape[1]
        if is_staying.mean() >= _LEAST_STAYING:
            usable[number] = paths[is_staying]
    errors, distances = score_terms([*usable.values()], values[is_hidden])
    weights[[*usable]] = best_weights(errors[None], distances[None])
    return weights
