"""The rows in the plane of the two latent inputs that matter most, and which of them matter to which view."""

from __future__ import annotations

from typing import Any

import numpy as np

from .style import ABOVE, BESIDE, Drawn, canvas, drawn, look, plain


@drawn
def draw_latent(model: Any, ax: Any = None, classes: Any = None, labelled: Any = None) -> Drawn:
    """Means of q(x) in the two latent inputs that matter most, with ellipses of one standard deviation.

    Colours show `classes` (n,), by default those found by a classifier. Rows whose numbers are in `labelled` get a
    dark rim. A single latent input is drawn against the row number. Data: "x", "y", "x_std", "y_std" and "class".
    """
    mean, std, relevance = (np.asarray(getattr(model, name)) for name in ("embedding_", "embedding_std_", "relevance_"))
    classes = getattr(model, "transduction_", np.zeros(len(mean), int)) if classes is None else classes
    if np.shape(classes) != (len(mean),):
        raise ValueError(f"classes has shape {np.shape(classes)}; give one class for each of the {len(mean)} rows.")
    table, labels = _places(mean, std, relevance if relevance.ndim == 1 else relevance.max(axis=0))
    table["class"] = np.asarray(classes)
    rim = np.zeros(len(mean), bool) if labelled is None else np.isin(np.arange(len(mean)), labelled)
    names = np.unique(table["class"])
    with canvas(ax) as axes:
        for number, name in enumerate(names):
            _draw_class(axes, table, table["class"] == name, rim, plain(name), look(number))
        axes.set(xlabel=labels[0], ylabel=labels[1])
        if len(names) > 1:
            axes.legend(title="class", markerscale=2, **BESIDE)
    return axes, table


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


@drawn
def draw_views(model: Any, ax: Any = None) -> Drawn:
    """How much each latent input matters to each view of a `SharedGPLVM`.

    Latent inputs that are shared come first, then those that are private to a view, then those that matter to none.
    Data: "view", "latent input" (counted from 1) and "relevance".
    """
    relevance, names = np.asarray(model.relevance_), [str(name) for name in model.view_names_]
    private = list(model.private_.values())
    parts = [
        ("shared", model.shared_),
        *((f"private to {name}", own) for name, own in zip(names, private, strict=True)),
    ]
    parts.append(("unused", np.setdiff1d(np.arange(relevance.shape[1]), np.concatenate([model.shared_, *private]))))
    order = np.concatenate([own[np.argsort(-relevance[:, own].max(axis=0), kind="stable")] for _, own in parts])
    height = 0.8 / len(names)
    with canvas(ax, (5.4, 1.1 + 0.3 * len(order) * max(1.0, len(names) / 3))) as axes:
        for number, (name, row) in enumerate(zip(names, relevance, strict=True)):
            places = np.arange(len(order)) + (number - 0.5 * (len(names) - 1)) * height
            axes.barh(places, row[order], 0.9 * height, color=look(number)["color"], label=plain(name))
        _name_parts(axes, [(plain(name), len(own)) for name, own in parts if len(own)])
        axes.set_yticks(range(len(order)), [str(number + 1) for number in order])
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        axes.set(xlabel="relevance", ylabel="latent input", xlim=(0, 1.02))
        axes.legend(ncols=len(names), **ABOVE)
    views, inputs = np.indices(relevance.shape)
    drawn = {"view": np.array(names)[views.ravel()], "latent input": inputs.ravel() + 1, "relevance": relevance.ravel()}
    return axes, drawn


def _name_parts(axes: Any, parts: list[tuple[str, int]]) -> None:
    """Lines between parts of the bars, from top to bottom, and their names beside them."""
    end = 0
    for name, count in parts:
        middle = end + 0.5 * count - 0.5
        axes.annotate(name, (1.0, middle), (6, 0), xycoords=("axes fraction", "data"), textcoords="offset points",
                      va="center", fontsize="small")  # fmt: skip
        end += count
        axes.axhline(end - 0.5, color="0.6", lw=0.6)
