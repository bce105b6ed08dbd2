"""The data sets of the paper and some tables of everyday kinds, and ways to remove values from them."""

from .files import load_mixed, load_mocap, load_mocap_test, load_oil, load_uci, load_usps
from .masks import mask_at_random, mask_blocks, mask_by_rank, mask_columns, mask_outages
from .series import load_m4, load_sysid
from .simulated import make_mackey_glass, make_semi_described

__all__ = [
    "load_m4",
    "load_mixed",
    "load_mocap",
    "load_mocap_test",
    "load_oil",
    "load_sysid",
    "load_uci",
    "load_usps",
    "make_mackey_glass",
    "make_semi_described",
    "mask_at_random",
    "mask_blocks",
    "mask_by_rank",
    "mask_columns",
    "mask_outages",
]
