"""The scale of a series. Oracles: how series were made, and moments of log-normal draws."""

import numpy as np
import pytest

from semigp.estimators.forecasting.scale import SeriesScale


def _growing(seed=0, count=150):
    """A walk of logarithms: a price that grows a hundredfold, with changes in proportion to it."""
    random = np.random.default_rng(seed)
    return np.exp(0.03 * np.arange(count) + 0.05 * np.cumsum(random.normal(size=count)))[:, None]


def test_growth_is_learned_as_logarithms_and_a_sum_is_not():
    """Ten series of each kind, of 150 values: nine or more are recognised."""
    grown = [SeriesScale.of(_growing(seed), (), "auto").is_log[0] for seed in range(10)]
    added = [
        SeriesScale.of(100.0 + np.cumsum(np.random.default_rng(seed).normal(size=(150, 1)), axis=0), (), "auto")
        for seed in range(10)
    ]
    assert sum(grown) >= 9
    assert sum(scale.is_log[0] for scale in added) <= 1


def test_only_who_may_not_be_negative_is_a_logarithm():
    for positive in (False, "auto"):
        scale = SeriesScale.of(np.hstack([_growing(), -_growing()]), (), positive)
        assert scale.is_log.tolist() == [positive == "auto", False]
        assert scale.is_positive.tolist() == [positive == "auto", False]


def test_values_come_back_from_standard_units(random):
    """There and back, to rounding; NaN stays. Standard units have mean 0 and standard deviation 1."""
    values = np.hstack([_growing(), random.normal(size=(150, 1))])
    values[3:6, 0] = np.nan
    scale = SeriesScale.of(values, (), "auto")
    assert scale.is_log.tolist() == [True, False]
    standard = scale.standard(values)
    np.testing.assert_allclose(np.nanmean(standard, axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(np.nanstd(standard, axis=0), 1.0, rtol=1e-9)
    np.testing.assert_allclose(scale.natural(standard), values, rtol=1e-9)
    np.testing.assert_array_equal(np.isnan(standard), np.isnan(values))


def test_what_cannot_be_negative_is_held_at_zero(random):
    scale = SeriesScale.of(np.abs(random.normal(size=(100, 1))) * (random.random((100, 1)) < 0.5), (), "auto")
    assert scale.is_positive.all()
    assert scale.natural(np.array([[-50.0], [0.0]]))[0, 0] == 0.0


def test_a_jump_that_is_taken_out_does_not_make_a_series_negative():
    """Values 100 ± 1 and then 1 ± 0.5: with the jump taken out some are below 0, but the series never is."""
    random = np.random.default_rng(0)
    values = np.r_[100.0 + random.normal(size=60), 1.0 + 0.5 * random.random(60)][:, None]
    offsets = np.where(np.arange(120) < 60, -99.0, 0.0)[:, None]
    scale = SeriesScale.of(values, (), "auto", offsets)
    assert (values + offsets).min() < 0.0
    assert scale.is_positive.all()
    assert not scale.is_log.any()


def test_later_values_without_a_logarithm_count_as_the_smallest_one():
    """Zero in an update of a series that was learned as logarithms."""
    values = _growing()
    scale = SeriesScale.of(values, (), "auto")
    np.testing.assert_array_equal(
        scale.standard(np.array([[0.0], [-3.0]])), np.full((2, 1), scale.standard(values).min())
    )


def test_a_series_that_ends_in_a_long_gap():
    """The latest values that are known decide, however long ago they were."""
    values = np.vstack([_growing(), np.full((400, 1), np.nan)])
    assert SeriesScale.of(values, (), "auto").is_log.tolist() == [True]


def test_moments_of_logarithms_are_log_normal():
    """A million draws of N(0.4, 0.3²) in standard units: standard errors below 0.1 %."""
    scale = SeriesScale.of(_growing(), (), "auto")
    draws = scale.natural(0.4 + 0.3 * np.random.default_rng(1).normal(size=(1_000_000, 1)))
    mean, std = scale.natural_moments(np.full((1, 1), 0.4), np.full((1, 1), 0.3))
    np.testing.assert_allclose(mean[0], draws.mean(axis=0), rtol=0.005)
    np.testing.assert_allclose(std[0], draws.std(axis=0), rtol=0.01)


@pytest.mark.parametrize("size", [1e-120, 1e120])
def test_units_do_not_matter(size):
    one, other = SeriesScale.of(_growing(), (), "auto"), SeriesScale.of(size * _growing(), (), "auto")
    assert one.is_log == other.is_log
    np.testing.assert_allclose(one.standard(_growing()), other.standard(size * _growing()), atol=1e-6)
