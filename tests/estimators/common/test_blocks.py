"""Rows in blocks. Oracle: every row is there once, in its own array's blocks."""

import numpy as np

from semigp.estimators.common.blocks import blocks


def test_blocks():
    found = blocks(np.arange(5), np.arange(10, 12), np.arange(0), size=2)
    assert [block.tolist() for block in found] == [[0, 1], [2, 3], [4], [10, 11]]
    assert blocks(np.arange(0)) == []
