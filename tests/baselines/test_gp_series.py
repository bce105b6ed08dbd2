"""The paper's forecasters on a system that they can learn."""

import numpy as np
import pytest

from semigp.baselines import GirardGP, NaiveGP, PublishedGP


@pytest.mark.parametrize("model", [NaiveGP(4), GirardGP(4), PublishedGP(4, n_inducing=10)])
def test_a_sine_goes_on(model, random):
    """Noise of .01, 12 steps, half a period: within a tenth of the amplitude."""
    truth = np.sin(np.arange(92) / 4)
    forecast = model.fit(truth[:80] + 0.01 * random.normal(size=80)).forecast(12)
    np.testing.assert_allclose(forecast.mean, truth[80:], atol=0.1)


def test_moment_matching_spreads_and_the_naive_one_does_not(random):
    series = np.sin(np.arange(100) / 4) + 0.1 * random.normal(size=100)
    naive, girard = (model.fit(series).forecast(30).std for model in (NaiveGP(4), GirardGP(4)))
    assert girard[-1] > 1.5 * girard[0]
    assert naive[-1] < 1.3 * naive[0]


def test_gaps_are_refused():
    with pytest.raises(ValueError, match="without gaps"):
        NaiveGP(2).fit([1.0, np.nan, 2.0, 3.0, 4.0])
