"""Data with two views, of which one is predicted from the other, and data with known shared and private inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import datasets

N_TRAIN, N_NEW = 300, 300
# Of the 59 features of a motion: 14 angles of the legs, 36 of spine, arms and head, and 9 of the root.
_LEGS, _UPPER, _ROOT = slice(0, 14), slice(14, 50), slice(50, 59)
Views = dict[str, np.ndarray]


@dataclass(frozen=True)
class Problem:
    """Training rows and new rows, NaN where missing, and the complete new rows."""

    training: Views
    new: Views
    truth: Views
    scale: Views  # what errors in each column are divided by
    directions: tuple[tuple[str, str], ...]  # (given view, other view)

    def is_labels(self, view: str) -> bool:
        """Whether a view is a column of labels."""
        return self.truth[view].ndim == 1


def load(name: str, share: float, seed: int) -> Problem:
    """A problem with a share of the entries missing: in all views of the training rows, and in those that are given."""
    random = np.random.default_rng(seed)
    views, training, new = _LOADERS[name](random)
    parts = [{view: _with_holes(rows[some], share, random) for view, rows in views.items()} for some in (training, new)]
    names = list(views)
    directions = ((names[0], names[1]), (names[1], names[0]))
    truth = {view: rows[new] for view, rows in views.items()}
    scale = {view: _scale(rows[training], name) for view, rows in views.items()}
    return Problem(*parts, truth, scale, directions[:1] if "labels" in views else directions)


def _with_holes(rows: np.ndarray, share: float, random: np.random.Generator) -> np.ndarray:
    holes = random.random(rows.shape) < share
    return np.where(holes, None if rows.ndim == 1 else np.nan, rows)


def _scale(rows: np.ndarray, name: str) -> np.ndarray:
    """Standard deviations of columns; pixels have a common one."""
    if rows.ndim == 1:
        return np.ones(1)
    each = np.std(rows, axis=0)
    return np.full(len(each), np.sqrt(np.mean(each**2))) if name == "USPS" else each


def _split(n: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    order = random.permutation(n)
    return order[:N_TRAIN], order[N_TRAIN : N_TRAIN + N_NEW]


def _oil(random: np.random.Generator) -> Any:
    rows, _ = datasets.load_oil()
    return {"first six": rows[:, :6], "last six": rows[:, 6:]}, *_split(len(rows), random)


def _oil_labels(random: np.random.Generator) -> Any:
    rows, labels = datasets.load_oil()
    return {"columns": rows, "labels": labels.astype(object)}, *_split(len(rows), random)


def _mocap(random: np.random.Generator) -> Any:
    """Half of the motions for training, and the others for new rows."""
    rows, motion = datasets.load_mocap()
    motions = random.permutation(motion.max() + 1)
    half = len(motions) // 2
    parts = [random.permutation(np.flatnonzero(np.isin(motion, some))) for some in (motions[:half], motions[half:])]
    views = {"upper body": rows[:, _UPPER], "lower body": np.hstack([rows[:, _LEGS], rows[:, _ROOT]])}
    return views, parts[0][:N_TRAIN], parts[1][:N_NEW]


def _usps(random: np.random.Generator) -> Any:
    rows, _ = datasets.load_usps()
    images = rows.reshape(-1, 16, 16)
    halves = {"left": images[:, :, :8].reshape(-1, 128), "right": images[:, :, 8:].reshape(-1, 128)}
    return halves, *_split(len(rows), random)


_LOADERS = {"oil": _oil, "oil, labels": _oil_labels, "mocap": _mocap, "USPS": _usps}
NAMES = tuple(_LOADERS)


# ---- known shared and private inputs

N_MADE, _WIDTH, _NOISE_STD = 150, 10, 0.1


def make_known(seed: int) -> tuple[Views, np.ndarray]:
    """Two views of ten columns, and the three inputs (n, 3) behind them: one shared, one of "a", and one of "b".

    A column is a sine of the shared input plus a sine of the view's own input, with random amplitudes and phases, and
    noise with a tenth of the standard deviation.
    """
    random = np.random.default_rng(seed)
    inputs = random.normal(size=(N_MADE, 3))
    views = {}
    for own, name in enumerate("ab", 1):
        amplitudes, phases = random.normal(size=(2, _WIDTH)), random.uniform(0.0, 2.0 * np.pi, (2, _WIDTH))
        rows = amplitudes[0] * np.sin(inputs[:, :1] + phases[0])
        rows = rows + amplitudes[1] * np.sin(inputs[:, own : own + 1] + phases[1])
        rows = rows / rows.std()
        views[name] = rows + _NOISE_STD * random.normal(size=rows.shape)
    return views, inputs
