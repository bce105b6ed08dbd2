"""Names and cells in messages, and names of columns that could not be told in one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .problems import Problem

_LONGEST_NAME = 500  # longer texts are most likely not names
_CONTROLS = re.compile(r"[\0-\x1f\x7f-\x9f]")


def shortened(value: Any) -> str:
    """A cell, quoted and shortened for a message."""
    text = repr(str(value)[:_LONGEST_NAME])
    return text if len(text) <= 40 else f"{text[:37]}…'"


def listed(names: Sequence[str], most: int = 10) -> str:
    """Names, separated by commas and shortened for a message."""
    return ", ".join(names if len(names) <= most else [*names[: most - 1], f"and {len(names) - most + 1} more"])


def in_a_line(error: Any) -> str:
    """The error of another library in one line, shortened."""
    text = " ".join(_CONTROLS.sub(" ", str(error)).split())
    return text if len(text) <= 300 else f"{text[:299]}…"


def check_names(names: Sequence[str], path: Path) -> None:
    """Raise a Problem unless the names are different, short, and without control characters."""
    if not names:
        raise Problem(f"{path}: there are no columns.")
    places: dict[str, int] = {}
    for number, name in enumerate(names, 1):
        if len(name) > _LONGEST_NAME:
            raise Problem(
                f"{path}: column {number} has a name of {len(name)} characters, {shortened(name)}; "
                f"at most {_LONGEST_NAME} are allowed. Is a quotation mark left open?"
            )
        if "\0" in name:
            raise Problem(f"{path}: a zero byte in the name of column {number}. Is this a text file?")
        if _CONTROLS.search(name):
            raise Problem(f"{path}: the name of column {number}, {name!r}, has a control character. Rename it.")
        if name in places:
            raise Problem(f"{path}: the name {name!r} occurs twice, in columns {places[name]} and {number}.")
        places[name] = number
