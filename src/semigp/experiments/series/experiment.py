"""The experiment as a whole: a profile, or what was asked for, is run, and the page and the figure are written."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from ..reporting import write_results
from .plan import FIRST_SEED, HERE, LEVELS, LIMIT, PEERS, PROFILES, planned, with_ways
from .run import RECORDS, run_problems
from .summary import page

NAME = "series"


def cells(profile: str) -> list[tuple]:
    """The arguments of every cell of a profile that runs here, without the peers. Each is independent of the others."""
    return with_ways(planned(PROFILES[profile]), HERE)


def run(profile: str, folder: Path, n_jobs: int = 2) -> list[Path]:
    """Run a profile, and write records, page and figure. Records that are there are not made again."""
    return run_some(PROFILES[profile], (*HERE, *PEERS), folder, n_jobs, FIRST_SEED)


def run_some(counts: dict[str, int], chosen: Sequence[str], folder: Path, n_jobs: int, first_seed: int) -> list[Path]:
    """Run some ways on so many series of each part. Simulated series have seeds from `first_seed` on."""
    started, continues = time.perf_counter(), (folder / RECORDS).exists()
    problems = planned(counts, first_seed)
    records = run_problems(problems, chosen, folder, n_jobs)
    versions = sorted({record["version"] for record in records if "version" in record})
    ways = [way for way in (*HERE, *PEERS) if any(record["way"] == way for record in records)]
    settings = {
        "series": counts, "ways": ways, "first seed": first_seed, "levels": LEVELS,
        "seconds that a peer has": LIMIT, "peers": versions,
    }  # fmt: skip
    spent = time.perf_counter() - started
    path = write_results(folder, NAME, page(records), settings, spent, ("statsmodels",), continues)
    from .figures import draw

    return [path, *draw(records, folder)]
