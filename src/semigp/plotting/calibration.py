"""Calibration: whether intervals and probabilities are right as often as they claim."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri
from scipy.stats import binom

from .. import scores
from .style import ABOVE, COLOURS, Drawn, canvas, drawn

_LEVELS = np.append(np.arange(1, 20) / 20, 0.99)


@drawn
def draw_calibration(truth: Any, mean: Any, std: Any, ax: Any = None) -> Drawn:
    """The share of true values inside central Gaussian intervals, against the level of the intervals (5 to 99 %).

    NaN in the truth is left out. If all intervals are right and the true values independent, the share is inside the
    grey region with a probability of 95 % at each level. Data: "level" and "share".
    """
    truth, mean, std = np.broadcast_arrays(*(np.asarray(part, float) for part in (truth, mean, std)))
    seen = ~np.isnan(truth)
    if not seen.any():
        raise ValueError("truth has no value: there is nothing to compare with. Give the true values.")
    distance = np.abs(truth - mean)[seen]
    # An interval of level a is m ± s Φ⁻¹((1 + a)/2).
    share = np.mean(distance <= ndtri((1 + _LEVELS[:, None]) / 2) * std[seen], axis=1)
    low, high = binom.ppf([[0.025], [0.975]], len(distance), _LEVELS) / len(distance)
    with canvas(ax, (4.2, 4.0)) as axes:
        region = [np.concatenate([[0.0], edge, [1.0]]) for edge in (_LEVELS, low, high)]
        axes.plot(_LEVELS, share, "o-", color=COLOURS[0], ms=3.5, lw=1.4, label="observed", zorder=3)
        axes.fill_between(*region, color="0.85", lw=0, label=f"95 % by chance, n = {len(distance)}")
        _draw_diagonal(axes)
        axes.set(xlabel="level of the interval", ylabel="share of truths inside")
        axes.legend(ncols=2, **ABOVE)
    return axes, {"level": _LEVELS.copy(), "share": share}


@drawn
def draw_reliability(truth: Any, probabilities: Any, classes: Any = None, ax: Any = None) -> Drawn:
    """The share of right predictions against their confidence, in ten bins. Larger dots stand for more rows.

    `classes` are the names of the columns of the probabilities, such as `model.classes_`, by default the column
    numbers; `truth` holds one of them for each row. Data: "confidence", "share" and "count" of the bins that are not
    empty.
    """
    probabilities = np.asarray(probabilities, float)
    numbers = _class_numbers(np.asarray(truth), probabilities, classes)
    confidence, share, count = scores.reliability(numbers, probabilities)
    with canvas(ax, (4.2, 4.0)) as axes:
        _draw_diagonal(axes)
        axes.plot(confidence, share, color=COLOURS[0], lw=1, alpha=0.6)
        axes.scatter(confidence, share, s=12 + 250 * count / count.sum(), color=COLOURS[0], alpha=0.8, zorder=3)
        error = scores.calibration_error(numbers, probabilities)
        axes.set(xlabel="confidence in the predicted class", ylabel="share of right predictions", ylim=(-0.03, 1.05))
        axes.set_title(f"{count.sum()} rows, calibration error {error:.3f}", fontsize="medium")
    return axes, {"confidence": confidence, "share": share, "count": count}


def _draw_diagonal(axes: Any) -> None:
    axes.plot([0, 1], [0, 1], color="black", lw=1, ls="--")


def _class_numbers(truth: np.ndarray, probabilities: np.ndarray, classes: Any) -> np.ndarray:
    """For each row, the column of the probabilities that belongs to its true class."""
    if probabilities.ndim != 2 or truth.shape != probabilities.shape[:1]:
        raise ValueError(
            f"truth has shape {truth.shape} and probabilities {probabilities.shape}; give (n,) and (n, classes)."
        )
    classes = np.arange(probabilities.shape[1]) if classes is None else np.asarray(classes)
    if len(classes) != probabilities.shape[1]:
        raise ValueError(f"there are {len(classes)} classes for {probabilities.shape[1]} columns of probabilities.")
    is_class = truth[:, None] == classes
    if not np.all(is_class.any(axis=1)):
        row = int(np.argmin(is_class.any(axis=1)))
        raise ValueError(
            f"truth is {truth[row]} at row {row}, which is none of the classes {', '.join(map(str, classes))}. "
            "Give classes=model.classes_ and leave out rows of other classes."
        )
    return is_class.argmax(axis=1)
