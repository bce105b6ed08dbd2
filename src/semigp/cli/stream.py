"""`semigp regress --stream`: a fit to more rows than fit in memory, read from Parquet files part by part."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import semigp

from .columns import check_present, choose_numbers
from .parquet_files import check_pages, parquet_head
from .problems import WRONG_USE, Problem
from .session import Session


def fit_from_parquet(
    session: Session, path: Path, targets: list[str], ignore: list[str], inducing: int, seed: int
) -> semigp.StreamingGPRegressor:
    """A model fitted to a Parquet file, to the files in a folder, or to the files that match a pattern."""
    source = open_rows(session, path, targets, ignore)
    with session.fitting("regress"), naming(path):
        regressor = semigp.StreamingGPRegressor(inducing, random_state=seed).fit(source)
    session.note(f"{path}: {regressor.n_rows_} rows with an output.")
    session.tell(rows_learned_from=regressor.n_rows_, inputs=source.input_names, targets=targets)
    return regressor


def open_rows(session: Session, path: Path, targets: list[str], ignore: list[str]) -> semigp.ParquetRows:
    """The rows of the files, of which only footers, heads of pages, and names and types of columns are read here."""
    if not targets:
        raise Problem("Say what to predict: --target COLUMN.", WRONG_USE)
    if path.suffix.lower() in (".csv", ".tsv", ".txt"):
        raise Problem(f"--stream reads Parquet, but {path} is text; convert it, or leave out --stream.", WRONG_USE)
    files = semigp.ParquetRows.files(path)
    for file in files:
        check_pages(file)
    file = files[0]
    first = parquet_head(file)
    for names, option in ((targets, "--target"), (ignore, "--ignore")):
        check_present(names, first, file, option)
    inputs = choose_numbers(first, [*targets, *ignore], file, session.note)
    with naming(path):
        return semigp.ParquetRows(path, inputs, targets)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Turn an error about rows into a Problem that names the file, the folder or the pattern."""
    try:
        yield
    except ValueError as error:
        told = str(error)
        raise Problem(told if str(path) in told else f"{path}: {told}") from error
