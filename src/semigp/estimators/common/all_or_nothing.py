"""A fit either succeeds or changes nothing."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def all_or_nothing(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a fit so that an exception, such as an interrupt, leaves the estimator as it was before."""

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
