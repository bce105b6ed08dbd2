"""q(x) of new rows by a search that starts from similar training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.metrics.pairwise import nan_euclidean_distances
from sklearn.neighbors import NearestNeighbors

from ...core import Posterior
from ...core.rows.converged import infer_rows_of_views
from ...progress import steps
from ..common.blocks import ROWS_TO_INFER, blocks
from .row_beliefs import RowBeliefs

# The search for q(x) of a row with holes starts from this many training rows, one after the other.
_STARTS = 5


@dataclass(frozen=True)
class Embedded:
    """Training rows in standard units, and q(x) of each."""

    rows: np.ndarray  # (n, p), all views side by side
    order: np.ndarray  # (n,) our order of the rows, by which ties are decided
    mean: np.ndarray  # (n, q)
    std: np.ndarray  # (n, q)

    def nearest(self, targets: np.ndarray, count: int) -> np.ndarray:
        """The numbers of the `count` training rows that are nearest on the known entries (count, k)."""
        rows = self.rows[self.order]
        if count == 1 and not np.isnan(rows).any():
            nearest = NearestNeighbors(n_neighbors=1).fit(rows).kneighbors(targets, return_distance=False)
        else:
            distances = nan_euclidean_distances(targets, rows)
            nearest = np.argsort(np.nan_to_num(distances, nan=np.inf), axis=1, kind="stable")[:, :count]
        return self.order[nearest.T]


def search_rows(
    posteriors: Sequence[Posterior], targets: Sequence[np.ndarray], known: Embedded, together: np.ndarray
) -> RowBeliefs:
    """q(x) of new rows, from their outputs in one or several views, which are `together` compared with `known` rows.

    A search starts from q(x) of the training rows that are nearest, compared on the known entries. Complete rows start
    from one training row. Rows with holes start from several, and may end in several places.
    """
    has_holes = np.isnan(together).any(axis=1)
    most = min(_STARTS, len(known.rows)) if has_holes.any() else 1
    means, variances = np.zeros((2, most, len(together), known.mean.shape[1]))
    bounds = np.full((most, len(together)), -np.inf)
    parts = blocks(np.flatnonzero(~has_holes), np.flatnonzero(has_holes), size=ROWS_TO_INFER)
    counts = [most if has_holes[rows[0]] else 1 for rows in parts]
    costs = [count * len(rows) for count, rows in zip(counts, parts, strict=True)]
    for count, rows in steps([*zip(counts, parts, strict=True)], "latent inputs", costs):
        for k, nearest in enumerate(steps(known.nearest(together[rows], count), "latent inputs")):
            begin = known.mean[nearest], known.std[nearest] ** 2
            found = infer_rows_of_views(posteriors, [each[rows] for each in targets], *begin)
            means[k, rows], variances[k, rows], bounds[k, rows] = found
    return RowBeliefs.weighed(means, np.where(variances > 0, variances, 1.0), bounds)
