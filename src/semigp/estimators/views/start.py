"""Where the fit of several views starts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.sparse.defaults import NOISE_VARIANCE, default_hyperpriors, default_kernel
from ...core.views.model import View, ViewsData, ViewsModel, make_views_data
from ..common.starts import START_VARIANCE, centres, principal_components

# The factor on the usual starting variance of q(x), as in BayesianGPLVM.
_VARIANCE_START = 0.2


def side_by_side(views: Sequence[np.ndarray]) -> np.ndarray:
    """All views as one table, in which every view weighs the same, however many columns it has."""
    fewest = min(view.shape[1] for view in views)
    return np.hstack([np.sqrt(fewest / view.shape[1]) * view for view in views])


def start_views(
    views: Sequence[np.ndarray], n_components: int, n_inducing: int, per_output: Sequence[bool], random_state: int
) -> tuple[ViewsModel, ViewsData]:
    """A model of views (n, p_v) in standard units from which a fit can start, and its data.

    q(x) starts at the principal components of all views side by side. Rows without any value stay at the prior.
    `per_output` says which views have a noise and a signal variance for every column.
    """
    together = side_by_side(views)
    data = make_views_data(views, n_components, default_hyperpriors(n_components, False, None))
    mean = principal_components(together, n_components)
    inducing = mean if len(mean) <= n_inducing else centres(mean, n_inducing, random_state)
    rows, is_real = data[0].rows, data[0].rows >= 0
    means, variances = np.zeros((len(rows), n_components)), np.full((len(rows), n_components), START_VARIANCE)
    means[is_real], variances[is_real] = mean[rows[is_real]], _VARIANCE_START * START_VARIANCE
    is_empty = np.isnan(together).all(axis=1)[rows]
    parts = []
    for view, has_own in zip(views, per_output, strict=True):
        ones: np.ndarray = np.ones(view.shape[1] if has_own else ())
        parts.append(View(default_kernel(n_components, False), inducing, np.asarray(NOISE_VARIANCE * ones), ones))
    return ViewsModel(tuple(parts), means, np.where(is_empty[:, None], 1.0, variances)), data
