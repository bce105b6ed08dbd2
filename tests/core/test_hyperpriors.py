"""Priors on hyperparameters. Oracle: SciPy's normal density of the logarithm."""

import numpy as np
import pytest
import scipy.stats

from semigp.core.hyperpriors import LogNormal, log_hyperprior

PARAMETERS = [("kernel.variance", np.array(1.7)), ("kernel.lengthscale", np.array([0.5, 2.0])), ("noise", np.ones(1))]


@pytest.mark.usefixtures("x64")
def test_density_of_the_logarithm_of_what_a_pattern_matches():
    """Up to a constant: the difference to the density at the median; 1e-14."""
    found = log_hyperprior(PARAMETERS, {"kernel*": LogNormal(0.8, 1.5), "noise": LogNormal(1.0)})
    normal = scipy.stats.norm(np.log(0.8), 1.5)
    expected = np.sum(normal.logpdf(np.log([1.7, 0.5, 2.0])) - normal.logpdf(np.log(0.8)))
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_a_pattern_without_parameters_is_an_error():
    with pytest.raises(ValueError, match=r"'scale' matches no parameter; there are kernel\.variance, kernel\.length"):
        log_hyperprior(PARAMETERS, {"scale": LogNormal(1.0)})
