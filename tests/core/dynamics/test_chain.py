"""The oracle is the dense Gaussian over all states: x = (I - A)⁻¹ (L e), written out as one matrix."""

import numpy as np
import pytest

from semigp.core.dynamics.chain import Chain, ChainMoves, reference_of

N, Q = 6, 2
IS_FIRST = np.array([True, False, False, True, False, False])


@pytest.fixture
def chain(random):
    transition = np.where(IS_FIRST[:, None, None], 0.0, random.normal(size=(N, Q, Q)))
    factor = np.tril(0.3 * random.normal(size=(N, Q, Q)), -1) + np.eye(Q) * random.uniform(0.5, 1.5, size=(N, 1, Q))
    return Chain(random.normal(size=(N, Q)), transition, factor)


def _dense(chain):
    ties, roots = np.eye(N * Q), np.zeros((N * Q, N * Q))
    for t in range(N):
        own = slice(t * Q, t * Q + Q)
        roots[own, own] = chain.factor[t]
        if t:
            ties[own, t * Q - Q : t * Q] = -chain.transition[t]
    half = np.linalg.solve(ties, roots)
    return half @ half.T


def test_covariances_and_entropy(x64, chain):
    dense = _dense(chain)
    found = np.asarray(chain.covariances())
    for t in range(N):
        np.testing.assert_allclose(found[t], dense[t * Q : t * Q + Q, t * Q : t * Q + Q], rtol=1e-12)
    entropy = 0.5 * np.linalg.slogdet(2 * np.pi * np.e * dense)[1]
    np.testing.assert_allclose(chain.entropy(np.ones(N, bool)), entropy, rtol=1e-12)


def test_no_moves_are_the_reference(x64, chain):
    reference = reference_of(chain, np.asarray(chain.covariances()), IS_FIRST)
    found = reference.moved(ChainMoves.none(N, Q))
    for name in ("mean", "transition", "factor"):
        np.testing.assert_allclose(getattr(found, name), getattr(chain, name), atol=1e-14)


def test_coordinates_of_the_mean_are_white(x64, chain, random):
    """A shift of the mean by the coordinates ξ has the squared length |ξ|² in the metric of the chain's precision."""
    reference = reference_of(chain, np.asarray(chain.covariances()), IS_FIRST)
    moves = ChainMoves(random.normal(size=(N, Q)), np.zeros((N, Q, Q)), np.zeros((N, Q, Q)))
    shift = np.ravel(reference.moved(moves).mean - chain.mean)
    np.testing.assert_allclose(shift @ np.linalg.solve(_dense(chain), shift), np.sum(moves.mean**2), rtol=1e-9)


def test_series_stay_apart(x64, chain, random):
    """Moves at the steps of the first series leave the second as it is."""
    reference = reference_of(chain, np.asarray(chain.covariances()), IS_FIRST)
    moves = ChainMoves.none(N, Q)
    moves.mean[:3], moves.transition[:3], moves.factor[:3] = 1.0, 1.0, 1.0
    found = reference.moved(moves)
    np.testing.assert_allclose(found.mean[3:], chain.mean[3:], rtol=1e-14)
    np.testing.assert_allclose(found.covariances()[3:], chain.covariances()[3:], rtol=1e-14)


@pytest.mark.parametrize("power", [-40, 40])
def test_units_of_the_states_do_not_matter(x64, chain, power):
    """Covariances that are 4^k times as large have a whitener that is 2^-k of it, exactly: jitter follows the scale."""
    covariances = np.asarray(chain.covariances())
    expected = reference_of(chain, covariances, IS_FIRST).whitener * np.where(IS_FIRST, 1.0, 2.0**-power)[:, None, None]
    found = reference_of(chain, covariances * 4.0**power, IS_FIRST).whitener
    np.testing.assert_allclose(found, expected, rtol=1e-12)
