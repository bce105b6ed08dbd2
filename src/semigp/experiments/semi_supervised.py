"""Figure 4 of the paper: classification from a growing number of labels.

All rows except the test rows are embedded. Some of them have labels: at least one of each class, and a larger set of
labels contains the smaller ones. Every method sees the same columns, centred and divided by their common standard
deviation, or each by its own if the columns have different units.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets as sklearn_datasets
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

from .. import datasets, scores
from ..baselines import Embedded, LabelledRows, OneHotGP
from ..estimators import BayesianGPLVM, SemiSupervisedGPClassifier
from .reporting import FIRST_SEED, Row, Summary, markdown_table, run_cells, save_figure, summarise, write_results

OURS = "semigp"
PUBLISHED = ("q(x) means + LR", "q(x) 6 draws + LR", "q(x) 50 draws + LR")
LABELLED_ONLY = ("GP-LVM of labelled rows + LR", "PCA of labelled rows + LR")
# Number of training rows, of test rows, and of latent inputs of the paper's competitors, and label counts.
DATA: dict[str, tuple[int, int, int, tuple[int, ...]]] = {
    "oil": (300, 700, 8, (10, 20, 40, 70, 100, 130, 160)),
    "usps": (1200, 800, 10, (12, 20, 40, 80, 160, 400)),
    "digits": (1000, 797, 10, (30, 60, 120, 300)),
    "wine": (110, 68, 8, (9, 20, 40)),
    "breast cancer": (350, 219, 8, (6, 12, 25, 60)),
}
TITLES = {"oil": "oil flow", "usps": "USPS 0, 2, 4, 6", "digits": "digits 0-9 (8 × 8)"}
PROFILES: dict[str, dict[str, Any]] = {
    "quick": {"trials": {"oil": 2, "usps": 1}},
    "paper": {"trials": {"oil": 16, "usps": 4, "digits": 4, "wine": 16, "breast cancer": 16}},
}


def load(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows and class numbers for training, and for testing."""
    rows, classes = {
        "oil": datasets.load_oil,
        "usps": lambda: datasets.load_usps((0, 2, 4, 6)),
        "digits": lambda: sklearn_datasets.load_digits(return_X_y=True),
        "wine": lambda: sklearn_datasets.load_wine(return_X_y=True),
        "breast cancer": lambda: sklearn_datasets.load_breast_cancer(return_X_y=True),
    }[name]()
    n_train, n_test, _, _ = DATA[name]
    order = np.random.default_rng(seed).permutation(len(rows))[: n_train + n_test]
    rows, classes = rows[order], np.unique(classes, return_inverse=True)[1][order]
    train = rows[:n_train]
    each = train.std(axis=0)
    unit = each if name in ("wine", "breast cancer") else np.sqrt(np.mean(each**2))
    rows = (rows - train.mean(axis=0)) / unit
    return rows[:n_train], classes[:n_train], rows[n_train:], classes[n_train:]


def label_order(classes: np.ndarray, seed: int) -> np.ndarray:
    """The order in which rows get their labels: one row of each class first, then the others at random."""
    order = np.random.default_rng(seed + 10**6).permutation(len(classes))
    first = [np.flatnonzero(classes[order] == number)[0] for number in np.unique(classes)]
    return np.concatenate([order[first], np.delete(order, first)])


class _Remembered(TransformerMixin, BaseEstimator):
    """A fitted embedding that remembers its results, so that the same rows are embedded only once."""

    def __init__(self, lvm: BayesianGPLVM) -> None:
        self.lvm, self._known = lvm, {}

    def __sklearn_clone__(self) -> _Remembered:
        return self

    def fit(self, X: Any, y: Any = None) -> _Remembered:
        return self

    def transform(self, X: np.ndarray, return_std: bool = False) -> Any:
        known = {row.tobytes(): self._known.get(row.tobytes()) for row in X}
        new = np.array([row for row in X if known[row.tobytes()] is None])
        if len(new):
            for row, *moments in zip(new, *self.lvm.transform(new, return_std=True), strict=True):
                self._known[row.tobytes()] = moments
        mean, std = (np.array(part) for part in zip(*(self._known[row.tobytes()] for row in X), strict=True))
        return (mean, std) if return_std else mean


