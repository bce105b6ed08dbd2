"""One series, and all that was learned of it: it can be continued, filled and extended."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...core.exact.evidence import NOISE_FLOOR
from ...core.exact.rollout import LEAST_NOISE, propagate
from ...core.exact.windows import as_lags
from ...core.kernels import RBF, Linear
from ...progress import steps as in_steps
from ...series import fill_gaps, phases
from ...series.timeline import Timeline
from ..common.units import Units
from .dynamics import posteriors
from .exceptions import is_spike
from .gap_beliefs import GapBelief
from .priors import OverTime, Past
from .priors.base import limits
from .scale import SeriesScale
from .weights import shares


@dataclass(frozen=True)
class SeriesModel:
    """What is known of a series, in its own units, and what was learned of it, in standard units."""

    values: np.ndarray  # (T, p), NaN in gaps
    covariates: np.ndarray  # (T, c)
    timeline: Timeline
    scale: SeriesScale
    covariate_scale: Units
    offsets: np.ndarray  # (T, p), added to the values before a jump
    seasons: tuple[float, ...]
    covariate_lags: int
    has_calendar: bool  # whether functions of the past see the calendar too
    # A `Past`, an `OverTime` and, if there are gaps, a `GapBelief`: set one after the other while a series is learned.
    past: Any = None
    window: int = 0
    over_time: Any = None
    gaps: Any = None
    pasts: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 0)), repr=False)  # (k, T, p) without gaps
    priors: dict[str, Any] = field(default_factory=dict)
    weights: np.ndarray = field(default_factory=lambda: np.zeros(0))

    # ---- learning

    def standard(self) -> np.ndarray:
        """The series in the units in which it is learned, without spikes and jumps; NaN in gaps.

        Spikes of a driven system may be due to its inputs, and stay.
        """
        is_out = np.zeros(self.values.shape, bool) if "driven" in self.priors else is_spike(self.values)
        return self.scale.standard(np.where(is_out, np.nan, self.values) + self.offsets)

    def with_past(self, past: Past, window: int) -> SeriesModel:
        """The model with a function of the past."""
        return replace(self, past=past, window=window)

    def with_gaps(self, standard: np.ndarray, extra: np.ndarray, over_time: OverTime, settings: Any) -> SeriesModel:
        """The model with a belief about its gaps, and pasts in which they are filled by draws."""
        if not np.isnan(standard).any():
            return replace(self, over_time=over_time, gaps=None, pasts=standard[None])
        belief = GapBelief.of(standard, extra, over_time, self.past)
        draws = belief.draws(settings.n_draws, settings.seed)
        pasts = np.stack([belief.filled(standard, each) for each in draws])
        return replace(self, over_time=over_time, gaps=belief, pasts=pasts)

    def with_priors(self, priors: dict[str, Any], weights: np.ndarray) -> SeriesModel:
        """The model with the priors that its forecasts mix."""
        return replace(self, priors=priors, weights=weights)

    def extended(self, values: np.ndarray, covariates: np.ndarray, timeline: Timeline, settings: Any) -> SeriesModel:
        """The model with more values and the same parameters."""
        joined = np.concatenate([self.values, values]), np.concatenate([self.covariates, covariates])
        offsets = np.concatenate([self.offsets, np.zeros(values.shape)])
        longer = replace(self, values=joined[0], covariates=joined[1], timeline=timeline, offsets=offsets)
        standard = longer.standard()
        extra = features(longer, standard_covariates(self.covariate_scale, joined[1]), len(standard))
        return longer.with_gaps(standard, extra, self.over_time, settings)

    def until(self, step: int) -> SeriesModel:
        """The model without the values from a step on, and with the same parameters."""
        cut = {name: getattr(self, name)[:step] for name in ("values", "covariates", "offsets")}
        return replace(self, pasts=self.pasts[:, :step], **cut)

    # ---- forecasting

    def paths(self, ahead: np.ndarray, n_paths: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Paths (n_paths, steps, p) in the series' own units, and which of them were held at the limits.

        Covariates are those of the steps to come, in their own units.
        """
        known = self._features_with(ahead)
        parts = []
        jobs = [
            (number, name, draw, int(count))
            for number, (name, total) in enumerate(zip(self.priors, shares(self.weights, n_paths), strict=True))
            for draw, count in enumerate(shares(np.ones(len(self.pasts)), int(total)))
            if count
        ]
        for number, name, draw, count in in_steps(jobs, "paths", [count for *_, count in jobs]):
            own = np.random.SeedSequence([seed, number, draw]).generate_state(1)[0]
            parts.append(self.priors[name].paths(self.pasts[draw], known, count, int(own), in_steps))
        order = np.random.default_rng(seed).permutation(n_paths)  # so that the first paths are of all kinds
        paths, ran_out = (np.concatenate(each)[order] for each in zip(*parts, strict=True))
        return self.scale.natural(paths), ran_out

    def matched(self, propagation: str, ahead: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means and standard deviations by moment matching, with the function of the past alone."""
        past = self.pasts[0] if self.gaps is None else self.gaps.filled(self.pasts[0], self._gap_means())
        known, tau = self._features_with(ahead), int(self.past.lags[0])
        models = [_in_window(model, self.past.lags, past.shape[1]) for model in self.past.models]
        if propagation != "none":
            models = [replace(m, noise_variance=max(float(m.noise_variance), LEAST_NOISE)) for m in models]
        matched = [each.padded() for each in posteriors(models, past, known[: len(past)], tau)]
        noise = np.array([m.noise_variance + NOISE_FLOOR for m in self.past.models])
        mean, variance = propagate(propagation, matched, noise, past[-tau:], known[len(past) :])
        low, high = limits(past)
        return self.scale.natural_moments(np.clip(mean, low, high), np.minimum(np.sqrt(variance), high - low))

    def _features_with(self, ahead: np.ndarray) -> np.ndarray:
        joined = standard_covariates(self.covariate_scale, np.concatenate([self.covariates, ahead]))
        return features(self, joined, len(self.values) + len(ahead))

    def _gap_means(self) -> np.ndarray:
        mean, _ = self.gaps.moments(self.values.shape)
        return mean[self.gaps.parts[0].steps, self.gaps.parts[0].columns]

    # ---- filling

    def filled(self) -> tuple[np.ndarray, np.ndarray]:
        """The series without gaps, and the standard deviation of every value."""
        mean, std = self.values.copy(), np.zeros(self.values.shape)
        if self.gaps is not None:
            found = self.scale.natural_moments(*self.gaps.moments(self.values.shape))
            missing = np.isnan(self.values)
            mean[missing], std[missing] = (found[0] - self.offsets)[missing], found[1][missing]
        return mean, std


def standard_covariates(scale: Units, covariates: np.ndarray) -> np.ndarray:
    """Covariates in standard units, with gaps filled along a straight line."""
    return fill_gaps(scale.standard(covariates)) if covariates.shape[1] else covariates


def features(model: SeriesModel, covariates: np.ndarray, count: int) -> np.ndarray:
    """What functions of the past see beside it: covariates, their lags, and the calendar as waves (count, c)."""
    first = covariates[:1]
    lagged = [
        np.concatenate([np.repeat(first, min(lag, count), axis=0), covariates[: max(count - lag, 0)]])
        for lag in range(1, model.covariate_lags + 1)
    ]
    parts = [covariates[:count], *lagged]
    if model.has_calendar:
        turns = 2.0 * np.pi * phases(model.timeline, 0, count)[0]
        parts += [np.sqrt(2.0) * np.sin(turns), np.sqrt(2.0) * np.cos(turns)]
    return np.concatenate(parts, axis=1)


def _in_window(model: Any, lags: np.ndarray, p: int) -> Any:
    """The same function of a window with all lags: those that it does not see do not matter."""
    every = as_lags(int(lags[0]))
    if len(every) == len(lags):
        return model
    rbf, linear = model.kernel.kernels
    seen = np.repeat(np.isin(every, lags), p)
    extra = len(rbf.lengthscale) - len(lags) * p
    seen = np.concatenate([seen, np.ones(extra, bool)])
    lengthscale, variances = np.full(len(seen), 1e6), np.full(len(seen), 1e-12)
    lengthscale[seen], variances[seen] = rbf.lengthscale, linear.variances
    return replace(model, kernel=RBF(rbf.variance, lengthscale) + Linear(variances))
