"""Columns as features and back. Oracles: the way there and back, SciPy's Yeo-Johnson transform, and Monte Carlo."""

import numpy as np
import pytest
from scipy.stats import yeojohnson

from semigp.estimators.common.input_units import InputUnits
from semigp.estimators.common.units import Units

COLUMNS = ("skewed", "very skewed", "negative", "whole", "normal", "category", "yes or no", "constant", "missing")
WIDTHS = (1, 1, 1, 1, 1, 4, 1, 1, 1)
IS_WARPED = np.array([name not in ("category", "yes or no") for name in COLUMNS])


@pytest.fixture(scope="module")
def codes():
    """A column of every kind, 200 rows, with holes."""
    random = np.random.default_rng(0)
    columns = {
        "skewed": np.exp(random.normal(size=200)),
        "very skewed": 1e5 * np.exp(3.0 * random.normal(size=200)),
        "negative": -random.gamma(1.0, size=200) - 3.0,
        "whole": random.poisson(9, size=200),
        "normal": 4.0 + 0.1 * random.normal(size=200),
        "category": random.integers(4, size=200),
        "yes or no": random.integers(2, size=200),
        "constant": np.full(200, 7.25),
        "missing": np.full(200, np.nan),
    }
    table = np.column_stack([columns[name] for name in COLUMNS]).astype(float)
    return np.where(random.random(table.shape) < 0.1, np.nan, table)


@pytest.fixture(scope="module")
def units(codes):
    return InputUnits.of(codes, WIDTHS, IS_WARPED)