def competitors(X: np.ndarray, seed: int, n_components: int, embedding: _Remembered) -> dict[str, Callable[[int], Any]]:
    """For each method, a function that makes its classifier for a number of labels."""
    # The width is smaller than the distance between neighbouring rows, which was the best that we tried
    # (scikit-learn's default of 20 is for columns between 0 and 1).
    gamma = 8.0 / np.mean(NearestNeighbors(n_neighbors=7).fit(X).kneighbors()[0][:, -1] ** 2)

    def regression(strength: float = 1.0) -> LogisticRegression:
        return LogisticRegression(C=strength, max_iter=5000)

    def embedded(n_samples: int) -> Callable[[int], Any]:
        return lambda n: Embedded(embedding, regression(), n_samples, random_state=seed)

    def gplvm_of_labelled(n: int) -> Any:
        lvm = BayesianGPLVM(min(n_components, n - 1), scaling="common", random_state=seed)
        return Embedded(lvm, regression(), labelled_only=True)

    return {
        PUBLISHED[0]: embedded(0),
        PUBLISHED[1]: embedded(6),
        PUBLISHED[2]: embedded(50),
        LABELLED_ONLY[0]: gplvm_of_labelled,
        LABELLED_ONLY[1]: lambda n: Embedded(PCA(min(n_components, n)), regression(), labelled_only=True),
        "PCA of all rows + LR": lambda n: Embedded(PCA(n_components), regression()),
        "LR, C = 1": lambda n: LabelledRows(regression()),
        "LR, C = 100": lambda n: LabelledRows(regression(100.0)),
        "SVC, C = 1": lambda n: LabelledRows(SVC()),
        "SVC, C = 100": lambda n: LabelledRows(SVC(C=100.0)),
        "1-NN": lambda n: LabelledRows(KNeighborsClassifier(1)),
        "one-hot GP": lambda n: OneHotGP(),
        "LabelSpreading, knn": lambda n: LabelSpreading(kernel="knn", n_neighbors=7),
        "LabelSpreading, rbf": lambda n: LabelSpreading(kernel="rbf", gamma=gamma),
        "self-training (LR)": lambda n: SelfTrainingClassifier(regression()),
    }


def run_cell(name: str, seed: int) -> list[Row]:
    """All methods and label counts on one split."""
    X, classes, X_test, truth = load(name, seed)
    _, _, n_components, counts = DATA[name]
    order = label_order(classes, seed)
    started = time.perf_counter()
    # `load` has scaled the columns already.
    ours = SemiSupervisedGPClassifier(scaling="common", random_state=seed)
    ours.fit(X, _labels(classes, order[: counts[0]]))
    embedding_seconds = time.perf_counter() - started
    others = competitors(X, seed, n_components, _Remembered(ours.lvm_))
    rows = []
    for count in counts:
        y = _labels(classes, order[:count])
        builders = {OURS: lambda n, y=y: ours.relabel(y), **others}
        for method, build in builders.items():
            started = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                warnings.filterwarnings("ignore", "y contains no unlabeled samples")
                warnings.filterwarnings(
                    "ignore", "invalid value encountered in divide"
                )  # LabelSpreading, see `_scores`
                model = build(count)
                model = model if method == OURS else model.fit(X, y)
                row: Row = {"data": name, "labels": count, "seed": seed, "method": method}
                row |= _scores(model, X_test, truth)
            row["seconds"] = time.perf_counter() - started + (embedding_seconds if method == OURS else 0.0)
            rows.append(row)
    return rows


def _labels(classes: np.ndarray, labelled: np.ndarray) -> np.ndarray:
    y = np.full(len(classes), -1)
    y[labelled] = classes[labelled]
    return y


def _scores(model: Any, X: np.ndarray, truth: np.ndarray) -> Row:
    """Errors, and for methods with probabilities their log loss and calibration error; 1-NN has no probabilities."""
    errors = {"errors": float(np.sum(model.predict(X) != truth))}
    is_neighbour = isinstance(getattr(model, "classifier", None), KNeighborsClassifier)
    if is_neighbour or not hasattr(model, "predict_proba"):
        return errors
    # LabelSpreading returns NaN for rows that are far from all others.
    probabilities = np.nan_to_num(model.predict_proba(X), nan=1.0 / len(model.classes_))
    return errors | {
        "log loss": scores.log_loss(truth, probabilities),
        "calibration error": scores.calibration_error(truth, probabilities),
    }


def cells(profile: str) -> list[tuple]:
    """The arguments of every cell of a profile, the longest first. Each cell is independent of the others."""
    found = [(name, FIRST_SEED + k) for name, count in PROFILES[profile]["trials"].items() for k in range(count)]
    return sorted(found, key=lambda cell: cell[0] != "usps")


