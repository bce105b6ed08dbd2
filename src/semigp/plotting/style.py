"""The style of all figures, with colours that colour-blind readers can distinguish, and axes to draw into."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np

Table: TypeAlias = dict[str, np.ndarray]  # columns of equal length
Drawn: TypeAlias = tuple[Any, Table]  # axes, and the numbers that were drawn

# The colours of Okabe and Ito, and two more. Our own method is drawn in black and in front.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999", "#8B4513", "#6A3D9A")
MARKERS = ("o", "s", "^", "v", "D", "P", "X", "<", ">")
STYLE: dict[str, Any] = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.alpha": 0.25,
    "font.size": 9,
    "legend.frameon": False,
    "figure.dpi": 120,
    "figure.constrained_layout.h_pad": 0.08,
    "figure.constrained_layout.w_pad": 0.08,
    "svg.hashsalt": "semigp",
}
BESIDE: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}  # a legend that covers no data
ABOVE: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.2}
# Below the axes: most names, most letters of all names together if they are horizontal, most letters of one name.
_MOST_NAMES, _MOST_LETTERS, _LONGEST = 25, 40, 18


@contextmanager
def canvas(ax: Any, size: tuple[float, float] = (5.4, 3.6), n_panels: int = 1) -> Iterator[Any]:
    """The axes to draw into, in our style: the given axes, or new panels, one above the other."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('Figures need matplotlib: pip install "semigp[plot]".') from error
    with plt.rc_context(STYLE):
        yield plt.subplots(n_panels, figsize=size, sharex=True, layout="constrained")[1] if ax is None else ax


def drawn(function: Callable[..., Drawn]) -> Callable[..., Any]:
    """A function that draws, as users call it: it returns the axes, and the numbers only with ``return_data=True``."""

    @functools.wraps(function)
    def draw(*args: Any, return_data: bool = False, **options: Any) -> Any:
        axes, table = function(*args, **options)
        return (axes, table) if return_data else axes

    signature = inspect.signature(function)
    asked = inspect.Parameter("return_data", inspect.Parameter.KEYWORD_ONLY, default=False, annotation="bool")
    draw.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*signature.parameters.values(), asked], return_annotation="Axes | tuple[Axes, dict]"
    )
    return draw


def look(number: int) -> dict[str, str]:
    """Colour and marker of one of many groups. The first 81 pairs all differ."""
    turn, place = divmod(number, len(COLOURS))
    return {"color": COLOURS[place], "marker": MARKERS[(place + turn) % len(MARKERS)]}


def plain(name: Any) -> str:
    """A user's name, shown literally by matplotlib: dollars make no formula, a leading underscore does not hide it."""
    text = str(name).replace("$", r"\$")
    return f"\u200b{text}" if text.startswith("_") else text


def shortened(name: Any) -> str:
    """A name of at most 18 letters. Longer ones lose their middle: names often differ in their ends."""
    text = str(name)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]}…{text[1 - _LONGEST // 2 :]}"


def name_columns(axes: Any, names: Sequence[Any]) -> None:
    """Write names below the columns 0, 1, …. Long names are shortened and turned, and of many only some are shown."""
    every = -(-len(names) // _MOST_NAMES)
    shown = [shortened(name) for name in names[::every]]
    is_long = sum(len(name) + 1 for name in shown) > _MOST_LETTERS
    axes.set_xticks(range(0, len(names), every), [plain(name) for name in shown], rotation=90 if is_long else 0)
