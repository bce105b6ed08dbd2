"""`semigp regress --stream`: a fit to more rows than fit in memory, read from Parquet files part by part."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import semigp

from .columns import check_present, choose_numbers
from .problems import WRONG_USE, Problem
from .session import Session


def fit_from_parquet(
    session: Session, path: Path, targets: list[str], ignore: list[str], inducing: int, seed: int
) -> semigp.StreamingGPRegressor:
    """A model fitted to a Parquet file, to the files in a folder, or to the files that match a pattern."""
    source = _open(session, path, targets, ignore)
    with session.fitting("regress"):
        regressor = semigp.StreamingGPRegressor(inducing, random_state=seed)
        try:
            regressor.fit(source)
        except ValueError as error:
            raise Problem(f"{path}: {error}") from error
    session.note(f"{path}: {regressor.n_rows_} rows with an output.")
    session.tell(rows_learned_from=regressor.n_rows_, inputs=source.input_names, targets=targets)
    return regressor


def _open(session: Session, path: Path, targets: list[str], ignore: list[str]) -> semigp.ParquetRows:
    if not targets:
        raise Problem("Say what to predict: --target COLUMN.", WRONG_USE)
    if path.suffix.lower() in (".csv", ".tsv", ".txt"):
        raise Problem(f"--stream reads Parquet, but {path} is text; convert it, or leave out --stream.", WRONG_USE)
    try:
        file = semigp.ParquetRows.files(path)[0]
        first = pl.read_parquet(file, n_rows=0)
        for names, option in ((targets, "--target"), (ignore, "--ignore")):
            check_present(names, first, file, option)
        return semigp.ParquetRows(path, choose_numbers(first, [*targets, *ignore], file, session.note), targets)
    except (ValueError, pl.exceptions.PolarsError) as error:
        raise Problem(str(error)) from error
