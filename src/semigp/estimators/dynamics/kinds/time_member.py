"""One model whose states are smooth functions of time: how it starts, how it is fitted, and what it says."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import numpy as np

from ....core import InputBelief, Posterior
from ....core.hyperpriors import LogNormal
from ....core.numerics.precision import in_float64
from ....core.search.report import FitReport
from ....core.search.stages import Stage
from ....core.sequences.chain import Transition
from ....core.sequences.fit import best_lengthscales, smooth, solve, start_paths
from ....core.sequences.fit import fit as fit_model
from ....core.sequences.model import Marginals, SequenceData, SequenceModel, make_data
from ....core.sequences.new_series import NOTHING, complete_series
from ....core.sparse.defaults import default_hyperpriors, default_kernel, idle_parameters
from ....core.sparse.fit import SIGNAL_AND_NOISE
from ....core.sparse.statistics import Statistics
from ...common.component import TOLERANCE
from ...common.starts import centres, principal_components
from .base import Settings
from .walks import nearest_walk

# The principal components count as seen with this precision at the start, and q(x) has this precision.
_PRECISION = 100.0
# The noise starts at this share of the variance that is not linear in the first states, between these limits.
_NOISE, _NOISE_LIMITS = 0.5, (0.005, 0.5)
_TIME_LENGTHSCALE = LogNormal(10.0, 1.5)
_NEIGHBOURS = 5


Moments = tuple[np.ndarray, np.ndarray]  # mean and variance (T, p)


@dataclass(frozen=True)
class TimeMember:
    """A fitted model. All arrays are in standard units."""

    model: SequenceModel
    data: SequenceData
    belief: Marginals
    statistics: Statistics
    posterior: Posterior
    rows: np.ndarray  # the training series, one after the other (n, p)
    lengths: np.ndarray  # of the training series
    report: FitReport

    def states(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Mean and std (T, q) of q(x) of every training series."""
        mean, variance = np.asarray(self.belief.mean), np.asarray(self.belief.variance)
        return [(mean[:T, s], np.sqrt(variance[:T, s])) for s, T in enumerate(self.lengths)]

    def complete(self, series: list[np.ndarray] | None) -> list[Moments]:
        """Mean and variance (T, p) of the outputs of series with gaps, with noise; None means the training series."""
        if series is None:
            return [self._outputs(*states) for states in self.states()]
        return [self._complete(each) for each in series]

    def _outputs(self, mean: np.ndarray, std: np.ndarray) -> Moments:
        found = self.posterior.predict(InputBelief(mean, std**2))
        return np.asarray(found[0]), np.asarray(found[1]) + np.asarray(self.model.noise_variance)

    def _complete(self, series: np.ndarray) -> Moments:
        """The search starts from the states of similar training steps, with and without regard to their order."""
        states = np.concatenate([mean for mean, _ in self.states()])
        is_known = ~np.isnan(series).all(axis=1)
        walk, nearest = nearest_walk(series, self.rows, self.lengths, _NEIGHBOURS)
        starts = [(states[nearest].mean(axis=1), is_known), (states[walk], np.ones(len(series), bool))]
        precision = np.median(np.asarray(self.model.paths.precision)[np.asarray(self.data.is_real)], axis=0)
        found = complete_series(self.model, self.statistics, series, starts, precision, float(self.data.jitter))
        return found.mean, found.variance

    def simulate(self, steps: int, n_paths: int, random: np.random.Generator, number: int) -> np.ndarray:
        """Paths (n_paths, steps, p) that continue training series `number`.

        The state at its end is drawn from q and moves on as its prior says. A function is drawn for every path.
        """
        states = self._future(steps, n_paths, random, number)
        functions = self.posterior.sample_functions(jax.random.key(int(random.integers(2**31))), n_paths)
        values = np.asarray(functions.along(states))
        return values + np.sqrt(self.model.noise_variance) * random.normal(size=values.shape)

    def _future(self, steps: int, n_paths: int, random: np.random.Generator, number: int) -> np.ndarray:
        """Draws (n_paths, steps, q) of the states after the end of a training series."""
        prior = in_float64(jax.jit(Transition.of))(np.asarray(self.model.time_lengthscale))
        matrix, noise = _square(prior.matrix), np.linalg.cholesky(_square(prior.covariance))
        end = np.stack([np.asarray(each)[number] for each in self.belief.last_mean], axis=-1)  # [q, 2]
        spread = np.linalg.cholesky(_square([np.asarray(each)[number] for each in self.belief.last_covariance]))
        draw = lambda factor: np.einsum("qij,nqj->nqi", factor, random.normal(size=(n_paths, *end.shape)))  # noqa: E731
        state, path = end + draw(spread), []
        for _ in range(steps):
            state = np.einsum("qij,nqj->nqi", matrix, state) + draw(noise)
            path.append(state[..., 0])
        return np.stack(path, axis=1)


