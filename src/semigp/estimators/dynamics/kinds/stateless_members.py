"""Members without latent states. They take over where no member with states simulates a series well."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....core.search.report import FitReport
from ....series import read_series
from ...common.reports import worst
from ...forecasting.learning import Settings as PastSettings
from ...forecasting.learning import learn
from ...forecasting.series_model import SeriesModel
from .base import Settings

# The largest lag of the inputs, and the share of a series that it may take; draws of the gaps.
_INPUT_LAGS, _SHARE, _GAP_DRAWS = 20, 6, 4
_NONE = np.array([[-np.inf], [np.inf]])


@dataclass(frozen=True)
class PastMember:
    """The next value as a function of the last ones and of the inputs now and before, as in `GPForecaster`.

    It knows one series, and goes on from its end.
    """

    model: SeriesModel
    bounds = _NONE  # it has limits of its own

    @classmethod
    def fitted(cls, values: np.ndarray, inputs: np.ndarray, settings: Settings) -> tuple[PastMember, FitReport]:
        """The member, and the report of the search that went worst."""
        is_driven = inputs.shape[1] > 0
        lags = min(_INPUT_LAGS, len(values) // _SHARE) if is_driven else 0
        how = PastSettings(
            "auto", None, "auto" if is_driven else None, False, lags, _GAP_DRAWS, settings.max_iter,
            settings.random_state,
        )  # fmt: skip
        model, reports = learn(values, inputs, read_series(values)[1], how, settings.callback)
        return cls(model), worst(reports)

    def without(self, is_hidden: np.ndarray) -> PastMember:
        """The member as if the series had ended at the first of some steps, with the same parameters."""
        return PastMember(self.model.until(int(np.argmax(is_hidden))))

    def paths(self, last: int, inputs: np.ndarray, n_paths: int, random: np.random.Generator) -> np.ndarray:
        """Paths (n_paths, h, p) that go on from the last step, driven by inputs (h, c)."""
        return self.model.paths(inputs, n_paths, int(random.integers(2**31)))[0]


@dataclass(frozen=True)
class MarginalMember:
    """Values of the series at random steps: nothing is known of the future but where the series has been."""

    values: np.ndarray  # (n, p), without gaps
    bounds = _NONE

    def without(self, is_hidden: np.ndarray) -> MarginalMember:
        """The member without the values at some steps."""
        return MarginalMember(self.values[~is_hidden])

    def paths(self, last: int, inputs: np.ndarray, n_paths: int, random: np.random.Generator) -> np.ndarray:
        """Draws (n_paths, h, p) of the values."""
        return self.values[random.integers(len(self.values), size=(n_paths, len(inputs)))]
