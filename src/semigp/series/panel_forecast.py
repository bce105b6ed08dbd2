"""The forecast of a panel: one forecast for each series, and all of them in one frame."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .forecast import Forecast
from .panel import Panel


@dataclass(frozen=True)
class PanelForecast:
    """Forecasts of many series, by name."""

    panel: Panel = field(repr=False)
    forecasts: list[Forecast] = field(repr=False)

    def __len__(self) -> int:
        return len(self.forecasts)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.panel.names)

    def __getitem__(self, name: Any) -> Forecast:
        """The forecast of one series."""
        if name not in self.panel.names:
            raise KeyError(f"There is no series {name!r}; there are {len(self)}, the first is {self.panel.names[0]!r}.")
        return self.forecasts[self.panel.names.index(name)]

    def to_frame(self, levels: Any = (0.025, 0.25, 0.5, 0.75, 0.975)) -> Any:
        """A long frame: series, time, mean, std and quantiles, with a row for each series and step."""
        levels = np.atleast_1d(levels)
        columns = []
        for forecast in self.forecasts:
            bands = zip(levels, forecast.quantile(levels), strict=True)
            columns.append({"mean": forecast.mean, "std": forecast.std, **{f"q{q:g}": band for q, band in bands}})
        return self.panel.frame(columns)

    def score(self, truth: Any, season: int = 1) -> Any:
        """A frame with the scores of every series, given a frame of true values with the columns of the panel.

        True values are found by their times. Series without any are left out, and so are rows beyond the forecast.
        """
        value, steps = self.panel.value_name, max(map(len, self.forecasts))
        found = self.panel.following(truth, [value], steps, "truth")
        known = {name: values[:, 0] for name, values in found.items() if not np.isnan(values).all()}
        if not known:
            raise ValueError(
                f"truth has no value of the {steps} steps that were forecast; the columns {self.panel.id_name!r} and "
                f"{self.panel.time_name!r} must hold names and times of the forecast."
            )
        rows = []
        for name, values in known.items():
            rows.append({self.panel.id_name: name, **self[name].score(values, season=season)})
        return self.panel.rows(rows)
