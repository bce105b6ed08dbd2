"""Weights of priors. Oracles: the CRPS of a pooled sample, a grid over all weights, and priors that know the truth."""

import numpy as np
import pytest

from semigp.estimators.forecasting import weights
from semigp.estimators.forecasting.weights import best_weights, shares, weigh
from semigp.scores import sample_crps


class Known:
    """A prior that forecasts N(truth + bias, spread²)."""

    def __init__(self, truth, bias, spread):
        self.truth, self.bias, self.spread = truth, bias, spread

    def paths(self, past, covariates, n_paths, seed, watch=None):
        """Around the values to come."""
        ahead = self.truth[len(past) : len(covariates)] + self.bias
        noise = np.random.default_rng(seed).normal(size=(n_paths, *ahead.shape))
        return ahead + self.spread * noise, np.zeros(n_paths, bool)


def _terms(samples, truth):
    """E|x_k - y| and E|x_j - x_k| by loops over all draws; samples (K, s, h, p)."""
    errors = np.array([np.mean([abs(x - truth) for x in own], axis=0) for own in samples])
    apart = np.array([[np.mean([abs(x - z) for x in a for z in b], axis=0) for b in samples] for a in samples])
    return errors, apart


def test_the_score_of_a_mixture_is_that_of_a_pooled_sample(random):
    """Weights 3/4 and 1/4: the first sample three times, the second once, and the CRPS of all of them together."""
    samples, truth = (
        random.normal(size=(2, 30, 4, 1)) + np.array([0.0, 2.0])[:, None, None, None],
        random.normal(size=(4, 1)),
    )
    errors, apart = _terms(samples, truth)
    own = np.array([0.75, 0.25])
    quadratic = np.einsum("k,khp->hp", own, errors) - 0.5 * np.einsum("j,k,jkhp->hp", own, own, apart)
    pooled = np.concatenate([samples[0]] * 3 + [samples[1]])
    np.testing.assert_allclose(quadratic.mean(), sample_crps(truth, pooled), rtol=1e-10)


def test_the_terms_of_forecasts_are_those_of_their_samples(monkeypatch, random):
    """With as many quantiles as paths, the quantiles are the paths themselves, in order."""
    monkeypatch.setattr(weights, "_PATHS", 11)
    monkeypatch.setattr(weights, "_QUANTILES", np.linspace(0.0, 1.0, 11))
    truth = random.normal(size=(40, 2))
    priors = {"a": Known(truth, 0.1, 0.5), "b": Known(truth, -1.0, 2.0)}
    is_known = random.random((40, 2)) < 0.8
    errors, apart = weights._terms(priors, truth, np.zeros((40, 0)), is_known, 30, 5)
    samples = np.stack([prior.paths(truth[:30], np.zeros((35, 0)), 11, 30)[0] for prior in priors.values()])
    expected = _terms(samples, truth[30:35])
    gaps = ~is_known[30:35]
    np.testing.assert_allclose(errors, np.where(gaps, np.nan, expected[0]), rtol=1e-12)
    np.testing.assert_allclose(apart, np.where(gaps, np.nan, expected[1]), rtol=1e-12)


def test_best_weights_are_the_best_of_a_grid(random, monkeypatch):
    """Three priors, without the pull towards equal weights: as good as the best of a grid with steps of 0.02."""
    monkeypatch.setattr(weights, "_EQUAL", 1e-9)
    truth = random.normal(size=(6, 3, 1))
    centres = np.array([0.4, -0.5, 3.0])[:, None, None, None]
    terms = [_terms(centres + random.normal(size=(3, 12, 3, 1)), y) for y in truth]
    errors, apart = (np.stack(each) for each in zip(*terms, strict=True))
    alone = errors - 0.5 * np.einsum("okk...->ok...", apart)
    unit = alone.mean(axis=0).min(axis=0)

    def score(own):
        value = np.einsum("k,okhp->ohp", own, errors) - 0.5 * np.einsum("j,k,ojkhp->ohp", own, own, apart)
        return np.mean(value / unit)

    grid = [np.array([a, b, 1.0 - a - b]) for a in np.arange(0, 1.01, 0.02) for b in np.arange(0, 1.01 - a, 0.02)]
    found = best_weights(errors, apart)
    assert found.sum() == pytest.approx(1.0, abs=1e-5)
    assert (found >= 0.0).all()
    assert score(found / found.sum()) <= min(map(score, grid)) + 1e-4


