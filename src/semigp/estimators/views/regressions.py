"""From some views to another: exact GPs, mixed by how well each predicts rows that are left out.

A model of all views at once spends its latent inputs on whatever varies most in any of them. What one view tells about
another is learned better by a regression. So a view is predicted by a mixture of GPs. Their inputs are the given
columns (with one lengthscale for each view, or for each column), the latent inputs, both, or what the model predicts.

Missing entries of the given columns are filled in by the model. Latent inputs and the model's prediction come from the
given views alone, for training rows as for new ones. So both kinds of rows have errors of the same size, which the
noise of a GP includes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from ...core.exact.certain import OutputDensity, fit_hyperparameters, left_out, with_noise
from ...core.label_gp import evenly_spread

_MAX_ITERATIONS = 40
# Hyperparameters are found from at most this many rows, and from this many outputs if these are missing in different
# rows. Predictions use at most this many rows.
_MOST_ROWS, _MOST_OUTPUTS, _MOST_KNOWN = 500, 8, 2000
# With more columns than this, columns have no lengthscales of their own.
_MOST_COLUMNS = 300
# Inputs of new rows lie no further than this many standard deviations outside the range of the training rows.
_MARGIN = 0.5
# The weights of the GPs are stacked weights, moved by this share towards equal ones. GPs with many lengthscales seem
# better on rows that are left out than they are on new ones.
_EQUAL = 0.5
# In stacking, how much the sum of the weights counts beside the errors.
_SUM = 1e3


@dataclass(frozen=True)
class Places:
    """What is known of rows from the given views."""

    columns: np.ndarray  # (n, d) all given views side by side, without NaN
    views: np.ndarray  # (d,) the number of the view of each column
    latent: np.ndarray  # (n, q) means of q(x) in units of the lengthscales
    predicted: np.ndarray  # (n, p) the model's own prediction of the other view

    def inputs(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """The inputs of every GP, and the group of each input. A group has one lengthscale."""
        d, q, p = (table.shape[1] for table in (self.columns, self.latent, self.predicted))
        each = np.arange(d) if d <= _MOST_COLUMNS else self.views
        both = np.hstack([self.columns, self.latent]), np.r_[each, np.full(q, each.max() + 1)]
        alone = [(self.latent, np.zeros(q, int)), (self.predicted, np.zeros(p, int))]
        return [(self.columns, self.views), (self.columns, each), both, *alone]


@dataclass(frozen=True)
class Regression:
    """One GP from inputs to the columns of a view."""

    lower: np.ndarray  # the range of the inputs
    upper: np.ndarray
    centre: np.ndarray
    scale: np.ndarray
    density: OutputDensity

    @classmethod
    def of(cls, inputs: np.ndarray, groups: np.ndarray, targets: np.ndarray) -> tuple[Regression, np.ndarray]:
        """Fitted to targets (n, p), NaN where missing, with its means of those that are left out.

        Inputs are scaled so that their squares, summed over a group, have the mean 1.
        """
        centre, margin = inputs.mean(axis=0), _MARGIN * inputs.std(axis=0)
        lower, upper = inputs.min(axis=0) - margin, inputs.max(axis=0) + margin
        squares = np.bincount(groups, np.mean((inputs - centre) ** 2, axis=0))
        scale = np.sqrt(np.where(squares > 0, squares, 1.0))[groups]
        inputs = (inputs - centre) / scale
        rows, outputs = evenly_spread(len(inputs), _MOST_ROWS), np.arange(targets.shape[1])
        some = evenly_spread(len(outputs), _MOST_OUTPUTS) if np.isnan(targets).any() else outputs
        found = fit_hyperparameters(inputs[rows], targets[np.ix_(rows, some)], groups, None, _MAX_ITERATIONS)
        if len(some) < len(outputs):
            found = with_noise(found, inputs[rows], targets[rows], groups)
        density = OutputDensity.given(found, inputs, targets, precision=np.float64)
        return cls(lower, upper, centre, scale, density), left_out(found, inputs[rows], targets[rows])[0]

    def predict(self, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of the columns, noise included."""
        return self.density.moments((np.clip(inputs, self.lower, self.upper) - self.centre) / self.scale)


@dataclass(frozen=True)
class Regressions:
    """All GPs from the places of rows to the columns of another view, and their weights."""

    members: tuple[Regression, ...]
    weights: np.ndarray

    @classmethod
    def of(cls, places: Places, targets: np.ndarray) -> Regressions:
        """Fitted to the training rows, whose targets (n, p) are NaN where missing."""
        known = np.flatnonzero(~np.isnan(targets).all(axis=1))
        known = known[evenly_spread(len(known), _MOST_KNOWN)]
        fitted = [Regression.of(inputs[known], groups, targets[known]) for inputs, groups in places.inputs()]
        members, means = zip(*fitted, strict=True)
        stacked = _stacked(np.stack(means), targets[known[evenly_spread(len(known), _MOST_ROWS)]])
        return cls(members, (1.0 - _EQUAL) * stacked + _EQUAL / len(members))

    def predict(self, places: Places) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances (k, n, p) of all GPs."""
        pairs = zip(self.members, places.inputs(), strict=True)
        means, variances = zip(*(member.predict(inputs) for member, (inputs, _) in pairs), strict=True)
        return np.stack(means), np.stack(variances)


def _stacked(means: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The weights w ≥ 0 with sum 1 that minimise Σ_i (y_i - Σ_k w_k m_ki)², over known targets y (n, p).

    A row of large equal numbers holds the sum of the weights at 1, so that non-negative least squares finds them.
    """
    known = ~np.isnan(targets)
    columns, heavy = means[:, known].T, _SUM * np.sqrt(known.sum())
    weights, _ = nnls(np.vstack([columns, np.full((1, len(means)), heavy)]), np.append(targets[known], heavy))
    return weights / weights.sum()
