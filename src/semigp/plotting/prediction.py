"""The prediction of a regression along one of its inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..columns import Number
from ..frames import find_column, like, moments_of, only_one_column, read_table
from .inputs import read_inputs
from .style import ABOVE, COLOURS, Drawn, canvas, drawn, plain

_GRID, _Z95 = 200, 1.959963984540054


@drawn
def draw_prediction(
    model: Any,
    ax: Any = None,
    y: Any = None,
    input: Any = None,  # noqa: A002
    output: int = 0,
) -> Drawn:
    """Mean and 95 % interval of an observation along one input, with the other inputs integrated out.

    `input` is a name or number, by default the input with the highest relevance. If `y`, the training outputs, is
    given, the training rows are drawn too, with 95 % error bars for the inferred input and for the noise. Returns
    "part" ("curve" or "row"), "x", "x_std", "y" and "y_std".
    """
    belief, spread = model.impute(return_std=True)
    (inputs, names), std = read_inputs(model, belief), read_table(spread)[0]
    column = _most_relevant_number(model) if input is None else find_column(names, input, "input")
    if not _are_numbers(model)[column]:
        raise ValueError(f"The input {names[column]} does not hold numbers. Choose another one with input=.")
    find_column(np.arange(len(model.noise_variance_)), output, "output")
    curve = _curve(model, belief, inputs[:, column], column, output)
    rows = np.zeros((0, 4))
    if y is not None:
        y = _training_output(y, len(inputs), len(model.noise_variance_))[:, output]
        noise = np.full(len(y), np.sqrt(model.noise_variance_[output]))
        rows = np.column_stack([inputs[:, column], std[:, column], y, noise])[~np.isnan(y)]
    with canvas(ax) as axes:
        name = plain(names[column]) if names.dtype.kind != "i" else f"input {column}"
        _draw_curve(axes, curve)
        _draw_rows(axes, rows, name)
        axes.set(xlabel=name, ylabel=_output_name(model, output))
        axes.legend(ncols=2, **ABOVE)
    parts = np.repeat(["curve", "row"], [len(curve), len(rows)])
    return axes, {
        "part": parts,
        **dict(zip(("x", "x_std", "y", "y_std"), np.concatenate([curve, rows]).T, strict=True)),
    }


def _are_numbers(model: Any) -> np.ndarray:
    """Which inputs hold numbers, and not categories or times."""
    columns = getattr(model, "_columns", None)
    if columns is None:
        return np.ones(len(model.relevance_), bool)
    return np.array([isinstance(kind, Number) for kind in columns.used])


def _most_relevant_number(model: Any) -> int:
    are_numbers = _are_numbers(model)
    if not are_numbers.any():
        raise ValueError("No input holds numbers: there is nothing to draw.")
    return int(np.argmax(np.where(are_numbers, model.relevance_, -1.0)))


def _curve(model: Any, belief: Any, values: np.ndarray, column: int, output: int) -> np.ndarray:
    """x, 0, and mean and standard deviation of y along a column, a little beyond the range of the rows."""
    low, high = values.min(), values.max()
    x = np.linspace(low - 0.05 * (high - low), high + 0.05 * (high - low), _GRID)
    columns = getattr(model, "_columns", None)
    if columns is None:
        grid = np.full((_GRID, len(model.relevance_)), np.nan)
        grid[:, column] = x
        rows = like(grid, belief)
    else:
        rows = only_one_column(belief, columns.places[column], x)
    mean, std = (part[:, output] for part in moments_of(model.predict(rows, return_std=True)))
    return np.column_stack([x, np.zeros(_GRID), mean, std])


def _output_name(model: Any, output: int) -> str:
    names = getattr(model, "output_names_", None)
    if names is not None:
        return str(names[output])
    return "output" if len(model.noise_variance_) == 1 else f"output {output}"


def _training_output(y: Any, n_rows: int, n_outputs: int) -> np.ndarray:
    y = np.asarray(y, float)
    y = y.reshape(len(y), -1)
    if y.shape != (n_rows, n_outputs):
        raise ValueError(f"y has shape {y.shape}; give the outputs that the model was fitted to, {n_rows, n_outputs}.")
    return y


def _draw_curve(axes: Any, curve: np.ndarray) -> None:
    x, _, mean, std = curve.T
    axes.fill_between(x, mean - _Z95 * std, mean + _Z95 * std, color=COLOURS[0], alpha=0.15, lw=0, label="95 %")
    axes.plot(x, mean, color=COLOURS[0], lw=1.8, label="mean", zorder=4)


def _draw_rows(axes: Any, rows: np.ndarray, name: str) -> None:
    inferred = rows[:, 1] > 0
    kinds = ((~inferred, f"{name} observed", "0.25", "o"), (inferred, f"{name} missing or uncertain", COLOURS[1], "D"))
    for some, label, colour, marker in kinds:
        if some.any():
            x, x_std, y, y_std = rows[some].T
            axes.errorbar(
                x, y, _Z95 * y_std, _Z95 * x_std, ls="", marker=marker, ms=3, lw=0.6, color=colour, alpha=0.7,
                label=label,
            )  # fmt: skip