def test_a_prior_that_knows_the_truth_gets_nearly_all(random):
    """Exact forecasts against ones that are off by 3: the share of the other is what equal weights pull it to."""
    truth = random.normal(size=(100, 1))
    priors = {"wrong": Known(truth, 3.0, 0.1), "exact": Known(truth, 0.0, 0.05)}
    found = weigh(priors, truth, np.zeros((100, 0)), np.ones((100, 1), bool), 10)
    assert found[1] > 0.9
    assert found.sum() == pytest.approx(1.0, abs=1e-5)


def test_two_equal_priors_share(random):
    truth = random.normal(size=(100, 1))
    found = weigh(dict.fromkeys("ab", Known(truth, 0.0, 1.0)), truth, np.zeros((100, 0)), np.ones((100, 1), bool), 10)
    np.testing.assert_allclose(found, 0.5, atol=0.02)


def test_units_of_a_column_do_not_matter(random):
    errors, apart = random.random((5, 2, 3, 2)) + 1.0, np.zeros((5, 2, 2, 3, 2))
    units = np.array([1.0, 1e6])
    np.testing.assert_allclose(best_weights(errors, apart), best_weights(units * errors, apart), atol=1e-3)


@pytest.mark.parametrize("known", ["none", "few"])
def test_values_that_are_not_known_do_not_count(random, known):
    """Nothing to compare: equal weights. Only one step known, all others NaN: the weights of that step alone."""
    errors, apart = random.random((5, 2, 3, 1)) + 1.0, np.zeros((5, 2, 2, 3, 1))
    if known == "none":
        np.testing.assert_array_equal(best_weights(np.full_like(errors, np.nan), np.full_like(apart, np.nan)), 0.5)
        return
    only = np.arange(3)[:, None] == 1
    found = best_weights(np.where(only, errors, np.nan), np.where(only, apart, np.nan))
    np.testing.assert_allclose(found, best_weights(errors[:, :, 1:2], apart[:, :, :, 1:2]), atol=1e-5)


def test_a_prior_that_is_infinitely_worse_gets_nothing_and_no_warning():
    errors, apart = np.ones((5, 3, 4, 1)), np.zeros((5, 3, 3, 4, 1))
    errors[:, 1:] = 1e12
    np.testing.assert_allclose(best_weights(errors, apart), [1.0, 0.0, 0.0], atol=1e-3)


@pytest.mark.parametrize(("count", "first"), [(10, 5), (100, 99)])
def test_without_room_to_forecast_all_count_the_same(random, count, first):
    truth = random.normal(size=(count, 1))
    priors = {"wrong": Known(truth, 3.0, 0.1), "exact": Known(truth, 0.0, 0.05)}
    np.testing.assert_array_equal(weigh(priors, truth, np.zeros((count, 0)), np.ones((count, 1), bool), first), 0.5)


@pytest.mark.parametrize("own", [[1.0], [0.5, 0.5], [0.2, 0.3, 0.5], [1.0, 0.0], [1e-9, 1.0, 1e-9]])
@pytest.mark.parametrize("count", [1, 7, 500])
def test_shares_add_up_and_are_near(own, count):
    found = shares(np.array(own), count)
    assert found.sum() == count
    assert (np.abs(found - count * np.array(own) / np.sum(own)) < 1.0 + 1e-9).all()
