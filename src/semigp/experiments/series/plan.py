"""Which problems a run solves, and by which ways. A cell is one way on one problem."""

from __future__ import annotations

from ...scores import LEVELS as LEVELS
from ..reporting import FIRST_SEED as FIRST_SEED
from .problems import AIRLINE, CHAOS, CO2, HOURLY, KINDS, MONTHLY, SUNSPOTS, WALK, WEEKLY, names

KEYS = ("part", "series", "way")
LIMIT = 60  # seconds that a peer has for one series

OURS, OURS_18, TRUTH = "GPForecaster", "its function of the past alone", "true model"
CLIMATOLOGY, AR = "climatology", "AR"
ARIMA, LIGHTGBM, PROPHET, MSTL = "AutoARIMA", "LightGBM", "Prophet", "MSTL"
OTHER_ETS = "ETS (statsmodels)"  # where AutoETS does not find the optimum of its seasonal models
SMOOTHERS = ("SeasonalNaive", "AutoETS", "AutoTheta", "AutoCES")
PEERS = (
    *SMOOTHERS,
    MSTL,
    LIGHTGBM,
    PROPHET,
    ARIMA,
    OTHER_ETS,
)  # in the order in which they are run: the slowest is the last
HERE = (OURS, OURS_18, TRUTH, CLIMATOLOGY, AR)
UNRANKED = (TRUTH,)

WAYS: dict[str, tuple[str, ...]] = {
    WEEKLY: (OURS, OURS_18, *SMOOTHERS, LIGHTGBM, PROPHET, ARIMA),
    HOURLY: (OURS, OURS_18, *SMOOTHERS, OTHER_ETS, MSTL, LIGHTGBM, PROPHET, ARIMA),
    WALK: (TRUTH, OURS, OURS_18, *SMOOTHERS, LIGHTGBM, ARIMA),
    MONTHLY: (TRUTH, OURS, OURS_18, *SMOOTHERS, OTHER_ETS, LIGHTGBM, PROPHET, ARIMA),
    AIRLINE: (OURS, OURS_18, *SMOOTHERS, OTHER_ETS, LIGHTGBM, PROPHET, ARIMA),
    SUNSPOTS: (OURS, OURS_18, CLIMATOLOGY, AR, *SMOOTHERS, LIGHTGBM, ARIMA),
    CO2: (OURS, OURS_18, CLIMATOLOGY, AR, "SeasonalNaive", "AutoTheta", MSTL, LIGHTGBM, PROPHET, ARIMA),
    CHAOS: (OURS, OURS_18, CLIMATOLOGY, AR, LIGHTGBM, ARIMA),
}

# How many series of each part; of chaos for each system.
PROFILES: dict[str, dict[str, int]] = {
    "quick": {WEEKLY: 2, HOURLY: 2, WALK: 3, MONTHLY: 3, AIRLINE: 1, SUNSPOTS: 2, CO2: 2, CHAOS: 1},
    "paper": {WEEKLY: 60, HOURLY: 40, WALK: 50, MONTHLY: 50, AIRLINE: 1, SUNSPOTS: 8, CO2: 8, CHAOS: 5},
}


def planned(counts: dict[str, int], first_seed: int = FIRST_SEED) -> list[tuple[str, str]]:
    """Part and name of all problems of a run."""
    return [(part, name) for part in KINDS if part in counts for name in names(part, counts[part], first_seed)]


def with_ways(problems: list[tuple[str, str]], ways: tuple[str, ...]) -> list[tuple[str, str, str]]:
    """Some ways on all problems, one way after the other."""
    return [(part, name, way) for way in ways for part, name in problems if way in WAYS[part]]
