"""What a regression predicts: a mixture of Gaussians for every row, its moments, quantiles and density."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core import InputBelief
from ...core.numerics.mixtures import log_densities, moments, quantiles
from ...progress import portion, steps, watched
from ...runtime import computing
from ..common.blocks import blocks
from ..common.checks import check_outputs
from ..common.component import Component
from ..common.outputs import PredictsOutputs
from ..common.units import Units
from ..particles.side_by_side import map_side_by_side

# Means and variances (k, n, p) of the parts of a mixture, and their weights (k,).
Mixture = tuple[np.ndarray, np.ndarray, np.ndarray]
_COST_OF_HOLES = 7.0  # about how much longer a row with holes takes to predict


class PredictsMixtures(PredictsOutputs):
    """A regressor with several components, each of which predicts at beliefs about the inputs."""

    _y_units: Units
    _input_units: Any
    verbose: bool

    def log_density(self, X: Any, y: Any, X_std: Any = None) -> np.ndarray:
        """The log density (n,) of new outputs y, (n,) or (n, p). Outputs that are NaN contribute nothing."""
        X, error = self._check_new(X, X_std)
        outputs = check_outputs(y, X, len(self._y_units))
        found, targets = np.empty(len(X)), self._y_units.standard(outputs)
        for rows, mixture in self._mixtures(X, error):
            found[rows] = log_densities(*mixture, targets[rows])
        return found - np.where(np.isnan(outputs), 0.0, np.log(self._y_units.std)).sum(axis=1)

    def quantile(self, X: Any, levels: Any, X_std: Any = None) -> np.ndarray:
        """Quantiles of new outputs, (levels, n) or (levels, n, p).

        The prediction of a row is a mixture of Gaussians. With holes it may be skewed, or have two peaks, which mean
        and standard deviation do not tell.
        """
        levels = np.atleast_1d(np.asarray(levels, float))
        if levels.ndim != 1 or not ((levels > 0.0) & (levels < 1.0)).all():
            raise ValueError(f"levels are between 0 and 1, as in [.05, .95], and not {levels.tolist()}.")
        X, error = self._check_new(X, X_std)
        found = np.empty((len(levels), len(X), len(self._y_units)))
        for rows, mixture in self._mixtures(X, error):
            found[:, rows] = quantiles(*mixture, levels)
        found = self._y_units.natural(found)
        return found[..., 0] if self._y_is_flat else found

    def _output_moments(self, X: Any, X_std: Any) -> tuple[np.ndarray, np.ndarray]:
        X, error = self._check_new(X, X_std)
        mean, variance = np.empty((2, len(X), len(self._y_units)))
        for rows, mixture in self._mixtures(X, error):
            mean[rows], variance[rows] = moments(*mixture)
        return self._y_units.natural(mean), np.sqrt(variance) * self._y_units.std

    def _mixtures(self, X: np.ndarray, error: np.ndarray) -> Iterator[tuple[np.ndarray, Mixture]]:
        """Numbers of rows, and their mixtures in standard units."""
        inputs, error = self._input_units.standard(X), self._input_units.bars(X, error)
        has_holes = np.isnan(inputs).any(axis=1)
        with watched("predict", self.verbose), computing():
            # Rows without holes have one belief, rows with holes have one for every draw.
            parts = blocks(np.flatnonzero(~has_holes), np.flatnonzero(has_holes))
            costs = [len(rows) * (_COST_OF_HOLES if has_holes[rows[0]] else 1.0) for rows in parts]
            for rows in steps(parts, "rows", costs):
                yield rows, self._mixture(inputs[rows], error[rows])

    def _mixture(self, inputs: np.ndarray, error: np.ndarray) -> Mixture:
        """The mixture of rows, all with holes or all without, in standard units."""
        to_draw = 0.5 if np.isnan(inputs).any() else 0.0  # about the share of the time
        with portion(0.0, to_draw):
            pairs = self._beliefs(inputs, error)
        with portion(to_draw, 1.0):
            compiled = [i for i, (component, _) in enumerate(pairs) if isinstance(component, Component)]
            others = [i for i in range(len(pairs)) if i not in compiled]
            found = {i: pairs[i][0].predict(pairs[i][1]) for i in steps(compiled, "outputs")}  # JAX has its own threads
            predicted = map_side_by_side(lambda i: pairs[i][0].predict(pairs[i][1]), others, "outputs")
            found |= dict(zip(others, predicted, strict=True))
        means, variances = (np.stack([found[i][part] for i in range(len(pairs))]) for part in (0, 1))
        return means, variances, self._weights_of(pairs)

    def _weights_of(self, pairs: list[tuple[Any, InputBelief]]) -> np.ndarray:
        """The weight of every pair of a component and a belief."""
        return np.full(len(pairs), 1.0 / len(pairs))

    def _check_new(self, X: Any, X_std: Any) -> tuple[np.ndarray, np.ndarray]:
        """New rows and their error bars, with the columns in the order in which the model knows them."""
        raise NotImplementedError

    def _beliefs(self, inputs: np.ndarray, error: np.ndarray) -> list[tuple[Any, InputBelief]]:
        """Pairs of a component and a belief at which it predicts."""
        raise NotImplementedError
