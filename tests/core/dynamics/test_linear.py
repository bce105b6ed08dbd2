"""The oracle of the smoother is one dense Gaussian over all states; that of identification is the system itself."""

import numpy as np
import pytest

from semigp.core.dynamics import linear
from semigp.core.dynamics.linear import LinearModel, identify
from tests import oracles
from tests.core.dynamics.systems import A, B, C, Q, R, series

MODEL = LinearModel(A, np.column_stack([B, np.zeros(2)]), np.column_stack([C, np.zeros(2)]), Q, R)


def test_smoothed_states(random):
    values, inputs = series(random)
    mean, covariance, _ = oracles.linear_states(A, B, C, Q, R, values, inputs)
    found = MODEL.smoothed(values, inputs, np.arange(len(values)) == 0)
    np.testing.assert_allclose(found.mean, mean, atol=1e-10)
    for t in range(len(values)):
        np.testing.assert_allclose(found.covariance[t], covariance[t, :, t], atol=1e-10)
        if t:
            np.testing.assert_allclose(found.lagged[t], covariance[t, :, t - 1], atol=1e-10)


def test_several_series_are_smoothed_one_by_one(random):
    parts = [series(random, 8), series(random, 11)]
    values, inputs = (np.concatenate(part) for part in zip(*parts, strict=True))
    is_first = np.isin(np.arange(19), [0, 8])
    found = MODEL.smoothed(values, inputs, is_first)
    alone = [MODEL.smoothed(*part, np.arange(len(part[0])) == 0) for part in parts]
    np.testing.assert_allclose(found.mean, np.concatenate([one.mean for one in alone]), atol=1e-12)
    np.testing.assert_allclose(found.covariance, np.concatenate([one.covariance for one in alone]), atol=1e-12)


def test_turned_states_are_the_same_model(random):
    """States in other coordinates: y has the same smoothed mean C x + constant."""
    values, inputs = series(random)
    is_first = np.arange(len(values)) == 0
    is_first[:] = False
    is_first[0] = True
    turned = MODEL.turned(np.array([[2.0, 0.5], [-0.3, 1.0]]), np.array([0.3, -0.2]))
    # The prior N(0, I) of the first state is not turned. A certain first output makes it irrelevant.
    values[0] = C @ np.array([0.4, -1.0])
    sharp = [LinearModel(m.transition, m.drive, m.observation, m.process, np.full(2, 1e-9)) for m in (MODEL, turned)]
    fitted = [m.smoothed(values, inputs, is_first).mean @ m.observation[:, :2].T + m.observation[:, 2] for m in sharp]
    np.testing.assert_allclose(fitted[0], fitted[1], atol=1e-5)


def test_identified_system(random):
    """Poles of a system of two states, from 400 outputs with little noise, and standard states."""
    inputs = random.normal(size=(400, 1))
    states = np.zeros((400, 2))
    for t in range(1, 400):
        states[t] = A @ states[t - 1] + B @ inputs[t]
    values = states @ C.T + 0.02 * random.normal(size=(400, 2))
    values[50:60] = np.nan
    filled = np.nan_to_num(values)
    model, moments = identify(values, filled, inputs, np.arange(400) == 0, 2, 1e-3, 0)
    poles = np.linalg.eigvals(model.transition)
    np.testing.assert_allclose(np.sort_complex(poles), np.sort_complex(np.linalg.eigvals(A)), atol=0.02)
    assert np.abs(moments.mean.mean(axis=0)).max() < 0.1
    np.testing.assert_allclose(np.cov(moments.mean.T), np.eye(2), atol=0.1)
    assert np.abs(model.process - np.diag(np.diag(model.process))).max() == 0.0
    assert np.diag(model.process).max() <= 1e-3


@pytest.mark.parametrize("process_variance", [1e-3, np.inf])
def test_the_cap_of_the_process_comes_down_by_equal_factors(random, monkeypatch, process_variance):
    """From .3 to what is asked for in two thirds of the steps, and then it stays; no cap at all if that is infinite."""
    caps, standard = [], linear._standard
    monkeypatch.setattr(linear, "_standard", lambda *given: caps.append(given[2]) or standard(*given))
    values, inputs = series(random)
    identify(values, np.nan_to_num(values), inputs, np.arange(len(values)) == 0, 2, process_variance, 0)
    if np.isinf(process_variance):
        assert np.all(np.isinf(caps))
        return
    assert caps[0] == pytest.approx(0.3)
    np.testing.assert_allclose(caps[-len(caps) // 3 + 1 :], process_variance)
    falling = np.log(caps[: 2 * len(caps) // 3])
    np.testing.assert_allclose(np.diff(falling), np.log(process_variance / 0.3) * 1.5 / (len(caps) - 1), rtol=1e-9)
