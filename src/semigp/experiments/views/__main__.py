"""Some seeds of the experiment: python -m semigp.experiments.views --seeds 100-103 --output folder --jobs 4."""

import argparse
from pathlib import Path

from .experiment import MADE, PROFILES, run_some


def main() -> None:
    """Read the command line, and run what it asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="100", help="first and last, such as 100-103")
    parser.add_argument("--problems", nargs="*", default=[*PROFILES["paper"]["problems"], MADE])
    parser.add_argument("--output", type=Path, default=Path("build") / "views")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no cell after so many minutes")
    asked = parser.parse_args()
    first, _, last = asked.seeds.partition("-")
    seeds = range(int(first), int(last or first) + 1)
    shares = PROFILES["paper"]["shares"]
    cells = [
        (name, share, seed)
        for seed in seeds
        for name in asked.problems
        for share in ((0.0,) if name == MADE else shares)
    ]
    for path in run_some(cells, asked.output, asked.jobs, seconds=60.0 * asked.minutes):
        print(f"Written: {path}")


if __name__ == "__main__":
    main()
