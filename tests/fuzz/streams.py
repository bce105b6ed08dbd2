"""Read damaged or strange Parquet files as `semigp regress --stream` does: streams.py COUNT SEED [FIRST].

Every file must be read to its end, in batches, or be refused in one line that names it, within three seconds, half a
gigabyte, and without running, opening or connecting to anything. What is read is finite or missing. Prints how many
files were refused and how many read.
"""

import sys
import tempfile
import warnings
from types import SimpleNamespace

import numpy as np
import polars as pl
from running import change_bytes, read_files
from tables import SIGNS, check_told, make_parquet, make_text

import semigp
from semigp.cli.stream import naming, open_rows
from semigp.estimators.streaming.batches import Batches
from semigp.estimators.streaming.first_pass import first_pass

SESSION = SimpleNamespace(note=lambda note: None)


def numbers(dice):
    """A file as it should be: numbers with holes, now and then whole numbers or truths."""
    n = dice.choice([1, 2, 5, 50, 3000])
    kinds = [
        lambda: [dice.gauss(0, 1) if dice.random() < 0.9 else None for _ in range(n)],
        lambda: [dice.randrange(-5, 5) for _ in range(n)],
        lambda: [dice.random() < 0.5 for _ in range(n)],
        lambda: [dice.choice([1e-300, 1e300, 5e-324, 0.0]) for _ in range(n)],
    ]
    table = pl.DataFrame(
        {name: dice.choice(kinds[: dice.choice([1, 3, 4])])() for name in "abcy"[-dice.randint(1, 4) :]}
    )
    with tempfile.TemporaryFile() as file:
        table.write_parquet(
            file, compression=dice.choice(["zstd", "snappy", "uncompressed"]), row_group_size=dice.choice([None, 7])
        )
        file.seek(0)
        return file.read()


def make(dice):
    """One file; half of them are as they were written, the others damaged or cut."""
    kind = dice.random()
    content = numbers(dice) if kind < 0.6 else make_parquet(dice)[1] if kind < 0.95 else make_text(dice)[1]
    how = dice.random()
    if content and how > 0.5:
        content = change_bytes(content, dice, SIGNS) if how < 0.9 else content[: dice.randrange(len(content))]
    return dice.choice(["t.parquet", "t.pq", "t[1].parquet"]), content


def check(path):
    """Whether the file is read. The target is the last column."""
    try:
        source = open_rows(SESSION, path, [last_column(path)], [])
        with naming(path):  # what a fit does with rows, but for the fit itself, which would take seconds
            semigp.StreamingGPRegressor()._source(source, None)
            known = first_pass(source, 2000, np.random.default_rng(0))
            batches = list(Batches(source, known, 2000).once())
    except Exception as error:
        return check_told(error, path)
    assert round(sum(known.n_rows / float(batch.scale) for batch in batches)) == known.n_rows
    for batch in batches:
        values = [] if batch.observed is None else [batch.observed.mean, batch.observed.targets.values]
        values += [] if batch.incomplete is None else [batch.incomplete.values, batch.incomplete.targets.values]
        assert all(np.isfinite(each).all() for each in values)
    return True


def last_column(path):
    """Its name, or y where the file has none: what is then wrong, the code under test must say."""
    try:
        return pl.scan_parquet(path, glob=False).collect_schema().names()[-1]
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, IndexError):
        return "y"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    read_files(make, check, *map(int, sys.argv[1:]))
