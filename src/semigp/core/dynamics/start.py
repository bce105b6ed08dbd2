"""Where the fit of a state-space model starts: at the answer of a linear model."""

from __future__ import annotations

import numpy as np

from ..hyperpriors import LogNormal
from ..kernels import RBF, Kernel, Linear
from ..numerics.padding import nearly, pad_rows
from ..numerics.precision import in_float64
from ..sparse.targets import Targets
from .chain import Chain, ChainMoves, reference_of
from .input_directions import input_filters
from .linear import Moments, identify
from .model import StateData, StateFunction, StateModel

_JITTER = 1e-6
# Medians of the lengthscales of f and g, in units of √(number of inputs), and spreads of their logarithms.
_LENGTHSCALE, _SPREAD = (2.0, 3.0), (1.0, 0.7)
# Signal standard deviations of the nonlinear parts of f and of g, and prior variances of slopes relative to them.
_SCALE, _SLOPE = (0.3, 0.5), 1.0
# Medians of the variances of process and measurement noise, and of the latter the smallest one at the start.
_PROCESS, _NOISE, _LEAST_NOISE = 1e-2, 1e-2, 1e-3
# If states start from filters of the inputs: how many there are, at most, and the noise variance of the outputs.
_FILTERS, _OPEN_NOISE = 2, 0.1


def start(
    values: np.ndarray,
    filled: np.ndarray,
    inputs: np.ndarray,
    is_first: np.ndarray,
    n_states: int,
    n_inducing: int,
    process_variance: float,
    seed: int,
    from_inputs: bool = False,
) -> tuple[StateModel, StateData]:
    """Model and data at the answer of a linear model with little process noise.

    Series stand one behind the other. `values` (n, p) may hold NaN; `filled` has these filled in somehow. The linear
    model is one of the outputs, or, if `from_inputs`, one of the filters of the inputs on which the outputs depend.
    """
    told = input_filters(values, inputs, is_first, min(n_states, _FILTERS)) if from_inputs else values
    known = np.nan_to_num(told) if from_inputs else filled
    linear, moments = identify(told, known, inputs, is_first, n_states, process_variance, seed)
    random, rows = np.random.default_rng(seed), np.flatnonzero(~is_first)
    points = np.column_stack([moments.mean[rows - 1], inputs[rows]])
    noise = np.full(values.shape[1], _OPEN_NOISE) if from_inputs else np.maximum(linear.noise_variance, _LEAST_NOISE)
    is_free = process_variance == np.inf
    process = np.diag(linear.process) if is_free else np.full(n_states, process_variance)
    transition = _function(0, points, process, n_inducing, random)
    observation = _function(1, moments.mean, noise, n_inducing, random)
    data = make_data(values, inputs, is_first, moments)
    model = StateModel(transition, observation, ChainMoves.none(len(data.inputs), n_states))
    return in_float64(lambda *leaves: leaves)(model, data)


def make_data(values: np.ndarray, inputs: np.ndarray, is_first: np.ndarray, moments: Moments) -> StateData:
    """The data of a fit whose reference is a chain, filled up to a round number of steps."""
    count, (n, q) = nearly(len(values), share=8), moments.mean.shape
    targets = Targets.of(values)
    padded = Targets(pad_rows(targets.values, count), pad_rows(targets.weights, count), targets.group)
    factor, covariances = np.tile(np.eye(q), (2, count, 1, 1))
    factor[:n], covariances[:n] = np.linalg.cholesky(moments.noise), moments.covariance
    chain = Chain(pad_rows(moments.mean, count), pad_rows(moments.transition, count), factor)
    first = pad_rows(is_first, count, True)
    reference = reference_of(chain, covariances, first)
    priors = _hyperpriors(q + inputs.shape[1], q)
    return StateData(
        pad_rows(inputs, count), padded, first, np.arange(count) < n, reference, priors, np.asarray(_JITTER)
    )


def _function(which: int, points: np.ndarray, noise_variance: np.ndarray, count: int, random) -> StateFunction:
    """The function f (0) or g (1), with inducing inputs among some points."""
    scale = np.full(len(noise_variance), _SCALE[which])
    return StateFunction(_kernel(which, points.shape[1]), spread_points(points, count, random), noise_variance, scale)


def _kernel(which: int, size: int) -> Kernel:
    return RBF(1.0, np.full(size, _LENGTHSCALE[which] * np.sqrt(size))) + Linear(np.full(size, _SLOPE))


def _hyperpriors(n_inputs: int, n_states: int) -> dict[str, LogNormal]:
    """Hyperpriors of all parameters. Without those on noise, either noise can vanish beside the other."""
    priors: dict[str, LogNormal] = {}
    for which, (name, size) in enumerate((("transition", n_inputs), ("observation", n_states))):
        priors |= {
            f"{name}.kernel*lengthscale": LogNormal(_LENGTHSCALE[which] * np.sqrt(size), _SPREAD[which]),
            f"{name}.kernel*variances": LogNormal(_SLOPE, (2.0, 1.0)[which]),
            f"{name}.output_scale": LogNormal(_SCALE[which], (1.0, 0.7)[which]),
            f"{name}.noise_variance": LogNormal((_PROCESS, _NOISE)[which], 2.0),
        }
    return priors


def spread_points(points: np.ndarray, count: int, random: np.random.Generator) -> np.ndarray:
    """Some of the points, far from each other: each next one is the farthest from those before."""
    chosen = [int(random.integers(len(points)))]
    distances = np.sum((points - points[chosen[0]]) ** 2, axis=1)
    for _ in range(min(count, len(points)) - 1):
        chosen.append(int(np.argmax(distances)))
        distances = np.minimum(distances, np.sum((points - points[chosen[-1]]) ** 2, axis=1))
    return points[chosen]
