"""`python -m semigp.benchmarks.answers`: some of the jobs, or the records of another machine added."""

import argparse
from pathlib import Path

from . import main, write
from .jobs import NAMES
from .records import Records

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m semigp.benchmarks.answers")
    parser.add_argument("--folder", type=Path, default=Path("results/benchmarks"), help="of records, page and picture")
    parser.add_argument("--only", nargs="+", choices=NAMES, metavar="JOB", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--add", nargs="+", type=Path, metavar="FILE", help="records from elsewhere; no measurement")
    parser.add_argument("--afresh", action="store_true", help="do not go on with a run that was stopped")
    parser.add_argument("--report", action="store_true", help="page and picture of the records; no measurement")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.add or given.report:
        records = Records(given.folder)
        for path in given.add or []:
            print(f"Added: {', '.join(records.add(path))}")
        write(records, given.folder)
    else:
        main(given.folder, given.only, given.afresh)
