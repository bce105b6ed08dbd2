"""What outputs depend on in the past of the inputs: a few linear filters of the inputs. NumPy.

An output may depend on inputs in no linear way at all: a sensor that measures a speed without its direction shows the
same for an input and for its opposite. So outputs are regressed on windows w of the inputs by a GP of linear and
quadratic functions, and the filters are the directions along which its mean changes most: the leading eigenvectors of
Σ_t ∇f(w_t) ∇f(w_t)ᵀ.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

# The length of windows, at most, and the share of a series that one may take; how many windows are used, at most.
_WINDOW, _SHARE, _MAX_ROWS = 30, 6, 500
# Candidates for the noise, the memory in steps, and the variance of linear functions relative to quadratic ones.
_NOISE, _MEMORY, _LINEAR = (0.03, 0.1, 0.3, 1.0), (5.0, 10.0, 20.0, np.inf), (0.1, 1.0)
_CONSTANT = 0.1


def input_filters(values: np.ndarray, inputs: np.ndarray, is_first: np.ndarray, count: int) -> np.ndarray:
    """Filtered inputs (n, count) of unit variance, NaN at the first steps of each series.

    `values` (n, p) and `inputs` (n, c) of several series stand one behind the other; `values` may hold NaN.
    """
    windows, rows = _windows(inputs, is_first)
    found = np.full((len(inputs), count), np.nan)
    if not len(rows):
        return found
    total = np.zeros((windows.shape[1], windows.shape[1]))
    for column in values.T:
        known = np.flatnonzero(~np.isnan(column[rows]))
        some = known[np.unique(np.linspace(0, len(known) - 1, min(len(known), _MAX_ROWS)).astype(int))]
        total += _gradients(windows[some], column[rows[some]])
    directions = np.linalg.eigh(total)[1][:, ::-1][:, :count]
    filtered = windows @ directions
    found[rows, : filtered.shape[1]] = filtered / np.maximum(filtered.std(axis=0), 1e-12)
    return found


def _windows(inputs: np.ndarray, is_first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The inputs up to some steps, latest first (k, lags · c), and the numbers of these steps (k,)."""
    starts = np.flatnonzero(is_first)
    ends = np.append(starts[1:], len(inputs))
    span = int(np.clip((ends - starts).max() // _SHARE, 1, _WINDOW))
    parts = [
        (sliding_window_view(inputs[start:end], span, axis=0)[:, :, ::-1], np.arange(start + span - 1, end))
        for start, end in zip(starts, ends, strict=True)
        if end - start >= span
    ]
    windows, rows = (np.concatenate(part) for part in zip(*parts, strict=True))
    return windows.reshape(len(rows), inputs.shape[1], span).transpose(0, 2, 1).reshape(len(rows), -1), rows


def _gradients(windows: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Σ_t ∇f(w_t) ∇f(w_t)ᵀ of the GP with the highest evidence, the scale of which is integrated out."""
    targets = targets - targets.mean()
    candidates = itertools.product(_NOISE, _MEMORY, _LINEAR)
    noise, memory, linear = max(candidates, key=lambda some: _evidence(windows, targets, *some))
    points, scale = _scaled(windows, memory)
    gram = points @ points.T
    covariance = linear * gram + gram**2 + _CONSTANT
    weights = np.linalg.solve(covariance + noise * np.eye(len(gram)), targets)
    form = points.T @ (weights[:, None] * points)
    slopes = (2.0 * points @ form + linear * weights @ points) * scale
    return slopes.T @ slopes / len(points)


def _scaled(windows: np.ndarray, memory: float) -> tuple[np.ndarray, np.ndarray]:
    """Windows whose columns fade with the lag, and the factors of the columns. Lags are in units of a column."""
    scale = np.exp(-np.arange(windows.shape[1]) / memory)
    scale = scale / np.sqrt(np.sum(scale**2))
    return windows * scale, scale


def _evidence(windows: np.ndarray, targets: np.ndarray, noise: float, memory: float, linear: float) -> float:
    points, _ = _scaled(windows, memory)
    gram = points @ points.T
    factor = np.linalg.cholesky(linear * gram + gram**2 + _CONSTANT + noise * np.eye(len(gram)))
    whitened = np.linalg.solve(factor, targets)
    return -0.5 * len(targets) * np.log(whitened @ whitened) - np.sum(np.log(np.diag(factor)))
