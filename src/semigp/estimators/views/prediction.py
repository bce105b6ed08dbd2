"""The fitted model of all views, in standard units: q(x) of new rows, and what it tells about another view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...core import InputBelief, Posterior
from ...progress import portion, steps
from ..common.blocks import blocks
from ..common.relevance import slope_variance
from ..latent.row_beliefs import RowBeliefs
from ..latent.row_search import Embedded, search_rows
from .regressions import Places, Regressions
from .residuals import Residuals
from .start import side_by_side

# With fewer training rows that have both the given views and the other one, the model predicts alone.
_FEWEST_ROWS = 10


@dataclass(frozen=True)
class Mixture:
    """Gaussians for every entry of some rows, and their weights."""

    mean: np.ndarray  # (k, n, p)
    variance: np.ndarray  # (k, n, p)
    weight: np.ndarray  # (k, n), with sum 1 for every row

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of every entry (n, p)."""
        mean = np.einsum("kn,knp->np", self.weight, self.mean)
        return mean, np.einsum("kn,knp->np", self.weight, self.variance + (self.mean - mean) ** 2)


@dataclass(frozen=True)
class Route:
    """From some views to another: how their holes are filled in, and the regressions."""

    residuals: dict[int, Residuals]  # of the given views that have holes in training
    regressions: Regressions


@dataclass
class ViewPosteriors:
    """q(U) of every view, and the training rows with their q(x)."""

    posteriors: tuple[Posterior, ...]
    rows: tuple[np.ndarray, ...]  # (n, p_v) of every view, NaN where missing
    order: np.ndarray  # (n,) our order of the rows
    mean: np.ndarray  # (n, q)
    std: np.ndarray  # (n, q)
    routes: dict[Any, Route | None] = field(default_factory=dict)  # those that were needed so far; not in files

    def _stored(self) -> dict[str, Any]:
        return {**vars(self), "routes": {}}

    def infer(self, given: Mapping[int, np.ndarray]) -> RowBeliefs:
        """q(x) of rows from the views that are given by number, in standard units."""
        known = Embedded(side_by_side([self.rows[k] for k in given]), self.order, self.mean, self.std)
        weighed = side_by_side([*given.values()])
        return search_rows([self.posteriors[k] for k in given], [*given.values()], known, weighed)

    def noise_variance(self, view: int) -> np.ndarray:
        """The noise variance of every column of a view."""
        return np.asarray(self.posteriors[view].likelihood.noise_variance)

    def draw(self, view: int, key: Any, inputs: np.ndarray) -> np.ndarray:
        """The columns of a view at latent inputs (n, q), each under a function of its own, without noise."""
        return np.asarray(self.posteriors[view].sample_functions(key, len(inputs)).each(inputs))

    def outputs(self, beliefs: RowBeliefs, view: int) -> Mixture:
        """What the model alone says of a view of rows, noise included."""
        posterior = self.posteriors[view]
        means, variances = np.zeros((2, *beliefs.weight.shape, posterior.n_outputs))
        for k, rows, mean, std in steps([*beliefs.parts()], "rows"):
            for some in blocks(np.arange(len(rows))):
                found = posterior.predict(InputBelief(mean[some], std[some] ** 2))
                means[k, rows[some]], variances[k, rows[some]] = found
        return Mixture(means, variances + self.noise_variance(view), beliefs.weight)

    def predict(self, given: Mapping[int, np.ndarray], view: int) -> Mixture:
        """Another view of rows: by regressions, or by the model alone if too few training rows have all these views."""
        with portion(0.0, 0.5):
            route = self._route(tuple(given), view)
        with portion(0.5, 1.0):
            beliefs = self.infer(given)
            own = self.outputs(beliefs, view)
        if route is None:
            return own
        places = self._places(given, beliefs, own, route.residuals)
        weight = np.repeat(route.regressions.weights[:, None], len(beliefs.mean[0]), axis=1)
        return Mixture(*route.regressions.predict(places), weight)

    def _route(self, given: tuple[int, ...], view: int) -> Route | None:
        """The regressions from the given views to another one, fitted when they are needed for the first time."""
        if (given, view) not in self.routes:
            self.routes[given, view] = self._new_route(given, view)
        return self.routes[given, view]

    def _new_route(self, given: tuple[int, ...], view: int) -> Route | None:
        has_both = ~np.isnan(np.hstack([self.rows[k] for k in given])).all(axis=1)
        has_both &= ~np.isnan(self.rows[view]).all(axis=1)
        both = self.order[has_both[self.order]]
        if len(both) < _FEWEST_ROWS:
            return None
        training = {k: self.rows[k][both] for k in given}
        beliefs = self.infer(training)
        residuals = {}
        for k, rows in training.items():
            if np.isnan(rows).any():
                residuals[k] = Residuals.of(rows - self.outputs(beliefs, k).moments()[0])
        places = self._places(training, beliefs, self.outputs(beliefs, view), residuals)
        targets = self.rows[view][both]
        return Route(residuals, Regressions.of(places, targets, self._filled(view, both, targets)))

    def _filled(self, view: int, both: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The targets of training rows, with their holes filled in from all views of the row."""
        if not np.isnan(targets).any():
            return targets
        expected = self.outputs(RowBeliefs.single(self.mean[both], self.std[both] ** 2), view).moments()[0]
        left = targets - expected
        return expected + Residuals.of(left).expected(left)

    def _places(
        self, given: Mapping[int, np.ndarray], beliefs: RowBeliefs, own: Mixture, residuals: Mapping[int, Residuals]
    ) -> Places:
        filled = []
        for k, rows in given.items():
            if np.isnan(rows).any():
                expected = self.outputs(beliefs, k).moments()[0]
                left = residuals[k].expected(rows - expected) if k in residuals else 0.0
                rows = np.where(np.isnan(rows), expected + left, rows)
            filled.append(rows)
        views = np.repeat(np.arange(len(filled)), [rows.shape[1] for rows in filled])
        # The product of the kernels of the given views has the precision Σ_v 1/ℓ_v².
        precision = np.sum([slope_variance(self.posteriors[k].kernel) for k in given], axis=0)
        latent = beliefs.moments()[0] * np.sqrt(precision)
        return Places(np.hstack(filled), views, latent, *own.moments())
