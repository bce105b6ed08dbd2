"""Speed of a forecast with each of the four propagations: `semigp bench forecasting`.

1110 steps from 72 windows of 18 lags, 500 paths, both cores.
"""

import os
import statistics
import tempfile
import time
from pathlib import Path

from semigp import GPForecaster
from semigp.datasets import make_mackey_glass

from .measuring import origin

STEPS, REPEATS = 1110, 5
TABLE = "forecasting-speed.md"


def main(folder: Path) -> None:
    """Time a fit, and for every propagation the first call and the median of later calls."""
    os.environ["SEMIGP_CACHE"] = tempfile.mkdtemp()  # so that first calls compile
    series = make_mackey_glass(90)
    started = time.perf_counter()
    model = GPForecaster(18, random_state=0).fit(series)
    lines = [f"| fit (72 windows), compilation included | {time.perf_counter() - started:.2f} | |"]
    for propagation in ("sample", "full", "diagonal", "none"):
        times = []
        for _ in range(REPEATS + 1):
            started = time.perf_counter()
            model.forecast(STEPS, propagation)
            times.append(time.perf_counter() - started)
        lines.append(f"| {propagation} | {times[0]:.2f} | {statistics.median(times[1:]):.2f} |")
    header = f"# Speed of forecasts\n\n{STEPS} steps, 500 paths, window 18, both cores. Seconds; later: a median.\n\n"
    table = "\n".join(["| propagation | first call | later calls |", "|---|---|---|", *lines])
    (folder / TABLE).write_text(f"{header}{table}\n\n{origin('forecasting')}\n")
    print(table)
