"""A fit whose rows are spread over devices and processes: what all processes agree on first, and how they optimise."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh

from ...core import Posterior
from ...core.devices.lbfgs import fit_spread
from ...core.devices.processes import Processes
from ...core.devices.row_mesh import row_mesh, spread_posterior, take_back
from ...core.search.report import Callback, FitReport
from ...core.search.stages import Stage
from ...core.sparse.model import Data, Model
from ..common.component import NO_NOTES, Notes
from ..common.order import Arrangement, column_order
from ..common.table import Table
from ..common.units import Units
from .checkpoint import Checkpoint, choose_seed, open_checkpoint
from .missing_inputs import OwnRows

# The largest number of rows in the sample, from all processes, by which inducing points, chained GPs and the form of
# q(X) are chosen.
MAX_SAMPLE = 2000
# Words in the error messages of communication libraries that show that a connection was lost.
_SIGNS_OF_LOSS = ("Gloo", "NCCL", "UNAVAILABLE", "DEADLINE_EXCEEDED", "by peer")
# A process puts at least this many known entries of every column into the sample, if it has that many.
_MIN_KNOWN = 50


@dataclass(frozen=True)
class SpreadFit:
    """Fits a model over a mesh of devices, and keeps its state in the checkpoint if there is one."""

    mesh: Mesh
    checkpoint: Checkpoint | None

    def __call__(
        self, model: Model, data: Data, stages: Sequence[Stage], tolerance: float, callback: Callback | None
    ) -> tuple[Model, Posterior, FitReport]:
        """The fitted model with q(x) of the rows of this process, q(U) of all rows, and a report."""
        keeper = None if self.checkpoint is None else self.checkpoint.next_part()
        fitted, known, report = fit_spread(model, data, self.mesh, stages, tolerance, callback, keeper)
        return take_back(fitted, len(data.values)), spread_posterior(self.mesh, fitted, known), report


class RowsAcross:
    """A `Gathering` of rows that are spread over the devices of a mesh, in this process and in others.

    What must be the same in all processes comes from sums over all rows, from a sample that all processes have, or from
    the first process. A fit with a checkpoint but no mesh runs on the first device of this process.
    """

    def __init__(self, mesh: Mesh | None, folder: Any) -> None:
        self.mesh = row_mesh(jax.local_devices()[:1] if mesh is None else mesh.devices.ravel())
        self.processes = Processes(self.mesh)
        self.is_sampled, self.folder = mesh is not None, folder
        self.checkpoint: Checkpoint | None = None

    @property
    def optimise(self) -> SpreadFit:
        """A fit by L-BFGS whose state stays on the devices, and can be kept in a checkpoint."""
        return SpreadFit(self.mesh, self.checkpoint)

    @property
    def notes(self) -> Notes:
        """Results that are kept in the checkpoint, if there is one."""
        return self.checkpoint or NO_NOTES

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Raise ConnectionError, with what to do, if another process ends while this one waits for it."""
        try:
            yield
        except (RuntimeError, ValueError) as error:  # JAX raises either
            if self.processes.count == 1 or not any(sign in str(error) for sign in _SIGNS_OF_LOSS):
                raise
            who = f"process {1 - self.processes.rank} of 2" if self.processes.count == 2 else "another process"
            cure = f"; the fit goes on from {self.folder}" if self.folder else " (with a checkpoint, it can be resumed)"
            raise ConnectionError(f"{who} is gone. Run the same command again{cure}.") from error

    def check_alike(self, X: np.ndarray, y: np.ndarray) -> None:
        """Raise ValueError, in all processes, if the numbers of columns differ between processes."""
        shapes = self.processes.gather(np.array([X.shape[1], y.shape[1]]))
        if (shapes != shapes[0]).any():
            told = ", ".join(f"{inputs} and {outputs}" for inputs, outputs in shapes)
            raise ValueError(f"The processes have different numbers of inputs and outputs: {told}.")

    def count_known(self, values: np.ndarray) -> np.ndarray:
        """The number of values in each column that are not NaN, over all processes."""
        return self.processes.total(np.sum(~np.isnan(values), axis=0))

    def is_any(self, facts: np.ndarray) -> np.ndarray:
        """For each fact, whether it holds in any process."""
        return np.array(self.processes.any(*facts))

    def arrange(self, X: np.ndarray, y: np.ndarray, error: np.ndarray) -> Arrangement:
        """An order of the rows of this process, and of the columns.

        Columns are compared by the rows of all processes if these are few, otherwise by the rows of the first process.
        """
        are_few = self.processes.total(len(X)) <= MAX_SAMPLE
        everyone = map(self.processes.gather_rows, (X, y)) if are_few else (X, y)
        columns = self.processes.first(column_order(*everyone))
        return Arrangement.of(X, y, error[:, columns], columns=columns)

    def begin(self, estimator: Any, *arrays: np.ndarray) -> int:
        """Open the checkpoint, and return the seed, which is the same in all processes and in a resumed fit."""
        if self.folder is not None:
            self.checkpoint = open_checkpoint(estimator, self.processes, *arrays)
        return choose_seed(estimator.random_state, self.processes, self.checkpoint)

    def units(self, values: np.ndarray) -> Units:
        """Mean and standard deviation of the columns over the rows of all processes."""
        if self.processes.count == 1:
            return Units.of(values)
        count = self.count_known(values)
        mean = self.processes.total(np.nansum(values, axis=0)) / count
        variance = self.processes.total(np.nansum((values - mean) ** 2, axis=0)) / count
        is_constant = variance <= (count * np.abs(mean) * np.finfo(float).eps) ** 2
        return Units(mean, np.where(is_constant, 1.0, np.sqrt(variance)))

    def with_sample(self, table: Table, seed: int) -> tuple[Table, OwnRows | None]:
        """The table with a sample of the rows of all processes, and the rows of this process with their places in it.

        The sample is the same in every process, with its rows in the same order.
        """
        if not self.is_sampled:
            return table, None
        counts = self.processes.gather(np.array(len(table.inputs)))
        is_small = bool(counts.sum() <= MAX_SAMPLE)
        share = MAX_SAMPLE * len(table.inputs) // int(counts.sum())
        rows = np.arange(len(table.inputs)) if is_small else _some_rows(table, share, seed)
        parts = [self.processes.gather_rows(part[rows]) for part in (table.inputs, table.targets, table.error)]
        # An order of the sample's rows that does not depend on the number of processes.
        order = Arrangement.of(*parts, columns=np.arange(table.inputs.shape[1])).rows
        first = int(counts[: self.processes.rank].sum())
        places = np.argsort(order)[first : first + len(rows)] if is_small else None
        sample = Table(*(part[order] for part in parts))
        return replace(table, sample=sample), OwnRows(table, first, places)

    def agree(self, choice: Any, choices: Sequence[Any]) -> Any:
        """The choice of the first process."""
        return choices[int(self.processes.first(np.array(choices.index(choice))))]

    def finish(self) -> None:
        """Remove the files of the checkpoint, once all processes have finished."""
        if self.checkpoint is not None:
            self.checkpoint.clear()


def _some_rows(table: Table, count: int, seed: int) -> np.ndarray:
    """A random choice of rows.

    It has more rows in which a column is known that is hardly known elsewhere, and at least one row of every kind:
    certain, uncertain, and incomplete.
    """
    order = np.random.default_rng(seed).permutation(len(table.inputs))
    chosen = order[:count]
    is_known = ~np.isnan(np.column_stack([table.inputs, table.targets]))
    more = [order[known[order]][:_MIN_KNOWN] for known in is_known.T if known[chosen].sum() < _MIN_KNOWN]
    kinds = table.is_certain, ~table.is_certain, ~table.is_complete
    more += [order[is_kind[order]][:1] for is_kind in kinds]
    return np.unique(np.concatenate([chosen, *more]))
