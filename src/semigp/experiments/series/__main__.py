"""`python -m semigp.experiments.series`: all of the experiment, or a part of it."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from .experiment import run_some
from .plan import FIRST_SEED, HERE, PEERS, PROFILES
from .run import forget


def _listed(text: str) -> list[str]:
    """Names, which hold commas themselves and are therefore divided by semicolons."""
    return [part.strip() for part in text.split(";")]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m semigp.experiments.series", description=__doc__)
    add = parser.add_argument
    add("--jobs", type=int, default=2, help="number of processes, each with one core")
    add("--out", type=Path, default=Path("build/series/run"), help="folder of the records; a run there is continued")
    add("--profile", choices=list(PROFILES), default="paper")
    add("--parts", type=_listed, metavar="'A; B'", help="default: " + "; ".join(PROFILES["paper"]))
    add("--ways", type=_listed, metavar="'A; B'", help="default: " + "; ".join((*HERE, *PEERS)))
    add("--count", type=int, help="number of series of each part, in place of that of the profile")
    add("--again", action="store_true", help="forget the records of these ways that run here, and make them anew")
    add("--first-seed", type=int, default=FIRST_SEED, help="of simulated series")
    return parser


def main(arguments: list[str] | None = None) -> None:
    """Run what the options ask for, and print what was written."""
    parser = _parser()
    options = parser.parse_args(arguments)
    ways, counts = options.ways or [*HERE, *PEERS], PROFILES[options.profile]
    for name, known in ((options.parts or [], counts), (ways, (*HERE, *PEERS))):
        if unknown := set(name) - set(known):
            parser.error(f"there is no {', '.join(sorted(unknown))}; there are {'; '.join(known)}.")
    os.environ.setdefault("JAX_PLATFORMS", "cpu")  # processes side by side cannot share a GPU
    counts = {part: options.count or n for part, n in counts.items() if part in (options.parts or counts)}
    options.out.mkdir(parents=True, exist_ok=True)
    if options.again:
        forget(options.out, [way for way in ways if way in HERE])
    for path in run_some(counts, ways, options.out, options.jobs, options.first_seed):
        print(f"Written: {path}")


if __name__ == "__main__":
    main()
