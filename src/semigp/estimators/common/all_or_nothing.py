"""What every fit promises: all of it, or nothing."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def all_or_nothing(fit: Callable[..., Any]) -> Callable[..., Any]:
    """A fit that ends with an exception, an interrupt included, leaves the estimator as it was before."""

    @functools.wraps(fit)
    def careful(self, *args, **kwargs):
        before = vars(self).copy()
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return careful
