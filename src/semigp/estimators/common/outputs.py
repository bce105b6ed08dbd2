"""What a model predicts: as arrays, or as frames and series with the index of X."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_consistent_length

from ...frames import FrameKind
from .numbers import read_numbers
from .sklearn_private import OUTPUT_CONFIG, take_rows

_LIBRARIES = ("default", "pandas", "polars")


class PredictsFrames:
    """A model whose predictions are arrays, unless `set_output` asks for frames."""

    def set_output(self, *, transform: str | None = None, predict: str | None = None) -> Any:
        """Choose what the methods return: arrays ("default"), or series and frames of "pandas" or "polars".

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, optional
            What `transform` returns, as in scikit-learn.
        predict : {"default", "pandas", "polars"}, optional
            What `predict` and `predict_proba` return. A series or frame of pandas has the index of X. With
            ``return_std=True`` there is one frame: the outputs, and their standard deviations as ``…_std``.
        """
        if transform is not None:
            if not hasattr(self, "transform"):
                raise ValueError(f"{type(self).__name__} has no transform. For predictions: set_output(predict=…).")
            super().set_output(transform=transform)  # type: ignore[misc]
        if predict is not None:
            if predict not in _LIBRARIES:
                raise ValueError(f"predict={predict!r} is not one of {', '.join(map(repr, _LIBRARIES))}.")
            setattr(self, OUTPUT_CONFIG, getattr(self, OUTPUT_CONFIG, {}) | {"predict": predict})
        return self

    def _framed(self, X: Any, columns: Mapping[str, np.ndarray]) -> Any:
        """Columns as one frame, or a single one as a series; None if arrays are wanted."""
        library = getattr(self, OUTPUT_CONFIG, {}).get("predict", "default")
        if library == "default":
            return None
        if library == "pandas":
            import pandas

            kind = FrameKind.of(X)
            frame = pandas.DataFrame(dict(columns), index=None if kind is None else kind.index)
            return frame.iloc[:, 0] if len(columns) == 1 else frame
        frame = nw.from_dict(dict(columns), backend=library)
        return nw.to_native(frame[next(iter(columns))] if len(columns) == 1 else frame)


class PredictsOutputs(PredictsFrames):
    """A regressor: what it predicts and how that is scored, from the means and standard deviations that it computes."""

    _y_is_flat: bool

    def predict(self, X: Any, return_std: bool = False, X_std: Any = None) -> Any:
        """Mean, and on request standard deviation, of new outputs.

        A missing entry is integrated out given the row's other entries. An entry with an error bar is N(x, X_std²). The
        standard deviation is that of a new observation: it includes the uncertainty of function and inputs, and noise.
        """
        mean, std = self._output_moments(X, X_std)
        frame = self._framed(X, self._columns_of(mean, std if return_std else None))
        if frame is not None:
            return frame
        if self._y_is_flat:
            mean, std = mean[:, 0], std[:, 0]
        return (mean, std) if return_std else mean

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² of the predictions of the rows in which all outputs are known: 1 is perfect, 0 as good as the mean."""
        outputs = read_numbers(y, "y", ensure_2d=False)
        check_consistent_length(X, outputs)
        outputs = outputs.reshape(len(outputs), -1)
        known = np.flatnonzero(~np.isnan(outputs).any(axis=1))
        if len(known) < 2:
            raise ValueError(f"y has {len(known)} rows in which all outputs are known; a score needs 2.")
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        return float(
            r2_score(outputs[known], self._output_moments(take_rows(X, known), None)[0], sample_weight=weights)
        )

    def _output_moments(self, X: Any, X_std: Any) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation (n, p) of new outputs."""
        raise NotImplementedError

    def _columns_of(self, mean: np.ndarray, std: np.ndarray | None) -> dict[str, np.ndarray]:
        """The columns of a frame of predictions, by their names."""
        names = names_of_outputs(self, mean.shape[1])
        spreads = {} if std is None else dict(zip([f"{name}_std" for name in names], std.T, strict=True))
        return dict(zip(names, mean.T, strict=True)) | spreads


def names_of_outputs(model: Any, count: int) -> list[str]:
    """The names that the outputs had in the fit, or otherwise y, or y0, y1 and so on."""
    return getattr(model, "output_names_", None) or (["y"] if count == 1 else [f"y{k}" for k in range(count)])
