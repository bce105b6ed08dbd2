"""Sources of rows that need not fit in memory: arrays, which may be memory-mapped, and Parquet files."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

_ARRAY_BLOCK = 8192
# A buffer of `batches` has four blocks from anywhere in the file. If it were a single larger block, steps would see one
# end of a sorted file after the other; smaller blocks take longer to read.
_PARQUET_BLOCK = 2**14


@runtime_checkable
class RowSource(Protocol):
    """Blocks of rows that can be read in any order, as often as needed."""

    @property
    def input_names(self) -> list[str] | None:
        """The names of the columns of X, if they have names."""

    @property
    def output_names(self) -> list[str] | None:
        """The names of the columns of y, if they have names."""

    @property
    def n_blocks(self) -> int:
        """The number of blocks."""

    def read(self, block: int) -> tuple[np.ndarray, np.ndarray]:
        """X (k, q) and y (k, p) of one block, as float64, NaN where missing."""


@dataclass(frozen=True)
class ArrayRows:
    """Rows of two arrays, read one block at a time."""

    X: np.ndarray
    y: np.ndarray
    input_names: list[str] | None = None
    output_names: list[str] | None = None

    @property
    def n_blocks(self) -> int:
        """The number of blocks, of 8192 rows each."""
        return -(-len(self.X) // _ARRAY_BLOCK)

    def read(self, block: int) -> tuple[np.ndarray, np.ndarray]:
        """X (k, q) and y (k, p) of one block, as float64, NaN where missing."""
        rows = slice(block * _ARRAY_BLOCK, (block + 1) * _ARRAY_BLOCK)
        X, y = np.array(self.X[rows], np.float64), np.array(self.y[rows], np.float64)
        return X, y.reshape(len(X), -1)


class ParquetRows:
    """Rows of Parquet files, read one block at a time, for `StreamingGPRegressor.fit`.

    Parameters
    ----------
    path : str or path
        A file, a folder of files ``*.parquet``, or a pattern such as ``"2024-*.parquet"``.
    inputs : sequence of str
        The columns that are the inputs X. They hold numbers, and null or NaN where missing.
    target : str or sequence of str
        The column or columns that are the outputs y.

    This class needs polars: ``pip install "semigp[cli]"``.
    """

    def __init__(self, path: str | os.PathLike, inputs: Sequence[str], target: str | Sequence[str]) -> None:
        self.input_names = list(inputs)
        self.output_names = [target] if isinstance(target, str) else list(target)
        self._blocks: list[tuple[Path, int]] = []
        for file in self.files(path):
            count = _check_columns(file, [*self.input_names, *self.output_names])
            self._blocks += [(file, start) for start in range(0, count, _PARQUET_BLOCK)]

    @staticmethod
    def files(path: str | os.PathLike) -> list[Path]:
        """The Parquet files that `path` stands for, in the order of their names."""
        whole = Path(path)
        if whole.is_file():
            return [whole]
        pattern = whole / "*.parquet" if whole.is_dir() else whole
        found = sorted(Path(name) for name in glob.glob(str(pattern)))
        if not found:
            raise FileNotFoundError(
                2, "No such file, no folder with *.parquet files, and no pattern that matches a file", str(path)
            )
        return found

    @property
    def n_blocks(self) -> int:
        """The number of blocks, of at most 16,384 rows each."""
        return len(self._blocks)

    def read(self, block: int) -> tuple[np.ndarray, np.ndarray]:
        """X (k, q) and y (k, p) of one block, as float64, NaN where missing."""
        polars = _polars()
        file, start = self._blocks[block]
        names = [*self.input_names, *self.output_names]
        with _readable(file):
            columns = _scan(file).select(polars.col(names).cast(polars.Float64))
            table = columns.slice(start, _PARQUET_BLOCK).collect().to_numpy()
        # Row by row in memory, as in arrays. Sums are then the same to the last bit, whatever the source.
        X, y = (np.ascontiguousarray(part) for part in np.split(table, [len(self.input_names)], axis=1))
        return X, y


def _polars() -> Any:
    try:
        import polars
    except ImportError as error:
        raise ImportError('polars is needed to read Parquet files: pip install "semigp[cli]".') from error
    return polars


def _scan(file: Path) -> Any:
    return _polars().scan_parquet(file, glob=False)  # a name such as a[1].parquet is not a pattern


@contextmanager
def _readable(file: Path) -> Iterator[None]:
    """Turn errors of polars about a Parquet file into a ValueError of one line."""
    errors = _polars().exceptions
    try:
        yield
    except (errors.PolarsError, OSError) as error:
        told = " ".join(str(error).split())
        raise ValueError(f"{file} is not a Parquet file that can be read: {told[:300]}") from error
    except errors.PanicException as error:
        raise ValueError(f"{file} is not a Parquet file that can be read: it is damaged.") from error


def _check_columns(file: Path, names: list[str]) -> int:
    """The number of rows of a file. Raises ValueError if a column is missing or does not hold numbers."""
    polars = _polars()
    with _readable(file):
        schema = _scan(file).collect_schema()
        count = int(_scan(file).select(polars.len()).collect().item())
    for name in names:
        if name not in schema:
            raise ValueError(f"{file} has no column {name!r}; there are {', '.join(schema)}.")
        if not (schema[name].is_numeric() or schema[name] in (polars.Boolean, polars.Null)):
            raise ValueError(f"{file}, column {name!r} holds {schema[name]}, not numbers.")
    return count
