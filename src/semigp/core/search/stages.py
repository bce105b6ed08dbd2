"""A search in stages, each of which holds some of the parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .report import Status


@dataclass(frozen=True)
class Stage:
    """A number of iterations with some parameters held, by path (wildcards allowed), such as "kernel.variance"."""

    name: str
    max_iterations: int
    hold: tuple[str, ...] = ()


def run_stages(search: Any, stages: Sequence[Stage], tolerance: float) -> list[tuple[str, Status, int]]:
    """Name, status and iterations of the stages that a search, by its `run`, has begun."""
    for stage in stages[len(search.results) :]:  # a search that is resumed has some behind it
        before = sum(count for *_, count in search.results)
        status = search.run(stage, tolerance)
        search.results.append((stage.name, status, len(search.trace) - before))
        if status in ("interrupted", "failed"):
            break
    return search.results
