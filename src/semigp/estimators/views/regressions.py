"""From some views to another: exact GPs, mixed by how well each predicts rows that are left out.

A model of all views at once spends its latent inputs on whatever varies most in any of them. What one view tells about
another is learned better by a regression. So a view is predicted by a mixture of GPs. Their inputs are the given
columns (with one lengthscale for each view, or for each column), the latent inputs, both, or what the model predicts.

Missing entries of the given columns are filled in by the model. Latent inputs and the model's prediction come from the
given views alone, for training rows as for new ones.

How much is known of a row depends on its holes, which may be more or fewer than those of the training rows. The model's
own prediction knows: its variance grows with them. So the variance that a GP has for the average training row is
multiplied by the model's variance for the row, over its mean for the training rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from ...core.exact.certain import OutputDensity, fit_hyperparameters, left_out
from ...core.label_gp import evenly_spread

_MAX_ITERATIONS = 40
# Hyperparameters are found from at most this many rows. Predictions use at most this many.
_MOST_ROWS, _MOST_KNOWN = 500, 2000
# Widening starts at 1, which counts as many rows.
_PRIOR_ROWS = 10.0
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
    variance: np.ndarray  # (n, p) and its variance

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
    widening: np.ndarray  # (p,) factors on the variances
    density: OutputDensity

    @classmethod
    def of(
        cls,
        inputs: np.ndarray,
        groups: np.ndarray,
        targets: np.ndarray,
        weight: np.ndarray,
        doubt: np.ndarray,
        blocks: np.ndarray | None = None,
    ) -> tuple[Regression, np.ndarray]:
        """Fitted to targets (n, p), of which some were filled in, with its means of those that are left out.

        Inputs are scaled so that their squares, summed over a group, have the mean 1. Targets that were filled in are
        smoother than others. So the variances are those that known ones show when they are left out, one by one or in
        blocks (n,). `weight` (n, p) says how much each counts for that: 0 if it was filled in. `doubt` are the factors
        (n, p) on the variances of single rows.
        """
        centre, margin = inputs.mean(axis=0), _MARGIN * inputs.std(axis=0)
        lower, upper = inputs.min(axis=0) - margin, inputs.max(axis=0) + margin
        squares = np.bincount(groups, np.mean((inputs - centre) ** 2, axis=0))
        scale = np.sqrt(np.where(squares > 0, squares, 1.0))[groups]
        inputs = (inputs - centre) / scale
        rows = evenly_spread(len(inputs), _MOST_ROWS)
        found = fit_hyperparameters(inputs[rows], targets[rows], groups, None, _MAX_ITERATIONS)
        mean, variance = left_out(found, inputs[rows], targets[rows], None if blocks is None else blocks[rows])
        ratios = weight[rows] * (targets[rows] - mean) ** 2 / (variance * doubt[rows])
        widening = (np.sum(ratios, axis=0) + _PRIOR_ROWS) / (np.sum(weight[rows], axis=0) + _PRIOR_ROWS)
        density = OutputDensity.given(found, inputs, targets, precision=np.float64)
        return cls(lower, upper, centre, scale, widening, density), mean

    def predict(self, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of the columns, noise included."""
        held = np.clip(inputs, self.lower, self.upper)
        mean, variance = self.density.moments((held - self.centre) / self.scale)
        return mean, variance * self.widening


@dataclass(frozen=True)
class Regressions:
    """All GPs from the places of rows to the columns of another view, and their weights."""

    members: tuple[Regression, ...]
    weights: np.ndarray
    typical: np.ndarray  # (p,) the mean over training rows of the model's own variance

    @classmethod
    def of(cls, places: Places, targets: np.ndarray, filled: np.ndarray) -> Regressions:
        """Fitted to the training rows, whose targets (n, p) are NaN where missing, and in `filled` are not."""
        some = evenly_spread(len(targets), _MOST_KNOWN)
        targets, filled, known = targets[some], filled[some], ~np.isnan(targets[some])
        typical = np.mean(places.variance[some], axis=0)
        doubt = places.variance[some] / typical
        fitted = [Regression.of(inputs[some], groups, filled, known, doubt) for inputs, groups in places.inputs()]
        members, means = zip(*fitted, strict=True)
        stacked = _stacked(np.stack(means), targets[evenly_spread(len(targets), _MOST_ROWS)])
        return cls(members, (1.0 - _EQUAL) * stacked + _EQUAL / len(members), typical)

    def predict(self, places: Places) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances (k, n, p) of all GPs."""
        pairs = zip(self.members, places.inputs(), strict=True)
        means, variances = zip(*(member.predict(inputs) for member, (inputs, _) in pairs), strict=True)
        return np.stack(means), np.stack(variances) * places.variance / self.typical


def _stacked(means: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The weights w ≥ 0 with sum 1 that minimise Σ_i (y_i - Σ_k w_k m_ki)², over known targets y (n, p).

    A row of large equal numbers holds the sum of the weights at 1, so that non-negative least squares finds them.
    """
    known = ~np.isnan(targets)
    columns, heavy = means[:, known].T, _SUM * np.sqrt(known.sum())
    weights, _ = nnls(np.vstack([columns, np.full((1, len(means)), heavy)]), np.append(targets[known], heavy))
    return weights / weights.sum()
