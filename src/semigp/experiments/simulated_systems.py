"""Simulated nonlinear systems with noise on the measurements, some of them driven by an input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

N_TRAIN, N_AHEAD = 250, 100
_SMALL_STEPS, _BURN_IN = 20, 100


@dataclass(frozen=True)
class Simulated:
    """A system: how many states it has, how much noise is on its measurements, and how it moves."""

    n_states: int
    noise_share: float  # standard deviation of the noise, in units of that of the clean output
    is_driven: bool
    simulate: Callable[[np.random.Generator, np.ndarray], np.ndarray]  # (random, inputs (T,)) → clean outputs (T,)


def simulated(name: str, seed: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Noisy outputs (T,) of training and future, and the inputs (T, 1) if the system is driven."""
    system, random = SIMULATED[name], np.random.default_rng(seed)
    count = _BURN_IN + N_TRAIN + N_AHEAD
    # Steps of random height and length.
    heights, lengths = random.uniform(-1.0, 1.0, size=count), random.integers(3, 15, size=count)
    inputs = np.repeat(heights, lengths)[:count]
    clean = system.simulate(random, inputs)[_BURN_IN:]
    noisy = clean + system.noise_share * clean.std() * random.normal(size=len(clean))
    return noisy, inputs[_BURN_IN:, None] if system.is_driven else None


def _kink(random: np.random.Generator, inputs: np.ndarray) -> np.ndarray:
    """The map x' = .8 + (x + .2)(1 - 5/(1 + exp(-2x))), with noise of standard deviation .05 on the state."""
    states = np.empty(len(inputs))
    state = 0.5
    for t in range(len(inputs)):
        state = 0.8 + (state + 0.2) * (1.0 - 5.0 / (1.0 + np.exp(-2.0 * state))) + 0.05 * random.normal()
        states[t] = state
    return states


def _flow(slope: Callable, start: np.ndarray, inputs: np.ndarray, between: float) -> np.ndarray:
    """The first coordinate of x' = slope(x, u), by Runge and Kutta's method, with the input held from step to step."""
    step, state, values = between / _SMALL_STEPS, start, []
    for known in inputs:
        for _ in range(_SMALL_STEPS):
            k1 = slope(state, known)
            k2 = slope(state + 0.5 * step * k1, known)
            k3 = slope(state + 0.5 * step * k2, known)
            k4 = slope(state + step * k3, known)
            state = state + step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        values.append(state[0])
    return np.array(values)


def _van_der_pol(random: np.random.Generator, inputs: np.ndarray) -> np.ndarray:
    def slope(x: np.ndarray, known: float) -> np.ndarray:
        return np.array([x[1], 2.0 * (1.0 - x[0] ** 2) * x[1] - x[0]])

    return _flow(slope, random.normal(size=2), inputs, 0.3)


def _pendulum(random: np.random.Generator, inputs: np.ndarray) -> np.ndarray:
    """The angle of a damped pendulum that is pushed."""

    def slope(x: np.ndarray, known: float) -> np.ndarray:
        return np.array([x[1], -4.0 * np.sin(x[0]) - 0.5 * x[1] + 2.5 * known])

    return _flow(slope, random.normal(size=2), inputs, 0.2)


def _duffing(random: np.random.Generator, inputs: np.ndarray) -> np.ndarray:
    """A damped spring that becomes stiffer the farther it is drawn."""

    def slope(x: np.ndarray, known: float) -> np.ndarray:
        return np.array([x[1], -x[0] - x[0] ** 3 - 0.3 * x[1] + 3.0 * known])

    return _flow(slope, random.normal(size=2), inputs, 0.25)


def _tanks(random: np.random.Generator, inputs: np.ndarray) -> np.ndarray:
    """The level of the lower of two tanks, into the upper of which water is pumped."""

    def slope(x: np.ndarray, known: float) -> np.ndarray:
        high, low = np.sqrt(np.maximum(x, 0.0))[::-1]
        return np.array([0.5 * high - 0.5 * low, 0.6 * (1.0 + known) - 0.5 * high])

    return _flow(slope, random.uniform(1.0, 3.0, size=2), inputs, 0.7)


SIMULATED = {
    "kink": Simulated(1, 0.3, False, _kink),
    "van der pol": Simulated(2, 0.3, False, _van_der_pol),
    "pendulum": Simulated(2, 0.3, True, _pendulum),
    "tanks": Simulated(2, 0.3, True, _tanks),
    "duffing": Simulated(2, 0.3, True, _duffing),
}
