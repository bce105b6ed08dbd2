"""A search in stages. Each stage holds some of the parameters and moves the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .report import Status


@dataclass(frozen=True)
class Stage:
    """A stage of a search: how many iterations it may take, and which parameters it holds.

    Parameters are named by path, such as "kernel.variance". Wildcards are allowed.
    """

    name: str
    max_iterations: int
    hold: tuple[str, ...] = ()


def run_stages(search: Any, stages: Sequence[Stage], tolerance: float) -> list[tuple[str, Status, int]]:
    """Run the stages of a search. Returns name, status and iterations of each stage that has begun."""
    for stage in stages[len(search.results) :]:  # a resumed search has already done some stages
        before = sum(count for *_, count in search.results)
        status = search.run(stage, tolerance)
        search.results.append((stage.name, status, len(search.trace) - before))
        if status in ("interrupted", "failed"):
            break
    return search.results
