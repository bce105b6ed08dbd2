"""`python -m semigp.experiments.tables`: all of the experiment, or a part of it."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from .columns import NAMES
from .experiment import run_some
from .plan import COMPLETE, FIRST_SEED, IMPUTATION, PROFILES, REGRESSION, WITH_HOLES, Block
from .problems import AT_RANDOM, IMPUTED_ROWS, MECHANISMS
from .run import all_ways


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m semigp.experiments.tables", description=__doc__)
    add = parser.add_argument
    add("--jobs", type=int, default=2, help="number of processes, each with one core")
    add(
        "--out", type=Path, default=Path("build/tables"), help="folder for records and tables; a run there is continued"
    )
    add("--minutes", type=float, default=float("inf"), help="after so many, no cell is begun, and the page is written")
    add("--profile", choices=list(PROFILES), default="paper")
    add("--only", choices=[REGRESSION, IMPUTATION])
    add("--tables", type=_listed, default=list(NAMES), metavar="A,B", help=", ".join(NAMES))
    add("--seeds", type=_listed, metavar="0,1,2", help=f"default: those of the profile, from {FIRST_SEED} on")
    add("--ways", type=_listed, metavar="A,B", help="names as in the tables; default: all that are installed")
    add("--rates", type=_listed, metavar=".1,.3", help="this and the next three replace the blocks of the profile")
    add("--rows", type=int, help="number of training rows, or of rows to fill")
    add("--mechanisms", type=_listed, metavar="A,B", help=", ".join(MECHANISMS))
    add("--test", choices=[COMPLETE, WITH_HOLES], help="the test rows of a regression")
    return parser


def _blocks(options: argparse.Namespace) -> list[Block]:
    """The blocks of the profile, or one of what was asked for."""
    parts = [options.only] if options.only else [REGRESSION, IMPUTATION]
    if not any([options.rates, options.rows, options.mechanisms, options.test]):
        return [block for block in PROFILES[options.profile]["blocks"] if block.part in parts]
    rates = [float(rate) for rate in options.rates or [0.3]]
    mechanisms = options.mechanisms or [AT_RANDOM]
    sizes = {REGRESSION: options.rows or 300, IMPUTATION: options.rows or IMPUTED_ROWS}
    tests = {REGRESSION: options.test or COMPLETE, IMPUTATION: ""}
    return [Block(part, rates, mechanisms, tests[part], sizes[part]) for part in parts]


def main(arguments: list[str] | None = None) -> None:
    """Run what the options ask for, and print what was written."""
    options = _parser().parse_args(arguments)
    # Processes side by side cannot share a GPU, and would each take most of its memory.
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    n_seeds = PROFILES[options.profile]["seeds"]
    seeds = [int(seed) for seed in options.seeds] if options.seeds else range(FIRST_SEED, FIRST_SEED + n_seeds)
    options.out.mkdir(parents=True, exist_ok=True)
    blocks, chosen = _blocks(options), all_ways(options.ways)
    written = run_some(
        blocks, options.tables, seeds, chosen, options.out, options.jobs, options.profile, options.minutes
    )
    for path in written:
        print(f"Written: {path}")


if __name__ == "__main__":
    main()
