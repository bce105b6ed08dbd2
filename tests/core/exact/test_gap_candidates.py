"""Short gaps by weighed candidates. Oracle: the exact Gaussian of a linear process."""

import numpy as np

from semigp.core.exact.gap_candidates import _blocks, weigh_candidates
from semigp.core.exact.gaps import Gaps, infer_gaps
from semigp.core.exact.gp import ExactModel
from semigp.core.kernels import Linear


def _wide(gaps):
    return Gaps(gaps.steps, gaps.columns, np.zeros(len(gaps.mean)), np.eye(len(gaps.mean)))


def test_a_linear_process_keeps_its_gaussian():
    """Both ways see the same density, in which the slope is known to 2 %; 1000 candidates in four rounds allow 15 %."""
    random, values = np.random.default_rng(0), np.zeros(400)
    for t in range(1, 400):
        values[t] = 0.8 * values[t - 1] + 0.3 * random.normal()
    series = values[:, None].copy()
    series[[200, 201, 300]] = np.nan
    models, lags, nothing = [ExactModel(Linear(np.array([1.0])), 0.09)], np.array([1]), np.zeros((400, 0))
    gaps = infer_gaps(series, np.zeros(series.shape), models, lags, nothing)
    found = weigh_candidates(series, gaps, _wide(gaps), models, lags, nothing)
    np.testing.assert_allclose(found.mean, gaps.mean, atol=0.06)
    np.testing.assert_allclose(np.diagonal(found.covariance), np.diagonal(gaps.covariance), rtol=0.15)
    assert (found.covariance[2, :2] == 0.0).all()


def test_neighbouring_gaps_are_one_unless_they_are_long():
    assert [block.tolist() for block in _blocks(np.array([3, 4, 7, 20, 21]))] == [[0, 1, 2], [3, 4]]
    long = np.array([*range(10, 17), 19])
    assert [block.tolist() for block in _blocks(long)] == [list(range(7)), [7]]
