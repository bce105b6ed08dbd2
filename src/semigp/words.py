"""Numbers in words, the same on every page and in every message."""

from __future__ import annotations

import math


def told_share(share: float) -> str:
    """A share in per cent. What is not nothing is not called 0 %, and what is not all is not called 100 %."""
    if 0 < share < 0.005:
        return "less than 1 %"
    return "more than 99 %" if 0.995 <= share < 1 else f"{100 * share:.0f} %"


def told_number(value: float, digits: int = 3) -> str:
    """A number with so many digits: 88,400 and 0.0123. Only very large and very small ones have an exponent."""
    short = f"{value:.{digits}g}"
    if not math.isfinite(value) or not 1e-4 <= abs(float(short)) < 1e7:
        return short
    return f"{float(short):,.{max(0, digits - 1 - math.floor(math.log10(abs(float(short)))))}f}"
