"""The problems: a past, the values that follow it, and what a person would say of the series."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ... import datasets
from ..forecasting import REAL, load_real
from . import simulated

WEEKLY, HOURLY, WALK, MONTHLY = "M4 weekly", "M4 hourly", "random walk", "trend and season"
AIRLINE, SUNSPOTS, CO2, CHAOS = "airline passengers", "sunspots", "CO2", "chaotic"
LONGEST = 600  # of a series of M4, these last values are given to every way
PASSENGERS = """
112 118 132 129 121 135 148 148 136 119 104 118 115 126 141 135 125 149 170 170 158 133 114 140
145 150 178 163 172 178 199 199 184 162 146 166 171 180 193 181 183 218 230 242 209 191 172 194
196 196 236 235 229 243 264 272 237 211 180 201 204 188 235 227 234 264 302 293 259 229 203 229
242 233 267 269 270 315 364 347 312 274 237 278 284 277 317 313 318 374 413 405 355 306 271 306
315 301 356 348 355 422 465 467 404 347 305 336 340 318 362 348 363 435 491 505 404 359 310 337
360 342 406 396 420 472 548 559 463 407 362 405 417 391 419 461 472 535 622 606 508 461 390 432
"""  # thousands in each month from 1949 to 1960 (Box & Jenkins 1976)


@dataclass(frozen=True)
class Kind:
    """What is told of all series of a part: the season of the scale and of the peers, their seasons, and the dates."""

    season: int = 1
    seasons: tuple[int, ...] = (1,)
    frequency: str = "D"


KINDS = {
    WEEKLY: Kind(frequency="W"),
    HOURLY: Kind(24, (24, 168), "h"),
    WALK: Kind(),
    MONTHLY: Kind(12, (12,), "MS"),
    AIRLINE: Kind(12, (12,), "MS"),
    SUNSPOTS: Kind(),
    CO2: Kind(52, (52,), "W"),
    CHAOS: Kind(),
}


@dataclass(frozen=True)
class Problem:
    """A series whose `future` is asked for. NaN in the past is a gap, and in the future a value that nobody knows."""

    part: str
    name: str
    past: np.ndarray
    future: np.ndarray
    exact: simulated.Moments | None = None  # the future under the true model, where there is one

    @property
    def kind(self) -> Kind:
        """What is told of the series."""
        return KINDS[self.part]


def names(part: str, count: int, first_seed: int) -> list[str]:
    """The names of up to `count` problems of a part: those of M4, origins of real series, or seeds."""
    if part in (WEEKLY, HOURLY):
        found = list(_m4(part))
        return found if count >= len(found) else [found[int(i)] for i in np.linspace(0, len(found) - 1, count)]
    if part in REAL:
        _, training, horizon = REAL[part]
        return [str(int(i)) for i in np.linspace(training, len(load_real(part)[0]) - horizon, count)]
    if part == AIRLINE:
        return ["1949 to 1958"]
    seeds = range(first_seed, first_seed + count)
    if part == CHAOS:
        return [f"{system} {seed}" for seed in seeds for system in simulated.SYSTEMS]
    return [str(seed) for seed in seeds]


def make(part: str, name: str) -> Problem:
    """The problem with this name."""
    return _MAKERS[part](part, name)


@functools.cache
def _m4(part: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    return {name: (past, future) for name, past, future in datasets.load_m4(part.removeprefix("M4 "))}


def _competition(part: str, name: str) -> Problem:
    past, future = _m4(part)[name]
    return Problem(part, name, past[-LONGEST:], future)


def _walk(part: str, name: str) -> Problem:
    values, exact = simulated.random_walk(int(name))
    return Problem(part, name, *np.split(values, [simulated.WALK_LENGTH]), exact)


def _months(part: str, name: str) -> Problem:
    values, exact = simulated.trend_and_season(int(name))
    return Problem(part, name, *np.split(values, [simulated.MONTHS]), exact)


def _passengers(part: str, name: str) -> Problem:
    values = np.array(PASSENGERS.split(), float)
    return Problem(part, name, *np.split(values, [120]))


def _real(part: str, name: str) -> Problem:
    """Values only: what forecasting.py gives beside them, the time of the year, is for a forecaster to find."""
    _, training, horizon = REAL[part]
    values, origin = load_real(part)[0], int(name)
    return Problem(part, name, values[origin - training : origin], values[origin : origin + horizon])


def _chaos(part: str, name: str) -> Problem:
    system, seed = name.split()
    return Problem(part, name, *np.split(simulated.chaotic(system, int(seed)), [simulated.CHAOS_LENGTH]))


_MAKERS: dict[str, Callable[[str, str], Problem]] = {
    WEEKLY: _competition, HOURLY: _competition, WALK: _walk, MONTHLY: _months,
    AIRLINE: _passengers, SUNSPOTS: _real, CO2: _real, CHAOS: _chaos,
}  # fmt: skip
