"""Numbers in words, the same on every page."""

from __future__ import annotations


def told_share(share: float) -> str:
    """A share in per cent. What is not nothing is not called 0 %, and what is not all is not called 100 %."""
    if 0 < share < 0.005:
        return "less than 1 %"
    return "more than 99 %" if 0.995 <= share < 1 else f"{100 * share:.0f} %"
