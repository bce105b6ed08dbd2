"""What fits begin with. Oracles: their own descriptions."""

import numpy as np
import pytest

from semigp.core.sparse.defaults import NOISE_VARIANCE, default_hyperpriors, default_kernel, idle_parameters


@pytest.mark.parametrize("n_inputs", [1, 4])
def test_hyperpriors_are_centred_on_what_a_fit_begins_with(n_inputs):
    """Each at its median, where the log density is 0."""
    rbf, linear = default_kernel(n_inputs, linear=True).kernels
    priors = default_hyperpriors(n_inputs, True, 0.5)
    np.testing.assert_allclose(priors["kernel*lengthscale"].median, rbf.lengthscale)
    np.testing.assert_allclose(priors["kernel*variances"].median, linear.variances)
    np.testing.assert_allclose(linear.variances.sum(), 0.1)  # of inputs of unit variance, whatever their number
    assert priors["noise_variance"].median == NOISE_VARIANCE
    assert set(default_hyperpriors(n_inputs, False, None)) == {"noise_variance", "output_scale"}


def test_idle_parameters_are_the_scales_of_the_rbf():
    assert idle_parameters(linear=True) == ("kernel.kernels.0.variance",)
    assert idle_parameters(linear=False) == ("kernel.variance",)
