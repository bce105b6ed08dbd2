"""Short gaps by weighed candidates. Oracles: the exact Gaussian of a linear process, and a gap with two answers."""

import numpy as np

from semigp.core.exact.gap_candidates import _blocks, weigh_candidates
from semigp.core.exact.gaps import Gaps, infer_gaps
from semigp.core.exact.gp import ExactModel
from semigp.core.kernels import RBF, Linear


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


def test_a_gap_with_two_answers_gets_both():
    """x(t+1) = 1 - 1.9 |x(t)|, before and after the gap as if the gap were ±a: the mean is 0, the deviation a, to 15 %."""
    random, values = np.random.default_rng(1), [0.1]
    for _ in range(300):
        values.append(1.0 - 1.9 * abs(values[-1]) + 0.001 * random.normal())
    series = np.array(values)[:, None]
    at = int(np.argmax(np.abs(np.abs(series[100:200, 0]) - 0.5) < 0.1)) + 100
    size = abs(series[at, 0])
    series[at] = np.nan
    # The value after the gap knows only its size; the value before it is a gap's width away from saying which.
    series[at - 1] = np.nan
    series[at - 2] = np.nan
    model = ExactModel(RBF(1.0, np.array([0.5])) + Linear(np.array([0.01])), 1e-3)
    gaps = infer_gaps(series, np.zeros(series.shape), [model], np.array([1]), np.zeros((301, 0)))
    found = weigh_candidates(series, gaps, _wide(gaps), [model], np.array([1]), np.zeros((301, 0)))
    last = np.flatnonzero(found.steps == at)[0]
    assert found.covariance[last, last] > gaps.covariance[last, last]
    assert abs(found.mean[last]) < size + 0.1


def test_neighbouring_gaps_are_one_unless_they_are_long():
    assert [block.tolist() for block in _blocks(np.array([3, 4, 7, 20, 21]))] == [[0, 1, 2], [3, 4]]
    long = np.array([*range(10, 17), 19])
    assert [block.tolist() for block in _blocks(long)] == [list(range(7)), [7]]
