"""The progress of a search while it runs, and a report of how it went."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any, Literal

import numpy as np

Status = Literal["converged", "iteration limit", "stalled", "interrupted", "failed"]
MESSAGES: dict[str, str] = {
    "converged": "The bound stopped rising.",
    "iteration limit": "The iteration limit was reached before the bound stopped rising; allow more iterations.",
    "stalled": "The line search found no better point; the bound is flat or rough here. Check the scale of the data.",
    "interrupted": "Stopped on request; the parameters are the best found so far.",
    "failed": "The bound is not a number at the start: the jitter or the noise variance is too small for float64 (1e-6 "
    "suits most data), or the starting values are not finite.",
}

# If the ratio of signal to noise variance is below this in every output, a fit has found nothing but noise.
_LOW_SIGNAL = 0.1
_ALL_NOISE = " Nearly everything is explained as noise: start with less noise, or hold signal and noise for longer."


@dataclass(frozen=True)
class Progress:
    """The state of a search after an iteration, for callbacks such as progress bars."""

    stage: str
    iteration: int
    max_iterations: int
    bound: float
    seconds: float
    phase: str = "fit"  # or "trial", if several models are compared before the fit
    part: int = 1  # number of the current optimisation in this phase
    parts: int = 1  # how many optimisations the phase has
    has_fixed_length: bool = False  # whether all iterations will be made, as in a chain


Callback = Callable[[Progress], bool | None]


def labelled(callback: Callback | None, **labels: Any) -> Callback | None:
    """A callback whose progress has these labels: `phase`, or `part` and `parts`. The search does not know them."""
    return None if callback is None else lambda progress: callback(replace(progress, **labels))


@dataclass(frozen=True)
class FitReport:
    """How a fit went."""

    status: Status
    message: str
    bound: float
    trace: np.ndarray = field(repr=False)  # the bound after every iteration, over all stages
    evaluations: int
    seconds: float
    stages: tuple[tuple[str, Status, int], ...]  # name, status and iterations of each stage
    signal_to_noise: np.ndarray  # signal variance over noise variance, per output
    restart_bounds: tuple[float, ...] = ()  # final bound of every restart, in order
    is_all_noise: bool = False  # whether the fit found no signal in any output
    method: str = ""  # the optimiser that was used

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        facts = {
            "status": self.status, "message": self.message, "bound": f"{self.bound:.6g}",
            "iterations": len(self.trace), "seconds": f"{self.seconds:.1f}", "method": self.method,
        }  # fmt: skip
        rows = "".join(f"<tr><th>{name}</th><td>{escape(str(value))}</td></tr>" for name, value in facts.items())
        return f"<table>{rows}</table>"


def with_signal_to_noise(report: FitReport, ratio: np.ndarray) -> FitReport:
    """The report with signal-to-noise ratios, and a sentence in its message if hardly any signal was found."""
    is_all_noise = bool(np.all(ratio < _LOW_SIGNAL))
    message = report.message + (_ALL_NOISE if is_all_noise else "")
    return replace(report, signal_to_noise=ratio, message=message, is_all_noise=is_all_noise)
