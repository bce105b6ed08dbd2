"""The forecast of a series: moments or sample paths of its next values."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
from scipy.special import ndtri

from .. import scores
from .reading import in_order, read_series
from .timeline import Timeline

_MOST_SHOWN = 10  # steps in a notebook


@dataclass(frozen=True)
class Forecast:
    """The predictive distribution of the next values of a series.

    Sampled forecasts hold `paths`, draws of the whole future, from which everything else is computed. Other forecasts
    are a Gaussian for each step. The first axis of an array is the steps; series with columns have a second axis.
    """

    mean: np.ndarray
    std: np.ndarray
    timeline: Timeline = field(repr=False)
    past: np.ndarray = field(repr=False)  # (T, p), the series before the forecast
    paths: np.ndarray | None = field(default=None, repr=False)  # (n_paths, steps) or (n_paths, steps, p)
    n_diverged: int = 0  # number of paths that reached the bounds and were held there

    @classmethod
    def from_paths(cls, paths: np.ndarray, timeline: Timeline, past: np.ndarray, n_diverged: int = 0) -> Forecast:
        """A forecast from sample paths (n_paths, steps, p)."""
        mean, std = paths.mean(axis=0), paths.std(axis=0)
        if timeline.is_flat:
            mean, std, paths = mean[:, 0], std[:, 0], paths[:, :, 0]
        return cls(mean, std, timeline, past, paths, n_diverged)

    @classmethod
    def from_moments(cls, mean: np.ndarray, std: np.ndarray, timeline: Timeline, past: np.ndarray) -> Forecast:
        """A forecast from means and standard deviations, both (steps, p)."""
        if timeline.is_flat:
            mean, std = mean[:, 0], std[:, 0]
        return cls(mean, std, timeline, past)

    def __len__(self) -> int:
        return len(self.mean)

    @property
    def index(self) -> Any:
        """The times of the forecast: the continued index of the series, or 0, 1, … if it has no index."""
        return self.timeline.after(len(self))

    def quantile(self, levels: Any) -> np.ndarray:
        """Quantiles: (steps, …) for one level, (levels, steps, …) for several."""
        levels = np.asarray(levels, float)
        if np.any((levels <= 0) | (levels >= 1)) or levels.ndim > 1:
            raise ValueError(f"levels must be one probability between 0 and 1, or a list of them; got {levels}.")
        if self.paths is not None:
            return np.quantile(self.paths, levels, axis=0)
        return self.mean + ndtri(levels).reshape(levels.shape + (1,) * self.mean.ndim) * self.std

    def to_frame(self, levels: Any = (0.025, 0.25, 0.5, 0.75, 0.975)) -> Any:
        """A tidy frame on the time index: a row of mean, std and quantiles for each step and column of the series."""
        levels = np.atleast_1d(levels)
        bands = self.quantile(levels)
        named = {"mean": self.mean, "std": self.std, **{f"q{q:g}": band for q, band in zip(levels, bands, strict=True)}}
        index = self.index
        if self.timeline.is_flat:
            return self.timeline.frame(named, index)
        names, steps = self.timeline.names, len(self)
        columns = {"series": np.tile(names, steps), **{key: np.ravel(value) for key, value in named.items()}}
        repeated = np.repeat(index, len(names)) if isinstance(index, np.ndarray) else index.repeat(len(names))
        return self.timeline.frame(columns, repeated)

    def _repr_html_(self) -> str:
        """The first steps as a table, for notebooks."""
        levels = (0.025, 0.5, 0.975)
        columns = {"mean": self.mean, "std": self.std}
        columns |= {f"q{q:g}": band for q, band in zip(levels, self.quantile(levels), strict=True)}
        shown, names = min(len(self), _MOST_SHOWN), self.timeline.names
        head = "".join(f"<th>{escape(name)}</th>" for name in ("time", "series", *columns))
        lines = []
        for step, column in np.ndindex(shown, len(names)):
            cells = (f"{values.reshape(len(self), -1)[step, column]:.4g}" for values in columns.values())
            texts = [str(self.index[step]), str(names[column]), *cells]
            lines.append("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in texts) + "</tr>")
        paths = "" if self.paths is None else f", {len(self.paths)} paths"
        more = f"; the first {shown}" if shown < len(self) else ""
        return f"<p>Forecast of {len(self)} steps{paths}{more}</p><table><tr>{head}</tr>{''.join(lines)}</table>"

    def score(self, truth: Any, first: int | None = None, season: int = 1) -> dict[str, float]:
        """MSE, MAE, NLPD, CRPS, coverage of 95 % intervals, MASE and quantile loss, given the true values.

        NaN in the truth is left out. If there are paths, CRPS and coverage are computed from them, and NLPD from a
        Gaussian with their moments. Only the `first` steps count, by default all steps with a truth. MASE (of the
        median) and the quantile loss (mean over 13 levels) are in units of the mean of |y(t) - y(t - season)| in the
        past.
        """
        values, found = read_series(truth, "truth")
        if values.shape[1] != len(self.timeline.names):
            raise ValueError(f"truth has {values.shape[1]} columns but the forecast has {len(self.timeline.names)}.")
        values = in_order(values, found, self.timeline.names, "truth")
        if first is not None and first < 1:
            raise ValueError(f"first is the number of steps to score and must be at least 1; got {first}.")
        count = min(len(values) if first is None else first, len(values), len(self))
        values = values[:count] if self.mean.ndim > 1 else values[:count, 0]
        mean, std = self.mean[:count], self.std[:count]
        # A single path has standard deviation 0, and so no density elsewhere: its NLPD is infinite.
        some = {name: score for name, score in scores.ALL.items() if name != "NLPD" or (std > 0).all()}
        found = {"NLPD": np.inf} | {name: score(values, mean, np.maximum(std, 1e-140)) for name, score in some.items()}
        if self.paths is not None:
            low, high = np.quantile(self.paths[:, :count], [0.025, 0.975], axis=0)
            seen = ~np.isnan(values)
            found["CRPS"] = scores.sample_crps(values, self.paths[:, :count])
            found["coverage"] = float(np.mean(((low <= values) & (values <= high))[seen]))
        return found | self._scaled_scores(values, count, season)

    def _scaled_scores(self, values: np.ndarray, count: int, season: int) -> dict[str, float]:
        past = self.past if self.mean.ndim > 1 else self.past[:, 0]
        unit = scores.mase_scale(past, season) if len(past) > season else np.nan
        bands = self.quantile(scores.LEVELS)[:, :count]
        return {
            "MASE": scores.mean_absolute_error(values, bands[len(bands) // 2]) / unit,
            "quantile loss": scores.quantile_loss(values, bands, np.array(scores.LEVELS)) / unit,
        }

    def plot(self, truth: Any = None, history: int | None = None, ax: Any = None, n_paths: int = 3) -> Any:
        """A fan chart: medians, bands of 50, 80 and 95 %, some of the paths, the past and, if given, the truth."""
        from ..plotting.fan import draw_fan

        return draw_fan(self, ax, truth, history, n_paths)
