"""Figures of the inputs: which entries are missing, what is inferred about them, and which inputs matter."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import scores
from ..frames import is_missing, names_or_numbers, read_table
from .style import ABOVE, BESIDE, COLOURS, Drawn, canvas, drawn, look, name_columns, plain

# Light, middle and dark, so that they differ in print as well.
_STATES = {"observed": "#DCE6EE", "uncertain": "#E69F00", "missing": "#23395B"}
_MOST_SHARES, _MOST_BARS, _MOST_LINES = 20, 30, 150
_MOST_COLUMNS = 20  # side by side: the columns with the most missing entries
_Z95 = 1.959963984540054


@drawn
def draw_missingness(X: Any, ax: Any = None, X_std: Any = None) -> Drawn:
    """Which entries of X are observed, uncertain (X_std > 0) or missing: rows by columns.

    X is an array with NaN, or a frame of pandas or polars. With 20 columns or fewer, the share of missing entries is
    written above each column. Data: "row", "column" (name or number) and "state".
    """
    missing = is_missing(X)
    error = np.zeros(missing.shape) if X_std is None else read_table(X_std, "X_std")[0]
    if error.shape != missing.shape:
        raise ValueError(f"X_std has shape {error.shape} but X has shape {missing.shape}; use 0 where X is exact.")
    state, names = np.where(missing, 2, (error > 0).astype(int)), names_or_numbers(X, missing.shape[1])
    with canvas(ax, (min(10.0, 4.5 + 0.3 * len(names)), 4.0)) as axes:
        _draw_states(axes, state)
        name_columns(axes, names)
        if len(names) <= _MOST_SHARES:
            _write_shares(axes, missing.mean(axis=0))
        axes.set(xlabel="column", ylabel="row")
    rows, columns = np.indices(state.shape)
    return axes, {
        "row": rows.ravel(),
        "column": names[columns.ravel()],
        "state": np.array(list(_STATES))[state.ravel()],
    }


def _draw_states(axes: Any, state: np.ndarray) -> None:
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Patch

    colours = np.array([to_rgb(colour) for colour in _STATES.values()])
    # Rows thinner than a pixel would be lost, so the colours of neighbouring rows are mixed.
    groups = np.array_split(state, min(len(state), _MOST_LINES))
    image = np.stack([colours[group].mean(axis=0) for group in groups])
    extent = (-0.5, state.shape[1] - 0.5, len(state) - 0.5, -0.5)
    axes.imshow(image, aspect="auto", interpolation="nearest", extent=extent)
    axes.grid(visible=False)
    shares = np.bincount(state.ravel(), minlength=3) / state.size
    labels = [f"{name} ({100 * share:.0f} %)" for name, share in zip(_STATES, shares, strict=True)]
    present = [(c, label) for c, label, share in zip(_STATES.values(), labels, shares, strict=True) if share]
    axes.legend(handles=[Patch(color=colour, label=label) for colour, label in present], **BESIDE)


def _write_shares(axes: Any, shares: np.ndarray) -> None:
    where = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "va": "bottom", "fontsize": "small"}
    for column, share in enumerate(shares):
        axes.annotate(f"{100 * share:.0f}", (column, 1), (0, 2), ha="center", **where)
    axes.annotate("% missing", (-0.5, 1), (-4, 2), ha="right", **where)


@drawn
def draw_imputed(model: Any, ax: Any = None, truth: Any = None) -> Drawn:
    """Means and 95 % intervals of the missing or uncertain training entries under a fitted model.

    With `truth`, the complete table, they are drawn against the true values. Otherwise they are drawn beside the known
    values of each column, for at most the twenty columns with the most missing entries. Every column is drawn in units
    of its own standard deviation. Data: "row", "column", "mean", "std" and (if given) "truth" in the units of the
    data, and the drawn places "x" and "y".
    """
    belief, spread = model.impute(return_std=True)
    mean, names = read_inputs(model, belief)
    std, known = read_table(spread)[0], None if truth is None else read_inputs(model, truth, "truth")[0]
    std = np.nan_to_num(std)  # of categories, which are not drawn
    rows, columns = np.nonzero(std > 0)
    if not len(rows):
        raise ValueError("The model was fitted to rows without missing or uncertain entries: there is nothing to draw.")
    if known is not None and known.shape != mean.shape:
        raise ValueError(f"truth has shape {known.shape} but the training rows have {mean.shape}; give all of them.")
    centre, unit = _standard_units(mean, std)
    table = {"row": rows, "column": names[columns], "mean": mean[rows, columns], "std": std[rows, columns]}
    table |= {} if known is None else {"truth": known[rows, columns]}
    with canvas(ax) as axes:
        if known is None:
            places = _draw_beside_known(axes, (mean - centre) / unit, std / unit, names)
        else:
            places = _draw_against_truth(axes, table, columns, centre[columns], unit[columns])
    return axes, {**table, "x": places, "y": ((mean - centre) / unit)[rows, columns]}


def read_inputs(model: Any, X: Any, name: str = "X") -> tuple[np.ndarray, np.ndarray]:
    """Inputs as numbers (n, q), and their names or numbers. The numbers of categories and times are their codes."""
    columns = getattr(model, "_columns", None)
    return read_table(X, name) if columns is None else (columns.encode(X), np.array(columns.names_of_used))


def _standard_units(mean: np.ndarray, std: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of the known values of each column, or of the inferred means if none is known."""
    seen = np.where((std == 0) | (std > 0).all(axis=0), mean, np.nan)
    unit = np.nanstd(seen, axis=0)
    return np.nanmean(seen, axis=0), np.where(unit > 0, unit, 1.0)


