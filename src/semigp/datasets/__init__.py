"""The data sets of the paper, and ways to remove values from them."""

from .files import load_mocap, load_oil, load_usps
from .masks import mask_at_random, mask_blocks, mask_columns
from .simulated import make_mackey_glass, make_semi_described

__all__ = [
    "load_mocap",
    "load_oil",
    "load_usps",
    "make_mackey_glass",
    "make_semi_described",
    "mask_at_random",
    "mask_blocks",
    "mask_columns",
]
