"""The list of what is measured: jobs with the time that is asked of them, and sizes that grow."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..measuring import GPY, STATSFORECAST, Peer, run_module

OURS, FORESTS, BOOSTING, GPLVM = "semigp", "missForest + GP", "HistGradientBoosting", "GPy GP-LVM"
ALWAYS, NEVER, SHORT = 1e9, 0.0, 30.0  # done again in the same process if the first time took less than this
LIMIT = 300.0  # seconds, for a process as a whole


@dataclass(frozen=True)
class Measurement:
    """One process that does one task, by semigp or by a competitor."""

    task: str
    arguments: tuple[Any, ...]
    patience: float | None = SHORT  # seconds; None if the task has no such argument
    limit: float = LIMIT
    peer: Peer | None = None  # whose script this is, if it runs in another environment

    @property
    def name(self) -> str:
        """The name under which the result is kept."""
        return " ".join(map(str, (self.task, *self.arguments)))

    def run(self) -> dict:
        """The result of the process. Compiled code is not kept: what is measured first has nothing compiled."""
        patience = () if self.patience is None else (self.patience,)
        if self.peer is None:
            return run_module("answers.work", self.task, *self.arguments, *patience, seconds=self.limit)
        return self.peer.run(f"{self.task}.py", *self.arguments, *patience, seconds=self.limit)


@dataclass(frozen=True)
class Job:
    """A job that a user may have, what is asked of it, and competitors at the same job."""

    name: str
    words: str
    ours: Measurement
    asked: float  # seconds
    asked_mib: float | None = None
    beside: dict[str, Measurement] = field(default_factory=dict)
    times: float | None = None  # asked as well: less than so many times the time of the first competitor
    counts: str = "seconds"  # which time is meant: "first" in its process, or "seconds"

    @property
    def measurements(self) -> list[Measurement]:
        """All processes of the job."""
        return [self.ours, *self.beside.values()]


def table(way: str, n: int, q: int, share: float, patience: float = SHORT, limit: float = LIMIT) -> Measurement:
    """Fit and prediction of a table by one way."""
    if way == GPLVM:
        return Measurement("time_gpy_table", (n, q, share), patience, limit, GPY)
    return Measurement("regression", (way, n, q, share), patience, limit)


def series(model: str, count: int, length: int, steps: int) -> Measurement:
    """Forecasts by a model of statsforecast."""
    return Measurement("time_statsforecast", (model, count, length, steps), SHORT, LIMIT / 2, STATSFORECAST)


def _models(*size: int) -> dict[str, Measurement]:
    return {model: series(model, *size) for model in ("AutoETS", "AutoARIMA")}


def _filled() -> dict[str, Measurement]:
    return {"missForest": Measurement("imputation", ("missForest", 400, 14, 0.3))}


_COMMAND = (100, 5, 0.15)
JOBS = [
    Job("command-first", "first `semigp regress` ever, 100 × 5, 15 % missing, nothing compiled",
        Measurement("command", (*_COMMAND, 1), None), 8.0),
    Job("command-second", "the same, in a second process",
        Measurement("command", (*_COMMAND, 2), None), 3.0),
    Job("table-300", "300 × 8, 30 % missing, fit and 100 predictions, second time in the process",
        table(OURS, 300, 8, 0.3, ALWAYS), 5.0, beside={FORESTS: table(FORESTS, 300, 8, 0.3)}, times=4.0),
    Job("table-1000", "1000 × 8, 20 % missing, the same",
        table(OURS, 1000, 8, 0.2, ALWAYS), 12.0, beside={FORESTS: table(FORESTS, 1000, 8, 0.2)}, times=2.0),
    Job("table-10000", "10,000 × 10, 30 % missing, first time",
        table(OURS, 10_000, 10, 0.3, NEVER), 60.0, asked_mib=2048.0),
    Job("table-100000", "100,000 × 10, 30 % missing, first time",
        table(OURS, 100_000, 10, 0.3, NEVER, 750.0), 600.0, asked_mib=4096.0),
    Job("gpu-10000", "10,000 × 8, 30 % missing, on a GPU, second time",
        Measurement("gpu", (10_000, 8, 0.3), ALWAYS), 10.0),
    Job("gpu-1000000", "1,000,000 × 10, 30 % missing, on a GPU, first time",
        Measurement("gpu", (1_000_000, 10, 0.3), NEVER, 540.0), 300.0),
    Job("imputer", "`GPImputer`, 400 × 14, 30 % missing",
        Measurement("imputation", (OURS, 400, 14, 0.3), ALWAYS), 3.0, beside=_filled()),
    Job("forecast", "`GPForecaster`, 600 values, 18 lags, 100 steps",
        Measurement("series", (18, 1, 600, 100), ALWAYS), 1.0, beside=_models(1, 600, 100)),
    Job("forecast-auto", 'the same with `window="auto"`',
        Measurement("series", ("auto", 1, 600, 100), ALWAYS), 4.0),
    Job("many-series", "100 series of 200 values, 20 steps each, first time",
        Measurement("series", (18, 100, 200, 20), NEVER), 60.0, beside=_models(100, 200, 20)),
    Job("classifier", "`SemiSupervisedGPClassifier`, USPS 2000 × 256, 40 labels, 100 predictions",
        Measurement("classification", (), ALWAYS), 8.0),
    Job("mocap", "motion capture, 130 × 39, 20 outputs, 50 % missing, fit only, first time",
        Measurement("mocap", (), NEVER), 10.0, counts="first"),
    Job("import", "`import semigp` and the first estimator, a process as a whole",
        Measurement("importing", (3,), None), 1.5),
]  # fmt: skip


@dataclass(frozen=True)
class Scaling:
    """The same job at growing sizes, by several ways, each up to a size of its own."""

    name: str
    sizes: tuple[int, ...]
    shape: tuple[int | None, int | None]  # rows and columns, None for what grows
    most: dict[str, int]
    why: dict[str, str]  # why a way goes no further

    def measurements(self, way: str) -> dict[int, Measurement]:
        """The processes of one way, by size, in rising order."""
        sizes = [size for size in self.sizes if size <= self.most.get(way, size)]
        return {size: table(way, *self.at(size), 0.3, limit=_limit(way, size)) for size in sizes}

    def at(self, size: int) -> tuple[int, int]:
        """Rows and columns at a size."""
        n, q = (size if part is None else part for part in self.shape)
        return n, q


def _limit(way: str, size: int) -> float:
    """Seconds for a process: half as long for competitors, and longer for the largest table."""
    return LIMIT / 2 if way != OURS else 600.0 if size >= 100_000 else LIMIT


WAYS = (OURS, FORESTS, BOOSTING, GPLVM)
_SMALL = "only small tables are asked of it"
SCALINGS = [
    Scaling("rows", (100, 300, 1000, 3000, 10_000, 30_000, 100_000), (None, 8), {FORESTS: 3000, GPLVM: 1000},
            {FORESTS: "its GP is exact, with a matrix of all rows", GPLVM: _SMALL}),
    Scaling("columns", (2, 5, 10, 20, 50, 100), (300, None), {GPLVM: 20}, {GPLVM: _SMALL}),
]  # fmt: skip
NAMES = [each.name for each in (*JOBS, *SCALINGS)]
