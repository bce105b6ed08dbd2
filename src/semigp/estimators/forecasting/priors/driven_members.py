"""Members of a mixture for driven systems: exact GPs of earlier outputs and of inputs at some lags, rolled forward."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....core.exact.gp import ExactModel, ExactPosterior, ExactRows, condition, fit_exact
from ....core.exact.rollout import Watch, sample_paths
from ....core.exact.windows import flatten, windows_before
from ....core.hyperpriors import LogNormal
from ....core.kernels import RBF, Linear
from ..searches import Searches
from .base import in_silence, limits

# Lags of the output and of the input: all up to a number, or some that grow like a geometric series.
_WINDOWS, _INPUT_WINDOWS = (3, 5, 10), (2, 10, 20)
_SPARSE, _INPUT_SPARSE = (1, 2, 3, 5, 8, 13, 20), (0, 1, 2, 3, 5, 8, 13, 20)
# Medians of lengthscales in units of √q, and spreads of their logarithms. Stiff functions are nearly linear.
_FREE, _STIFF = (1.0, 3.0), (3.0, 0.5)
_LINEAR_VARIANCE, _SPREAD, _NOISE = 0.1, 3.0, 1e-3
# Members are fitted to so many rows, up to such a tolerance, and trials to fewer. They are conditioned on the latest.
_TRIAL_ROWS, _TRIAL_TOLERANCE = 250, 1e-3
_MAX_ROWS, _TOLERANCE, _MAX_TO_CONDITION = 500, 1e-4, 1000
_FEATURES = 128


@dataclass(frozen=True)
class Kind:
    """What a member sees, what it predicts, and what kind of functions it believes in."""

    lags: tuple[int, ...]  # of outputs; without any, there is no feedback
    input_lags: tuple[int, ...]  # 0 is the same step
    is_increment: bool = False  # whether it predicts increments; it sees levels
    is_stiff: bool = False

    @property
    def reach(self) -> int:
        """How many earlier outputs are needed."""
        return max(self.lags, default=1)


def kinds(longest: int, longest_input: int) -> list[Kind]:
    """The members to choose from. Their lags are cut at the longest ones that are allowed."""
    found = []
    for is_stiff in (False, True):
        for is_increment in (False, True):
            how = is_increment, is_stiff
            found += [Kind(_run(a), (0, *_run(b)), *how) for a in _WINDOWS for b in _INPUT_WINDOWS]
            found.append(Kind(_SPARSE, _INPUT_SPARSE, *how))
    found += [Kind((), lags) for lags in ((0, *_run(10)), (0, *_run(20)), _INPUT_SPARSE)]
    cut = [
        Kind(
            tuple(lag for lag in each.lags if lag <= longest),
            tuple(lag for lag in each.input_lags if lag <= longest_input),
            each.is_increment,
            each.is_stiff,
        )
        for each in found
    ]
    return list(dict.fromkeys(cut))


def _run(count: int) -> tuple[int, ...]:
    return tuple(range(1, count + 1))


@dataclass(frozen=True)
class DrivenMember:
    """A function of outputs at some lags and of some columns of the covariates, for each output."""

    lags: np.ndarray  # largest first, may be empty
    columns: np.ndarray
    increments: np.ndarray | None  # (p,) units of the increments, if these are what it predicts
    models: list[ExactModel]

    @classmethod
    def fitted(
        cls,
        kind: Kind,
        columns: np.ndarray,
        past: np.ndarray,
        covariates: np.ndarray,
        steps: np.ndarray,
        max_iter: int,
        searches: Searches,
        trial: tuple[int, int] | None = None,
        starts: Sequence[ExactModel] = (),
    ) -> DrivenMember:
        """Fitted to the outputs at some steps of a past without gaps. Starts can be given.

        A trial is a rough fit; it has a number, and there are so many.
        """
        increments = np.maximum(np.std(past[steps] - past[steps - 1], axis=0), 1e-9) if kind.is_increment else None
        empty = cls(np.array(kind.lags[::-1], int), columns, increments, [])
        most = _TRIAL_ROWS if trial else _MAX_ROWS
        some = steps[np.unique(np.linspace(0, len(steps) - 1, min(most, len(steps))).astype(int))]
        inputs, targets = empty.rows(past, covariates, some)
        start, priors = _start(inputs.shape[1], _STIFF if kind.is_stiff else _FREE)
        number, count = trial or (1, 1)
        models, p = [], past.shape[1]
        for column, first in enumerate(starts or [start] * p):
            told = searches.told("trial" if trial else "fit", (number - 1) * p + column + 1, count * p)
            rows, tolerance = ExactRows.of(inputs, targets[:, column]), _TRIAL_TOLERANCE if trial else _TOLERANCE
            model, report = fit_exact(first, rows, priors, max_iter, tolerance, told)
            searches.note(report)
            models.append(model)
        return cls(empty.lags, columns, increments, models)

    def rows(self, past: np.ndarray, covariates: np.ndarray, steps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Inputs (n, q) and targets (n, p) at some steps."""
        inputs = np.asarray(flatten(windows_before(past, steps, self.lags), covariates[steps][:, self.columns]))
        if self.increments is None:
            return inputs, past[steps]
        return inputs, (past[steps] - past[steps - 1]) / self.increments

    def posteriors(self, past: np.ndarray, covariates: np.ndarray, steps: np.ndarray) -> list[ExactPosterior]:
        """The posterior of each output's function, given the latest of some steps."""
        inputs, targets = self.rows(past, covariates, steps[-_MAX_TO_CONDITION:])
        columns = zip(self.models, targets.T, strict=True)
        return [condition(model, ExactRows.of(inputs, column)) for model, column in columns]

    def paths(self, past, covariates, n_paths, seed, watch: Watch = in_silence):
        """Draws of the steps after a past, and which of them reached the limits and were held there."""
        posteriors = self.posteriors(past, covariates, np.arange(self.reach, len(past)))
        return self.rolled(posteriors, past, covariates, limits(past), n_paths, seed, watch)

    def rolled(self, posteriors, past, covariates, bounds, n_paths, seed, watch: Watch = in_silence):
        """Functions are drawn from posteriors, and each is rolled forward with noise."""
        ahead, groups = covariates[len(past) :][:, self.columns], max(1, n_paths // 12)
        around = past[-self.reach :][None], ahead, bounds, n_paths, self.lags, watch, groups, _FEATURES
        return sample_paths(seed, [posteriors], *around, self.increments)

    @property
    def reach(self) -> int:
        """How many earlier outputs are needed."""
        return int(max(self.lags, default=1))


def _start(q: int, lengthscale: tuple[float, float]) -> tuple[ExactModel, dict[str, LogNormal]]:
    """Where a search starts, and hyperpriors around it."""
    median = lengthscale[0] * np.sqrt(q)
    model = ExactModel(RBF(1.0, np.full(q, median)) + Linear(np.full(q, _LINEAR_VARIANCE / q)), _NOISE)
    return model, {
        "kernel*lengthscale": LogNormal(median, lengthscale[1]),
        "kernel*variances": LogNormal(_LINEAR_VARIANCE / q, _SPREAD),
        "kernel.kernels.0.variance": LogNormal(1.0, 1.0),
    }