def _square(entries) -> np.ndarray:
    """Matrices [q, 2, 2] from their entries, three if they are symmetric, else four."""
    entries = list(entries)
    first, *others = entries if len(entries) == 4 else (entries[0], entries[1], entries[1], entries[2])
    return np.stack([first, *others], axis=-1).reshape(-1, 2, 2)


def fit(series: list[np.ndarray], n_slow: int, settings: Settings) -> TimeMember:
    """Fit a model, of whose states `n_slow` start at what tells the series apart, the others at what moves in them."""
    hyperpriors = {**default_hyperpriors(settings.n_states, True, None), "time_lengthscale": _TIME_LENGTHSCALE}
    data, rows = make_data(series, hyperpriors), np.concatenate(series)
    lengths = np.array([len(each) for each in series])
    model = _start(rows, lengths, n_slow, data, settings)
    idle = idle_parameters(True)
    stages = [
        Stage("held signal-to-noise", min(50, settings.max_iter), (*SIGNAL_AND_NOISE, *idle)),
        Stage("all", settings.max_iter, idle),
    ]
    model, report = fit_model(model, data, stages, TOLERANCE, settings.callback)
    return TimeMember(model, data, *solve(model, data), rows, lengths, report)


def _start(rows: np.ndarray, lengths: np.ndarray, n_slow: int, data: SequenceData, settings: Settings) -> SequenceModel:
    """States at the principal components, smoothed over time as far as each component asks for it."""
    q, p = settings.n_states, rows.shape[1]
    shape = (*data.is_real.shape, q)
    places = np.asarray(data.rows)[: len(rows)]
    components, precision = np.zeros((2, shape[0] * shape[1], q))
    components[places] = _components(rows, lengths, q, n_slow)
    precision[places] = np.where(np.isnan(rows).all(axis=1)[:, None], 0.0, _PRECISION)
    components, precision = components.reshape(shape), precision.reshape(shape)
    lengthscale = best_lengthscales(components, precision)
    mean, *_ = smooth(components, precision, lengthscale)
    inducing = centres(mean.reshape(-1, q)[places], min(settings.n_inducing, len(rows)), settings.random_state)
    paths = start_paths(mean, np.maximum(precision, NOTHING), lengthscale)
    states = mean.reshape(-1, q)[places]
    noise = _left(rows, states)
    return SequenceModel(default_kernel(q, True), inducing, noise, np.ones(p), lengthscale, paths)


def _components(rows: np.ndarray, lengths: np.ndarray, count: int, n_slow: int) -> np.ndarray:
    """Principal components, some of the means of the series, which tell them apart, and some of what moves in them."""
    if not n_slow:
        return principal_components(rows, count)
    parts = np.split(rows, np.cumsum(lengths)[:-1])
    means = np.stack([np.nansum(part, axis=0) / np.maximum(np.sum(~np.isnan(part), axis=0), 1) for part in parts])
    means = np.repeat(means, lengths, axis=0)
    return np.column_stack([principal_components(means, n_slow), principal_components(rows - means, count - n_slow)])


def _left(rows: np.ndarray, states: np.ndarray) -> np.ndarray:
    """The noise variance of each output at the start, from what is not linear in the states."""
    features = np.column_stack([np.ones(len(states)), states])
    left = rows - features @ np.linalg.lstsq(features, np.nan_to_num(rows), rcond=None)[0]
    counts = np.maximum(np.sum(~np.isnan(rows), axis=0), 1)
    return np.clip(_NOISE * np.nansum(left**2, axis=0) / counts, *_NOISE_LIMITS)
