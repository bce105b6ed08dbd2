"""What every prior of a series can do once its parameters are fitted."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from jaxtyping import Bool, Float

from ....core.exact.rollout import Watch


def in_silence(items, doing):
    """Go through the parts of some work, and tell nobody."""
    return items


class SeriesPrior(Protocol):
    """A prior with fitted parameters, which can continue any past of the series."""

    def paths(
        self,
        past: Float[np.ndarray, "T p"],
        covariates: Float[np.ndarray, "T+steps c"],
        n_paths: int,
        seed: int,
        watch: Watch = in_silence,
    ) -> tuple[Float[np.ndarray, "s steps p"], Bool[np.ndarray, " s"]]:
        """Draws of the steps after a past without gaps, and which of them reached the limits and were held there.

        All values are in standard units. Covariates are known for the past and for the steps to come.
        """


def limits(past: Float[np.ndarray, "T p"], share: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """How far paths may go: beyond the values of the past, by a share of what these span."""
    low, high = np.nanmin(past, axis=0), np.nanmax(past, axis=0)
    return low - share * (high - low), high + share * (high - low)