def test_there_and_back(codes, units):
    """1e-9 of the value, in every column, and one column by itself; NaN stays NaN."""
    features = units.standard(codes)
    assert features.shape == (200, 12)
    np.testing.assert_allclose(units.natural(features), codes, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(units.natural(np.stack([features] * 2)), np.stack([codes] * 2), rtol=1e-9, atol=1e-9)
    for column, group in enumerate(units.groups):
        own = units.natural_of(features[:, list(group)], column)
        np.testing.assert_allclose(own, codes[:, column], rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(units.is_level, np.array(WIDTHS) > 1)


def test_features_are_standard(codes, units):
    """Mean 0; variance 1, summed over the levels of a category; 1e-9. All but constant and missing columns."""
    features = units.standard(codes)
    for column, group in enumerate(units.groups[:-2]):
        own = features[~np.isnan(codes[:, column])][:, list(group)]
        np.testing.assert_allclose(own.mean(axis=0), 0.0, atol=1e-9)
        assert np.sum(own.var(axis=0)) == pytest.approx(1.0, abs=1e-9)


def test_powers(codes, units):
    """Oracles: SciPy's transform (1e-9), whose skewness is nearly gone. Normal data are not warped at all."""
    power = dict(zip(COLUMNS[:5], units.power[:5], strict=True))
    assert power["normal"] == 1.0
    assert power["skewed"] < 0.5
    assert power["very skewed"] < 0.2
    assert power["negative"] > 1.5
    for column in (0, 1, 2):
        known = codes[~np.isnan(codes[:, column]), column]
        warped = yeojohnson((known - units.middle[column]) / units.spread[column], units.power[column])
        features = units.standard(codes)[~np.isnan(codes[:, column]), column]
        np.testing.assert_allclose(features, (warped - warped.mean()) / warped.std(), atol=1e-9)
        assert np.abs(features).max() < 6.0
        if COLUMNS[column] != "very skewed":
            assert abs(np.mean(features**3)) < 0.3
    np.testing.assert_array_equal(units.power[5:], 1.0)
    unwarped = InputUnits.of(codes, WIDTHS, np.zeros(9, bool))
    np.testing.assert_array_equal(unwarped.power, 1.0)


def test_units_of_measure_do_not_matter(codes, units):
    """Features of a·x + b, a > 0, are the same; 1e-9."""
    numbers = [0, 1, 2, 3, 4]
    for a, b in ((1.8, 32.0), (1e-6, 0.0), (2.0**20, -5.0)):
        other = InputUnits.of(a * codes[:, numbers] + b, [1] * 5, IS_WARPED[numbers])
        found, expected = other.standard(a * codes[:, numbers] + b), units.standard(codes)[:, numbers]
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_what_is_far_out_is_held(codes, units):
    """Half a standard deviation beyond the known range, and only there; `without_limits` holds nothing."""
    spread, middle = np.nanstd(codes[:, :5], axis=0), np.nanmean(codes[:, :5], axis=0)
    features = units.standard(codes)
    for sign, end in ((1, np.nanmax), (-1, np.nanmin)):
        far = codes[:1].copy()
        far[0, :5] = middle + sign * 4000 * spread
        held = units.standard(far)[0, :5]
        limit = end(features[:, :5], axis=0) + sign * 0.5
        assert sign * held[1] <= sign * limit[1]  # its warp has a limit of its own
        np.testing.assert_allclose(np.delete(held - limit, 1), 0.0, atol=1e-12)
        free = units.without_limits().standard(far)[0, 4]
        assert free == pytest.approx(sign * 4000, rel=1e-9)
        np.testing.assert_allclose(units.natural(units.standard(far))[0, :5], end(codes[:, :5], axis=0), rtol=1e-9)
    np.testing.assert_allclose(units.without_limits().standard(codes), features, atol=1e-12)


@pytest.mark.parametrize("is_held", [True, False])
def test_moments(codes, units, is_held):
    """Monte Carlo over 1e5 draws: 2 % of the standard deviation and of it, 15 nodes included. Levels have none."""
    units = units if is_held else units.without_limits()
    mean = np.tile(np.linspace(-0.5, 0.5, 3)[:, None], (1, 12))
    variance = np.full(mean.shape, 0.09)
    draws = np.random.default_rng(0).normal(size=(100_000, 3, 12)) * 0.3 + mean
    expected, std = units.natural_moments(mean, variance)
    found = units.natural(draws)
    some = [0, 1, 2, 3, 4, 8]  # a constant has no range to vary in
    spread = found.std(axis=0)[:, some]
    np.testing.assert_allclose(std[:, some], spread, rtol=0.02)
    assert np.all(np.abs(expected[:, some] - found.mean(axis=0)[:, some]) <= 0.02 * spread + 1e-9)
    assert np.isnan(std[:, 5]).all()


def test_moments_without_spread_are_values(codes, units):
    """Variance 0: the value itself, 1e-9, and a standard deviation of 0."""
    known = codes[~np.isnan(codes[:, :8]).any(axis=1)]
    expected, std = units.natural_moments(np.nan_to_num(units.standard(known)), np.zeros((len(known), 12)))
    np.testing.assert_allclose(expected[:, :8], known[:, :8], rtol=1e-9, atol=1e-9)
    assert np.nanmax(std[:, :8] / np.maximum(1.0, np.abs(known[:, :8]))) < 1e-9


def test_bars_are_slopes(codes, units):
    """A central difference of `standard`, 1e-6 of the slope, where nothing is held. A hole has a finite bar."""
    inner = codes[20:60, :5]
    own = InputUnits.of(codes[:, :5], [1] * 5, IS_WARPED[:5])
    step = 1e-6 * np.nanstd(codes[:, :5], axis=0)
    free = own.without_limits()
    slope = (free.standard(inner + step) - free.standard(inner - step)) / (2 * step)
    bars = own.bars(inner, np.full(inner.shape, 0.01))
    known = ~np.isnan(inner)
    np.testing.assert_allclose(bars[known], 0.01 * slope[known], rtol=1e-6)
    assert np.isfinite(bars).all()
    assert units.bars(codes, np.ones(codes.shape)).shape == (200, 12)


def test_plain_units(codes):
    """`linear` is what `Units` does, without limits."""
    plain = Units.of(codes[:, :5])
    units = InputUnits.linear(plain)
    np.testing.assert_array_equal(units.standard(1e3 * codes[:, :5]), plain.standard(1e3 * codes[:, :5]))
    mean, std = units.natural_moments(np.full((1, 5), 9.0), np.full((1, 5), 4.0))
    np.testing.assert_allclose(mean[0], plain.natural(np.full(5, 9.0)))
    np.testing.assert_allclose(std[0], 2.0 * plain.std)
