"""Simulated series, each from a seed: random walks, trends with a season, and chaotic systems with noise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Moments = tuple[np.ndarray, np.ndarray]  # mean and standard deviation of the future under the true model

WALK_LENGTH, WALK_STEPS = 150, 20
MONTHS, MONTHS_AHEAD, YEAR = 96, 24, 12
CHAOS_LENGTH, CHAOS_STEPS, CHAOS_NOISE = 150, 200, 0.05


def random_walk(seed: int) -> tuple[np.ndarray, Moments]:
    """A walk with standard normal steps, and its exact forecast."""
    values = np.random.default_rng(seed).normal(size=WALK_LENGTH + WALK_STEPS).cumsum()
    ahead = np.arange(1, WALK_STEPS + 1)
    return values, (np.full(WALK_STEPS, values[WALK_LENGTH - 1]), np.sqrt(ahead))


def trend_and_season(seed: int) -> tuple[np.ndarray, Moments]:
    """Months with a linear trend, a season and white noise, and the forecast of a regression that knows the noise."""
    random = np.random.default_rng(seed)
    time = np.arange(MONTHS + MONTHS_AHEAD)
    slope, season_size, noise_std = random.normal(0.0, 0.3), random.uniform(1.0, 10.0), random.uniform(0.5, 3.0)
    season = season_size * random.normal(size=YEAR)
    values = 100.0 + slope * time + season[time % YEAR] + noise_std * random.normal(size=len(time))
    columns = np.column_stack([time / MONTHS, np.eye(YEAR)[time % YEAR]])  # the twelve months hold the constant
    return values, _regression(columns, values[:MONTHS], noise_std)


def _regression(columns: np.ndarray, seen: np.ndarray, noise_std: float) -> Moments:
    """The predictive moments of a linear regression with known noise and a flat prior, after the rows of `seen`."""
    before, after = columns[: len(seen)], columns[len(seen) :]
    precision = before.T @ before
    mean = after @ np.linalg.solve(precision, before.T @ seen)
    spread = np.einsum("ij,ij->i", after, np.linalg.solve(precision, after.T).T)
    return mean, noise_std * np.sqrt(1.0 + spread)


# ---- Chaos


def chaotic(system: str, seed: int) -> np.ndarray:
    """One coordinate of a chaotic system from a random start, with noise of 5 % of its standard deviation."""
    random = np.random.default_rng(seed)
    clean = SYSTEMS[system](random, CHAOS_LENGTH + CHAOS_STEPS)
    return clean + CHAOS_NOISE * clean.std() * random.normal(size=len(clean))


def _flow(slope: Callable[[np.ndarray], np.ndarray], start: np.ndarray, count: int, between: float) -> np.ndarray:
    """The first coordinate of a differential equation every `between` units of time, after a hundred such (RK4)."""
    n_small = 20
    step, state, values = between / n_small, start, []
    for _ in range(100 + count):
        for _ in range(n_small):
            k1 = slope(state)
            k2 = slope(state + 0.5 * step * k1)
            k3 = slope(state + 0.5 * step * k2)
            k4 = slope(state + step * k3)
            state = state + step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        values.append(state[0])
    return np.array(values[100:])


def _lorenz(random: np.random.Generator, count: int) -> np.ndarray:
    def slope(state):
        x, y, z = state
        return np.array([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z])

    return _flow(slope, np.array([1.0, 1.0, 25.0]) + random.normal(size=3), count, 0.1)


def _roessler(random: np.random.Generator, count: int) -> np.ndarray:
    def slope(state):
        x, y, z = state
        return np.array([-y - z, x + 0.2 * y, 0.2 + z * (x - 5.7)])

    return _flow(slope, np.array([1.0, 1.0, 0.0]) + 0.5 * random.normal(size=3), count, 0.5)


def _henon(random: np.random.Generator, count: int) -> np.ndarray:
    x, y = 0.1 * random.normal(size=2)
    values = []
    for _ in range(100 + count):
        x, y = 1.0 - 1.4 * x**2 + y, 0.3 * x
        values.append(x)
    return np.array(values[100:])


def _ikeda(random: np.random.Generator, count: int) -> np.ndarray:
    """The real part of z ← 1 + 0.9 z exp(i (0.4 - 6/(1 + |z|²)))."""
    z = complex(*(0.1 * random.normal(size=2)))
    values = []
    for _ in range(100 + count):
        z = 1.0 + 0.9 * z * np.exp(1j * (0.4 - 6.0 / (1.0 + abs(z) ** 2)))
        values.append(z.real)
    return np.array(values[100:])


SYSTEMS = {"Lorenz": _lorenz, "Rössler": _roessler, "Hénon": _henon, "Ikeda": _ikeda}
