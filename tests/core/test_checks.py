"""Bad input gets a sentence: what, where, how many, what to do."""

import numpy as np
import pytest

from semigp.core import RBF, InputBelief, Linear, Matern32, collapsed_bound, fit_posterior
from semigp.core.model import describe, start

X, Y, Z = np.zeros((4, 2)), np.zeros((4, 3)), np.zeros((2, 2))
KERNEL, BELIEF = RBF(1.0, np.ones(2)), InputBelief.observed(X)


@pytest.mark.parametrize(
    ("mean", "variance", "sentence"),
    [
        (np.zeros(3), np.zeros(3), r"mean must be a matrix, rows by columns, but has shape \(3,\). Reshape it with"),
        (np.zeros((0, 2)), np.zeros((0, 2)), "at least one row and one column"),
        (X, np.zeros((4, 3)), r"variance has shape \(4, 3\) but mean has shape \(4, 2\): give \(4, 2\) for"),
        ([[np.nan, 1]], [[0, 0]], "mean has 1 NaN value, first at row 0, column 0. No value may be missing here"),
        ([[1, np.inf], [np.inf, 1]], np.zeros((2, 2)), "mean has 2 infinite values, first at row 0, column 1. Mark"),
        (X, X - 1, "variance has 8 negative values, first at row 0, column 0. Use 0 for entries that are known"),
        (X[:1], [[[1, 2], [0, 1]]], "variance must be symmetric in its last two axes; first at row 0"),
        (X[:1], [[[1, 2], [2, 1]]], "variance of 1 rows is not a covariance, first at row 0: its smallest eigenvalue"),
    ],
)
def test_beliefs(mean, variance, sentence):
    with pytest.raises(ValueError, match=sentence):
        InputBelief(mean, variance)


@pytest.mark.parametrize("function", [collapsed_bound, fit_posterior])
@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"inducing_inputs": np.zeros((2, 3))}, "inducing_inputs has 3 columns but the belief's mean has 2"),
        ({"inducing_inputs": [[0, np.nan]]}, "inducing_inputs has 1 NaN value, first at row 0, column 1"),
        ({"targets": np.zeros(4)}, r"targets must be a matrix, .* Reshape it with targets.reshape\(-1, 1\)"),
        ({"targets": np.zeros((5, 1))}, "targets has 5 rows but the belief has 4"),
        ({"targets": np.full((4, 1), np.inf)}, "targets has 4 infinite values, first at row 0, column 0"),
        ({"targets": np.array([["a"]] * 4)}, "targets must hold real numbers but has dtype"),
        ({"noise_variance": 0.0}, "noise_variance is 0.0; it must be positive"),
        ({"noise_variance": np.ones(2)}, r"noise_variance has shape \(2,\): give one number, or one for each of 3"),
        ({"kernel": RBF(1.0, np.ones(3))}, r"RBF: lengthscale has shape \(3,\); give one number or an array of"),
        ({"kernel": RBF(1.0, -1.0)}, "RBF: lengthscale is -1.0; it must be positive and finite"),
        ({"kernel": RBF(1.0, 1.0) + Linear(np.nan)}, "Linear: variances is nan; it must be positive and finite"),
        ({"kernel": Matern32(1.0, 1.0, dims=(5,))}, r"Matern32: dims \(5,\) must be distinct columns between 0 and 1"),
    ],
)
def test_models(function, changes, sentence):
    arguments = {"kernel": KERNEL, "belief": BELIEF, "inducing_inputs": Z, "targets": Y, "noise_variance": 0.1}
    with pytest.raises(ValueError, match=sentence):
        function(**arguments | changes)


def test_data():
    with pytest.raises(ValueError, match="inputs has 3 rows but targets has 4"):
        describe(X[:3], Y)
    with pytest.raises(ValueError, match="error has 3 columns but inputs has 2"):
        describe(X, Y, error=np.zeros((4, 3)))
    with pytest.raises(ValueError, match="error has 1 NaN value"):
        describe(X, Y, error=np.array([[0, np.nan]] + [[0, 0]] * 3))
    with pytest.raises(ValueError, match="inducing_inputs has 1 columns but inputs has 2"):
        start(describe(X, Y), KERNEL, Z[:, :1], 0.1)


@pytest.mark.parametrize("n", [1, 3])
def test_more_inducing_points_than_rows_and_constant_columns(n):
    """Unusual, but well defined: finite bound and predictions, and where nothing is known the prior."""
    x = np.ones((n, 2))
    posterior = fit_posterior(KERNEL, InputBelief.observed(x), np.ones((6, 2)), np.ones((n, 1)), 0.1)
    mean, variance = posterior.predict(InputBelief.observed([[1.0, 1.0], [50.0, 50.0]]))
    # n equal observations of one value with prior variance 1 and noise 0.1; the jitter is 1e-6 or a little more
    np.testing.assert_allclose(mean[:, 0], [n / (n + 0.1), 0], atol=1e-4)
    np.testing.assert_allclose(variance[:, 0], [0.1 / (n + 0.1), 1], atol=1e-4)
    assert np.isfinite(collapsed_bound(KERNEL, InputBelief.observed(x), np.ones((6, 2)), np.ones((n, 1)), 0.1))
