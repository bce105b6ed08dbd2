"""A fit whose rows are spread over devices and processes: what they agree on before, and how they optimise."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh
from sklearn.preprocessing import StandardScaler

from ...core import Posterior
from ...core.devices.lbfgs import fit_spread
from ...core.devices.processes import Processes
from ...core.devices.row_mesh import row_mesh, spread_posterior, take_back
from ...core.search.report import Callback, FitReport
from ...core.search.stages import Stage
from ...core.sparse.model import Data, Model
from ..common.order import Arrangement, column_order
from ..common.table import Table
from .checkpoint import Checkpoint
from .missing_inputs import OwnRows

# Rows of all processes, at most, that inducing points, chained GPs and the form of q(X) are chosen by.
MAX_SAMPLE = 2000
# What collectives say where a connection is lost, by library.
_SIGNS_OF_LOSS = ("Gloo", "NCCL", "UNAVAILABLE", "DEADLINE_EXCEEDED", "by peer")
# Known entries of a column that a process puts into the sample, where it has that many.
_MIN_KNOWN = 50


@dataclass(frozen=True)
class SpreadFit:
    """Optimises over a mesh, and keeps a checkpoint if there is a place for it."""

    mesh: Mesh
    checkpoint: Checkpoint | None

    def __call__(
        self, model: Model, data: Data, stages: Sequence[Stage], tolerance: float, callback: Callback | None
    ) -> tuple[Model, Posterior, FitReport]:
        """The fitted model with the rows of this process, q(U) of all rows, and how it went."""
        keeper = None if self.checkpoint is None else self.checkpoint.next_part()
        fitted, known, report = fit_spread(model, data, self.mesh, stages, tolerance, callback, keeper)
        return take_back(fitted, len(data.values)), spread_posterior(self.mesh, fitted, known), report


@contextlib.contextmanager
def noticing_losses(processes: Processes, checkpoint: Any) -> Iterator[None]:
    """Raise ConnectionError, saying what to do, where another process ends while this one waits for it."""
    try:
        yield
    except (RuntimeError, ValueError) as error:  # JAX's own errors are the one or the other
        if processes.count == 1 or not any(sign in str(error) for sign in _SIGNS_OF_LOSS):
            raise
        who = f"process {1 - processes.rank} of 2" if processes.count == 2 else "another process"
        goes_on = f"; the fit goes on from {checkpoint}" if checkpoint else ", with a checkpoint to have it go on"
        raise ConnectionError(f"{who} is gone. Run the same command again{goes_on}.") from error


def line_up(mesh: Mesh | None) -> Mesh:
    """The devices of a mesh as we name them; this process's first device, if there is none."""
    return row_mesh(jax.local_devices()[:1] if mesh is None else mesh.devices.ravel())


def check_alike(processes: Processes, X: np.ndarray, y: np.ndarray) -> None:
    """Raise ValueError, in all processes, where the columns of one are not as many as those of another."""
    shapes = processes.gather(np.array([X.shape[1], y.shape[1]]))
    if (shapes != shapes[0]).any():
        told = ", ".join(f"{inputs} and {outputs}" for inputs, outputs in shapes)
        raise ValueError(f"The processes have different numbers of inputs and outputs: {told}.")


def count_known(processes: Processes, values: np.ndarray) -> np.ndarray:
    """Values per column that are not NaN, in all processes."""
    return processes.total(np.sum(~np.isnan(values), axis=0))


def arrange(processes: Processes, X: np.ndarray, y: np.ndarray, error: np.ndarray) -> Arrangement:
    """An order of the rows of this process, and of columns: by the rows of all if they are few, else of the first."""
    are_few = processes.total(len(X)) <= MAX_SAMPLE
    everyone = map(processes.gather_rows, (X, y)) if are_few else (X, y)
    columns = processes.first(column_order(*everyone))
    return Arrangement.of(X, y, error[:, columns], columns=columns)


def scaler(processes: Processes, values: np.ndarray) -> StandardScaler:
    """Mean and standard deviation of the columns over the rows of all processes."""
    if processes.count == 1:
        return StandardScaler().fit(values)
    count = count_known(processes, values)
    mean = processes.total(np.nansum(values, axis=0)) / count
    variance = processes.total(np.nansum((values - mean) ** 2, axis=0)) / count
    made = StandardScaler()
    made.n_features_in_, made.n_samples_seen_ = values.shape[1], count.astype(int)
    made.mean_, made.var_ = mean, variance
    is_constant = variance <= (count * np.abs(mean) * np.finfo(float).eps) ** 2
    made.scale_ = np.where(is_constant, 1.0, np.sqrt(variance))
    return made


def share_sample(processes: Processes, table: Table, seed: int) -> tuple[Table, OwnRows]:
    """Rows of all processes, the same in each, in the same order; and how this process's rows stand to them."""
    counts = processes.gather(np.array(len(table.inputs)))
    is_small = bool(counts.sum() <= MAX_SAMPLE)
    share = MAX_SAMPLE * len(table.inputs) // int(counts.sum())
    rows = np.arange(len(table.inputs)) if is_small else _some_rows(table, share, seed)
    parts = [processes.gather_rows(part[rows]) for part in (table.inputs, table.targets, table.error)]
    # In an order that is the same however many processes they come from.
    order = Arrangement.of(*parts, columns=np.arange(table.inputs.shape[1])).rows
    first = int(counts[: processes.rank].sum())
    places = np.argsort(order)[first : first + len(rows)] if is_small else None
    return Table(*(part[order] for part in parts)), OwnRows(table, first, places)


def _some_rows(table: Table, count: int, seed: int) -> np.ndarray:
    """A random choice, with more of the rows that know a column which hardly any do, and some of every kind."""
    order = np.random.default_rng(seed).permutation(len(table.inputs))
    chosen = order[:count]
    is_known = ~np.isnan(np.column_stack([table.inputs, table.targets]))
    more = [order[known[order]][:_MIN_KNOWN] for known in is_known.T if known[chosen].sum() < _MIN_KNOWN]
    kinds = table.is_certain, ~table.is_certain, ~table.is_complete
    more += [order[is_kind[order]][:1] for is_kind in kinds]
    return np.unique(np.concatenate([chosen, *more]))


def agree(processes: Processes, choice: Any, choices: Sequence[Any]) -> Any:
    """What the first process has chosen."""
    return choices[int(processes.first(np.array(choices.index(choice))))]
