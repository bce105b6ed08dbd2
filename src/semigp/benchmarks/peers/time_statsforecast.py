"""Forecasts of several series, one after the other, by a model of statsforecast."""

import json
import sys

import statsforecast
from common import peak_mib, timed_again
from problems import SEASON, make_series
from statsforecast import models


def measure(model, count, length, steps, patience):
    """Seconds of all fits and forecasts with 95 % intervals, the season being known."""
    series = [make_series(length, seed) for seed in range(count)]

    def answer():
        for values in series:
            getattr(models, model)(season_length=SEASON).forecast(y=values, h=steps, level=[95])

    versions = {"statsforecast": statsforecast.__version__}
    return timed_again(answer, patience) | {"versions": versions, "peak_mib": peak_mib()}


if __name__ == "__main__":
    model, *sizes, patience = sys.argv[1:]
    print(json.dumps(measure(model, *map(int, sizes), float(patience))))