def _draw_against_truth(
    axes: Any, table: dict, columns: np.ndarray, centre: np.ndarray, unit: np.ndarray
) -> np.ndarray:
    truth, mean = (table["truth"] - centre) / unit, (table["mean"] - centre) / unit
    numbers = np.unique(columns)
    is_coloured = len(numbers) <= len(COLOURS)
    for number, column in enumerate(numbers):
        some = columns == column
        bars = _Z95 * table["std"][some] / unit[some]
        style = look(number) if is_coloured else {"color": COLOURS[0], "marker": "o"}
        label = plain(table["column"][some][0]) if is_coloured else None
        axes.errorbar(truth[some], mean[some], bars, ls="", ms=3.5, lw=0.7, alpha=0.7, label=label, **style)
    axes.axline((0, 0), slope=1, color="black", lw=1, ls="--", zorder=1)
    share = scores.coverage(table["truth"], table["mean"], table["std"])
    axes.set(xlabel="truth (standard deviations)", ylabel="believed (standard deviations)")
    axes.set_title(f"{100 * share:.0f} % of {len(truth)} within 95 % intervals", fontsize="medium")
    if is_coloured and len(numbers) > 1:
        axes.legend(title="column", **BESIDE)
    return truth


def _draw_beside_known(axes: Any, mean: np.ndarray, std: np.ndarray, names: np.ndarray) -> np.ndarray:
    counts = (std > 0).sum(axis=0)
    drawn = np.sort(np.argsort(-counts, kind="stable")[: min(_MOST_COLUMNS, np.count_nonzero(counts))])
    steps = 0.36 * np.arange(len(mean)) / len(mean)  # rows side by side, in their order
    places = 0.04 + np.searchsorted(drawn, np.arange(mean.shape[1])) + steps[:, None]
    for place, column in enumerate(drawn):
        imputed = std[:, column] > 0
        label = [None, None] if place else ["known", "imputed, 95 %"]
        axes.plot(place - 0.4 + steps[~imputed], mean[~imputed, column], "o", color="0.7", ms=3, mew=0, label=label[0])
        axes.errorbar(
            places[imputed, column], mean[imputed, column], _Z95 * std[imputed, column], fmt="o",
            color=COLOURS[0], ms=3, lw=0.7, label=label[1],
        )  # fmt: skip
    name_columns(axes, names[drawn])
    axes.set(xlabel="column", ylabel="value (standard deviations)", xlim=(-0.6, len(drawn) - 0.4))
    axes.legend(ncols=2, **ABOVE)
    return np.where(np.isin(np.arange(mean.shape[1]), drawn), places, np.nan)[std > 0]


@drawn
def draw_relevance(model: Any, ax: Any = None) -> Drawn:
    """How much each input matters, the most relevant first, or each lag of a forecaster, in order. At most 30 bars.

    If a series has several columns, the relevance of a lag is the mean over them. Data: "input" and "relevance".
    """
    names, relevance = _named_relevance(model)
    shown, count = slice(_MOST_BARS), len(relevance)
    with canvas(ax, (5.4, 0.9 + 0.2 * min(count, _MOST_BARS))) as axes:
        axes.barh([plain(name) for name in names[shown]], relevance[shown], color=COLOURS[0], height=0.7)
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        axes.set(xlabel="relevance", xlim=(0, None), ylim=(min(count, _MOST_BARS) - 0.4, -0.6))
        if count > _MOST_BARS:
            axes.set_title(f"the first {_MOST_BARS} of {count}", fontsize="medium")
    return axes, {"input": names[shown], "relevance": relevance[shown]}


def _named_relevance(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Names and relevances in the order of drawing."""
    if hasattr(model, "lag_relevance_"):
        relevance = np.asarray(model.lag_relevance_).reshape(len(model.lag_relevance_), -1).mean(axis=1)
        return np.array([f"lag {i + 1}" for i in range(len(relevance))]), relevance
    relevance = np.asarray(model.relevance_)
    if hasattr(model, "embedding_"):  # its feature names, if any, belong to the outputs
        names = np.array([f"latent input {i + 1}" for i in range(len(relevance))])
    else:
        numbered = [f"input {i}" for i in range(len(relevance))]
        columns = getattr(model, "_columns", None)  # some columns of a frame may be left out
        named = getattr(model, "feature_names_in_", numbered) if columns is None else columns.names_of_used
        names = np.asarray(named).astype(str)
    order = np.argsort(-relevance, kind="stable")
    return names[order], relevance[order]