def run(profile: str, folder: Path, n_jobs: int = 2) -> list[Path]:
    """Run the experiment, and write the tables and the figures."""
    trials, started = PROFILES[profile]["trials"], time.perf_counter()
    rows = run_cells(run_cell, cells(profile), n_jobs, folder / "semi-supervised.csv")
    told = {"profile": profile, "first_seed": FIRST_SEED, "trials": trials, "data": DATA}
    path = write_results(folder, "semi-supervised", tables(rows), told, time.perf_counter() - started)
    return [path, *figure(rows, folder), *latent_figure(list(trials)[:2], folder)]


def tables(rows: list[Row]) -> str:
    """A table for each data set and score: mean ± standard error by method and label count, with the best in bold."""
    parts = ["# Classification with few labels\n"]
    for data in dict.fromkeys(row["data"] for row in rows):
        some = [row for row in rows if row["data"] == data]
        n_test, trials = DATA[data][1], len({row["seed"] for row in some})
        parts.append(f"\n## {data}: {n_test} test rows, {trials} trials, mean ± standard error\n")
        for score in ("errors", "log loss", "calibration error", "seconds"):
            found = summarise(some, ("method", "labels"), score)
            parts.append(f"\n### {data}, {score}\n\n" + _score_table(found, score))
    return "\n".join(parts)


def _score_table(found: dict, score: str) -> str:
    counts = sorted({count for _, count in found})
    best = {} if score == "seconds" else {c: min(v.mean for (_, k), v in found.items() if k == c) for c in counts}
    lines = []
    for method in dict.fromkeys(method for method, _ in found):
        texts = [found[method, c].text for c in counts]
        marked = (f"**{t}**" if found[method, c].mean == best.get(c) else t for t, c in zip(texts, counts, strict=True))
        lines.append([method, *marked])
    return markdown_table(["", *(f"{count} labels" for count in counts)], lines)


def figure(rows: list[Row], folder: Path) -> list[Path]:
    """Figure 4: errors against the number of labels, and log losses of the methods that have them."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from ..plotting import STYLE, draw_curves

    data = list(dict.fromkeys(name for name in TITLES if any(row["data"] == name for row in rows)))
    with plt.rc_context(STYLE):
        canvas, grid = plt.subplots(2, len(data), figsize=(4.6 * len(data), 7.6), squeeze=False)
        for column, name in zip(grid.T, data, strict=True):
            some = [row for row in rows if row["data"] == name]
            for axes, score in zip(column, ("errors", "log loss"), strict=True):
                found = summarise(some, ("method", "labels"), score)
                counts = sorted({count for _, count in found})
                # Methods without this score keep their place, so that the colours of the others do not change.
                none = Summary(np.nan, np.nan, 0)
                curves = {}
                for method in dict.fromkeys(row["method"] for row in rows):
                    values = [found.get((method, count), none) for count in counts]
                    curves[method] = ([v.mean for v in values], [v.error for v in values])
                draw_curves(axes, counts, curves, (OURS,), (), LABELLED_ONLY, is_log=True)
                axes.set(xscale="log", yscale="log", xlabel="labels", title=TITLES[name])
                axes.set_ylabel(f"errors out of {DATA[name][1]}" if score == "errors" else "log loss")
                axes.set_xticks(counts, [str(count) for count in counts], minor=False)
                axes.minorticks_off()
        handles, labels = grid[0, 0].get_legend_handles_labels()
        canvas.legend(handles, labels, loc="lower center", ncols=4)
        canvas.tight_layout(rect=(0, 0.13, 1, 1))
        return save_figure(canvas, folder / "semi-supervised")


def latent_figure(data: list[str], folder: Path) -> list[Path]:
    """The latent space of the first trial, coloured by the true classes; the labelled rows have a rim."""
    import matplotlib.pyplot as plt

    from ..plotting import STYLE, draw_latent

    with plt.rc_context(STYLE):
        canvas, grid = plt.subplots(1, len(data), figsize=(5.4 * len(data), 4.4), squeeze=False)
        for axes, name in zip(grid[0], data, strict=True):
            X, classes, _, _ = load(name, FIRST_SEED)
            labelled = label_order(classes, FIRST_SEED)[: DATA[name][3][1]]
            model = SemiSupervisedGPClassifier(scaling="common", random_state=FIRST_SEED)
            model.fit(X, _labels(classes, labelled))
            names = np.array({"usps": [0, 2, 4, 6]}.get(name, range(classes.max() + 1)))[classes]
            draw_latent(model, axes, names, labelled)
            axes.set_title(f"{TITLES.get(name, name)}: {len(labelled)} labels, {model.n_relevant_} relevant inputs")
        canvas.tight_layout()
        return save_figure(canvas, folder / "semi-supervised-latent")
