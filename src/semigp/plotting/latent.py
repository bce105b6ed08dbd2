"""The rows in the plane of the two latent inputs that matter most."""

from __future__ import annotations

from typing import Any

import numpy as np

from .style import BESIDE, canvas, look, plain


def draw_latent(model: Any, axes: Any = None, classes: Any = None, labelled: Any = None) -> dict[str, np.ndarray]:
    """Means of q(x) in the two latent inputs that matter most, with ellipses of one standard deviation.

    Colours show `classes` (n,), by default those found by a classifier. Rows whose numbers are in `labelled` get a
    dark rim. A single latent input is drawn against the row number. Returns "x", "y", "x_std", "y_std" and "class".
    """
    mean, std, relevance = (np.asarray(getattr(model, name)) for name in ("embedding_", "embedding_std_", "relevance_"))
    classes = getattr(model, "transduction_", np.zeros(len(mean), int)) if classes is None else classes
    if np.shape(classes) != (len(mean),):
        raise ValueError(f"classes has shape {np.shape(classes)}; give one class for each of the {len(mean)} rows.")
    table, labels = _places(mean, std, relevance)
    table["class"] = np.asarray(classes)
    rim = np.zeros(len(mean), bool) if labelled is None else np.isin(np.arange(len(mean)), labelled)
    names = np.unique(table["class"])
    with canvas(axes) as axes:
        for number, name in enumerate(names):
            _draw_class(axes, table, table["class"] == name, rim, plain(name), look(number))
        axes.set(xlabel=labels[0], ylabel=labels[1])
        if len(names) > 1:
            axes.legend(title="class", markerscale=2, **BESIDE)
    return table


def _places(mean: np.ndarray, std: np.ndarray, relevance: np.ndarray) -> tuple[dict[str, np.ndarray], tuple[str, str]]:
    if mean.shape[1] == 1:
        table = {"x": mean[:, 0], "y": np.arange(len(mean)), "x_std": std[:, 0], "y_std": np.zeros(len(mean))}
        return table, ("latent input 1", "row")
    first, second = np.argsort(relevance)[::-1][:2]
    table = {"x": mean[:, first], "y": mean[:, second], "x_std": std[:, first], "y_std": std[:, second]}
    return table, (f"latent input {first + 1}", f"latent input {second + 1}")


def _draw_class(axes: Any, table: dict, rows: np.ndarray, rim: np.ndarray, label: str, style: dict[str, str]) -> None:
    from matplotlib.collections import EllipseCollection

    places = np.column_stack([table["x"], table["y"]])
    ellipses = EllipseCollection(
        2 * table["x_std"][rows], 2 * table["y_std"][rows], np.zeros(rows.sum()), units="xy", offsets=places[rows],
        transOffset=axes.transData, facecolors=style["color"], alpha=0.06, lw=0, rasterized=True,
    )  # fmt: skip
    axes.add_collection(ellipses)
    axes.scatter(*places[rows].T, s=9, lw=0, alpha=0.8, label=label, rasterized=True, **style)
    axes.scatter(*places[rows & rim].T, s=40, edgecolors="black", lw=1.2, zorder=4, **style)
