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
        """A frame with the scores of every series, given a frame of true values with the columns of the panel."""
        found = self.panel.read_more(truth, self.panel.value_name)
        self.panel.check_follows(found, "truth")
        rows = []
        for name, values in zip(found.names, found.series, strict=True):
            rows.append({self.panel.id_name: name, **self[name].score(values[:, 0], season=season)})
        return self.panel.rows(rows)
