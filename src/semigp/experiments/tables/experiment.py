"""The experiment as a whole: a profile, or what was asked for, is run, and the page and the figures are written."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...baselines import standard_gp
from ...baselines.forests import N_SWEEPS, N_TREES
from ...baselines.tables import predicting
from ..reporting import write_results
from . import columns, fillers, ways
from .plan import FIRST_SEED, PROFILES, Block
from .run import RECORDS, all_ways, run_blocks, with_ways
from .summary import page

NAME = "tables"
PACKAGES = ("pandas", *ways.PACKAGES.values(), *fillers.PACKAGES.values())


def _seeds(profile: str) -> range:
    return range(FIRST_SEED, FIRST_SEED + PROFILES[profile]["seeds"])


def cells(profile: str) -> list[tuple]:
    """The arguments of every cell of a profile that can run here. Each cell is independent of the others."""
    return with_ways(PROFILES[profile]["blocks"], columns.loadable(columns.NAMES), _seeds(profile), all_ways())


def run(profile: str, folder: Path, n_jobs: int = 2) -> list[Path]:
    """Run a profile, and write the records, the page and the figures. Records that are there are not made again."""
    return run_some(PROFILES[profile]["blocks"], columns.NAMES, _seeds(profile), all_ways(), folder, n_jobs, profile)


def run_some(
    blocks: Sequence[Block], tables: Sequence[str], seeds: Sequence[int], chosen: dict[str, list[str]], folder: Path,
    n_jobs: int, profile: str, minutes: float = np.inf,
) -> list[Path]:  # fmt: skip
    """Run some blocks with some tables, seeds and ways."""
    started, continues = time.perf_counter(), (folder / RECORDS).exists()
    records = run_blocks(blocks, columns.loadable(tables), list(seeds), chosen, folder, n_jobs, 60.0 * minutes)
    settings = {
        "profile": profile, "seeds": list(seeds), "tables": list(tables), "ways": chosen,
        "blocks": [str(block) for block in blocks],
        "trees": N_TREES, "sweeps of trees": N_SWEEPS, "draws": predicting.N_DRAWS,
        "rows that fit a GP": standard_gp.MOST_ROWS,
    }  # fmt: skip
    spent = time.perf_counter() - started
    path = write_results(folder, NAME, page(records), settings, spent, PACKAGES, continues)
    try:
        from .figures import draw

        return [path, *draw(records, folder)]
    except ImportError as error:
        print(f"No figures: {error}.")
        return [path]
