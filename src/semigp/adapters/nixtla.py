"""`GPForecaster` with the interface and the columns of Nixtla's libraries, without a need for any of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.base import clone

from ..core.numerics.checks import check_count
from ..estimators import GPForecaster
from ..series import Panel, PanelForecast, fill_gaps, read_panel

ID, TIME, TARGET, CUTOFF = "unique_id", "ds", "y", "cutoff"


class NixtlaGPForecaster:
    """Gaussian processes for frames as Nixtla's libraries have them: `semigp.GPForecaster` with `fit` and `predict`.

    Frames of pandas or polars have the columns `unique_id`, `ds` and `y`, and a row for each series and time. All other
    columns are covariates, which are known in advance. Forecasts have the columns `unique_id`, `ds` and `GPForecaster`
    (the median), and for each level such as 95 also `GPForecaster-lo-95` and `GPForecaster-hi-95`, so that
    `utilsforecast` can score and plot them. The frequency is read off the times. Missing times and NaN are gaps.

    Parameters
    ----------
    model : GPForecaster, optional
        The forecaster to use. It is cloned, and never changed.
    alias : str
        The name of the column of forecasts.
    n_paths : int
        Number of simulated futures, of which medians and intervals are computed.

    Attributes
    ----------
    model_ : GPForecaster
        The fitted forecaster.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from semigp import GPForecaster
    >>> from semigp.adapters.nixtla import NixtlaGPForecaster
    >>> days = pd.date_range("2024-01-01", periods=60)
    >>> df = pd.DataFrame({"unique_id": "a", "ds": days, "y": np.sin(np.arange(60) / 3)})
    >>> forecaster = NixtlaGPForecaster(GPForecaster(window=4, random_state=0), n_paths=50).fit(df)
    >>> list(forecaster.predict(h=5, level=[90]).columns)
    ['unique_id', 'ds', 'GPForecaster', 'GPForecaster-lo-90', 'GPForecaster-hi-90']
    """

    model_: GPForecaster

    def __init__(self, model: GPForecaster | None = None, *, alias: str = "GPForecaster", n_paths: int = 500) -> None:
        self.model = model
        self.alias = alias
        self.n_paths = n_paths

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r}, alias={self.alias!r}, n_paths={self.n_paths})"

    def fit(self, df: Any) -> NixtlaGPForecaster:
        """Learn all series of a frame."""
        model = self._new()
        model.fit(df, _covariates(df), TIME, id=ID, value=TARGET)
        self.model_ = model
        return self

    def predict(self, h: int, level: Sequence[float] | None = None, X_df: Any = None) -> Any:
        """Forecast the `h` steps after the end of each series.

        Parameters
        ----------
        h : int
            The number of steps.
        level : sequence of numbers between 0 and 100, optional
            The intervals to give, in per cent.
        X_df : frame, optional
            The covariates of these steps, with the columns `unique_id` and `ds`, if the model was fitted with some.
        """
        if not hasattr(self, "model_"):
            raise ValueError("This forecaster is not fitted yet: call fit(df) first, or use forecast(df, h).")
        levels = _read_levels(level)
        found = self.model_.forecast(h, n_paths=self.n_paths, covariates=X_df)
        return found.panel.frame(self._columns(found, levels))

    def forecast(self, df: Any, h: int, level: Sequence[float] | None = None, X_df: Any = None) -> Any:
        """Fit and forecast in one step. See `fit` and `predict`."""
        _read_levels(level)  # before the fit, which takes longer
        return self.fit(df).predict(h, level, X_df)

    def cross_validation(
        self,
        df: Any,
        h: int,
        n_windows: int = 1,
        step_size: int = 1,
        level: Sequence[float] | None = None,
        refit: bool = True,
    ) -> Any:
        """Forecasts of the last values of every series, from several times before them, beside these values.

        The last window ends at the end of a series, and each window before it `step_size` steps earlier. The column
        `cutoff` holds the last time that a forecast has seen. With `refit=False` the model is fitted to the first
        window only, and updated for the others. Covariates are those of the frame; where they are missing, they are
        filled along a straight line. Rows without a true value are left out.
        """
        for name, count in (("h", h), ("n_windows", n_windows), ("step_size", step_size)):
            check_count(name, count)
        levels = _read_levels(level)
        names = _covariates(df)
        panel = read_panel(df, ID, TIME, TARGET, names)
        _check_lengths(panel, h + (n_windows - 1) * step_size)
        rows = _Rows(panel, names)
        model, seen, parts = self._new(), None, []
        for window in range(n_windows):
            end = h + (n_windows - 1 - window) * step_size  # steps from the cutoff to the end of a series
            if refit or not window:
                model = self._new().fit(rows.between(None, end), names, TIME, id=ID, value=TARGET)
            else:
                model.update(rows.between(seen, end))
            ahead = rows.ahead(end, end - h)
            known = nw.to_native(ahead) if names else None
            found = model.forecast(h, n_paths=self.n_paths, covariates=known)
            cutoff = rows.last_before(end, h)
            frame = nw.from_native(found.panel.frame(self._columns(found, levels)), eager_only=True)
            frame = frame.with_columns(cutoff, ahead[TARGET])
            parts.append(frame.select(ID, TIME, CUTOFF, TARGET, *frame.columns[2:-2]))
            seen = end
        return _in_order(nw.concat(parts), n_windows, len(panel), h)

    def _new(self) -> GPForecaster:
        return GPForecaster() if self.model is None else clone(self.model)

    def _columns(self, found: PanelForecast, levels: list[float]) -> list[dict[str, np.ndarray]]:
        """The median and the ends of the intervals, for each series."""
        quantiles = {self.alias: 0.5}
        quantiles |= {f"{self.alias}-lo-{level}": 0.5 - level / 200 for level in reversed(levels)}
        quantiles |= {f"{self.alias}-hi-{level}": 0.5 + level / 200 for level in levels}
        bands = [each.quantile(list(quantiles.values())) for each in found.forecasts]
        return [dict(zip(quantiles, each, strict=True)) for each in bands]


class _Rows:
    """The rows of a panel on its grid, by their distance from the end of their series."""

    def __init__(self, panel: Panel, names: Sequence[str]) -> None:
        self.frame = _framed(panel, names, panel.covariates)
        filled = [fill_gaps(known) for known in panel.covariates] if names else panel.covariates
        self.filled = _framed(panel, names, filled)  # of steps to come, all covariates must be known
        self.left = np.concatenate([np.arange(len(values), 0, -1) for values in panel.series])  # 1 in the last row

    def between(self, first: int | None, last: int) -> Any:
        """Rows from `first` steps before the end, or from the beginning, until `last` steps before it."""
        return nw.to_native(self.frame[self._places(first, last)])

    def ahead(self, first: int, last: int) -> nw.DataFrame:
        """The same rows, with covariates where they were missing."""
        return nw.maybe_reset_index(self.filled[self._places(first, last)])

    def _places(self, first: int | None, last: int) -> list[int]:
        chosen = (self.left > last) & (self.left <= (len(self.left) if first is None else first))
        return np.flatnonzero(chosen).tolist()

    def last_before(self, end: int, h: int) -> nw.Series:
        """The last time that was seen, `h` times for each series."""
        rows = np.repeat(np.flatnonzero(self.left == end + 1), h)
        return nw.maybe_reset_index(self.frame[rows.tolist()])[TIME].alias(CUTOFF)


def _framed(panel: Panel, names: Sequence[str], covariates: list[np.ndarray]) -> nw.DataFrame:
    """The values and covariates of all series, in one frame."""
    parts = zip(panel.series, covariates, strict=True)
    columns = [{TARGET: values[:, 0], **dict(zip(names, known.T, strict=True))} for values, known in parts]
    return nw.from_native(panel.frame(columns, is_future=False), eager_only=True)


def _covariates(df: Any) -> list[str]:
    """The columns that are neither names nor times nor values."""
    table = nw.from_native(df, eager_only=True)
    missing = [name for name in (ID, TIME, TARGET) if name not in table.columns]
    if missing:
        raise ValueError(
            f"df has no column {', '.join(map(repr, missing))}; there are {', '.join(map(str, table.columns))}. "
            f"It needs {ID!r}, {TIME!r} and {TARGET!r}; rename yours."
        )
    return [name for name in table.columns if name not in (ID, TIME, TARGET)]


def _read_levels(level: Sequence[float] | None) -> list[float]:
    levels = [] if level is None else sorted(set(np.atleast_1d(level).tolist()))
    if not all(0 < each < 100 for each in levels):
        raise ValueError(f"level is a list of percentages between 0 and 100, such as [80, 95]; got {level!r}.")
    return levels


def _check_lengths(panel: Panel, needed: int) -> None:
    """Raise ValueError if a series has fewer than three steps before the first window."""
    for name, values in zip(panel.names, panel.series, strict=True):
        if len(values) < needed + 3:
            raise ValueError(
                f"Series {name!r} has {len(values)} steps; windows over the last {needed} need {needed + 3} or more. "
                "Use a smaller h, n_windows or step_size, or leave the series out."
            )


def _in_order(frame: nw.DataFrame, n_windows: int, n_series: int, h: int) -> Any:
    """Rows by series, then window, then step; those without a true value are left out."""
    order = np.arange(n_windows * n_series * h).reshape(n_windows, n_series, h).transpose(1, 0, 2).ravel()
    order = order[~np.isnan(frame[TARGET].to_numpy()[order])]
    return nw.to_native(nw.maybe_reset_index(frame[order.tolist()]))
