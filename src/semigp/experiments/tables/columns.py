"""The tables of the experiment, read as numbers and levels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from ... import datasets
from ...baselines.tables.coded import CodedTable
from ...datasets.files import MIXED_TARGETS, UCI_TABLES

NAMES = ("concrete", "energy", "yacht", "airfoil", "stock", "machine", "kin40k", "penguins", "tips", "mpg")
MOST_LEVELS = 20  # a text column with more levels is a name, and is left out


@cache
def load(name: str) -> tuple[CodedTable, np.ndarray]:
    """The inputs and the output of a table."""
    if name in UCI_TABLES:
        X, y = datasets.load_uci(name)
        return CodedTable(X, [f"x{j + 1}" for j in range(X.shape[1])]), y
    frame, y = datasets.load_mixed(name)
    return _from_frame(frame), np.asarray(y, float)


def _from_frame(frame: Any) -> CodedTable:
    """A frame as numbers, without columns of names."""
    values, names, labels = [], [], {}
    for name in frame.columns:
        if frame[name].dtype.kind in "biuf":
            values.append(frame[name].to_numpy(float))
        else:
            codes, found = frame[name].factorize(sort=True)
            if len(found) > MOST_LEVELS:
                continue
            labels[len(values)] = [str(label) for label in found]
            values.append(np.where(codes < 0, np.nan, codes))
        names.append(name)
    return CodedTable(np.column_stack(values), names, labels)


def loadable(names: Sequence[str]) -> list[str]:
    """The tables that can be read here: those with text need pandas."""
    try:
        import pandas  # noqa: F401
    except ImportError:
        left_out = [name for name in names if name in MIXED_TARGETS]
        if left_out:
            print(f"Without pandas, tables with text are left out: {', '.join(left_out)}.")
        return [name for name in names if name not in MIXED_TARGETS]
    return list(names)
