"""Rows in blocks, so that memory does not grow with the number of rows, and a bar can show how many are done."""

from __future__ import annotations

import numpy as np

# Programs are compiled for round numbers of rows, of which this is one.
ROWS_AT_ONCE = 8192
# The search for q(x) of rows takes far longer than a prediction. It is compiled for a number that divides this one.
ROWS_TO_INFER = 2048


def blocks(*rows: np.ndarray, size: int = ROWS_AT_ONCE) -> list[np.ndarray]:
    """Numbers of rows in blocks of at most `size`. Rows of different arrays do not share a block."""
    return [some[start : start + size] for some in rows for start in range(0, len(some), size)]
