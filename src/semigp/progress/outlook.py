"""How many iterations of a search are left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..core.search.report import Progress

_RECENT = 20  # gains of these latest iterations show how fast gains shrink
_TOLERANCE = 1e-7  # relative gain at which fits end


class Outlook:
    """An estimate of the iterations left, which assumes that the gains shrink by a constant factor."""

    def __init__(self) -> None:
        self._bounds: list[float] = []
        self._which: Any = None

    def __call__(self, progress: Progress) -> int:
        """The number of iterations left after this one."""
        which = progress.phase, progress.part, progress.stage
        if which != self._which:
            self._which, self._bounds = which, []
        self._bounds.append(progress.bound)
        most = progress.max_iterations - progress.iteration
        gains = np.diff(self._bounds[-2 * _RECENT :])
        if progress.has_fixed_length or len(gains) < 6:
            return most
        half = len(gains) // 2
        early, late = (max(float(np.mean(some)), 1e-300) for some in (gains[:half], gains[half:]))
        shrinking = (late / early) ** (1 / half)
        now = late * shrinking ** (half / 2)
        enough = _TOLERANCE * max(abs(progress.bound), 1.0)
        if now <= enough:
            return min(1, most)
        return most if shrinking >= 0.999 else min(most, int(np.log(enough / now) / np.log(shrinking)) + 1)
