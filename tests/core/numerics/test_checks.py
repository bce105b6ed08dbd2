"""Bad input gets a sentence: what, where, how many, what to do."""

import jax
import numpy as np
import pytest

from semigp.core import RBF, InputBelief, Linear, Matern32, Product, Sum, collapsed_bound, fit_posterior
from semigp.core.sparse.model import make_data, start

X, Y, Z = np.zeros((4, 2)), np.zeros((4, 3)), np.zeros((2, 2))
KERNEL, BELIEF = RBF(1.0, np.ones(2)), InputBelief.observed(X)


@pytest.mark.parametrize(
    ("mean", "variance", "sentence"),
    [
        (np.zeros(3), np.zeros(3), r"mean must be a matrix, rows by columns, but has shape \(3,\). Reshape it with"),
        (np.zeros((0, 2)), np.zeros((0, 2)), "at least one row and one column"),
        (X, np.zeros((4, 3)), r"variance has shape \(4, 3\) but mean has shape \(4, 2\): give \(4, 2\) for"),
        ([[np.nan, 1]], [[0, 0]], "mean has 1 NaN value, first at row 0, column 0. No value may be missing"),
        ([["a", "b"]], [[0, 0]], "mean must hold real numbers but has dtype <U1. Convert it to float first"),
        ([[1, np.inf], [np.inf, 1]], np.zeros((2, 2)), "mean has 2 infinite values, first at row 0, column 1. All"),
        (X, X - 1, "variance has 8 negative values, first at row 0, column 0. Use 0 for entries that are known"),
        (X[:1], [[[1, 2], [0, 1]]], "variance must be symmetric in its last two axes; it is not, first at row 0"),
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
        ({"noise_variance": np.nan}, "noise_variance has 1 NaN value, the number itself. No value may be missing here"),
        ({"output_scale": np.zeros(3)}, r"output_scale is \[0. 0. 0.\]; it must be positive"),
        ({"output_scale": np.ones(2)}, r"output_scale has shape \(2,\): give one number, or one for each of 3 outputs"),
        ({"jitter": -1e-6}, "jitter has 1 negative value, the number itself. It is added to a diagonal"),
        ({"jitter": np.ones(1)}, r"jitter has shape \(1,\): give one number"),
        ({"kernel": RBF("a")}, "RBF: variance is 'a'; it must be a number or an array of numbers"),
        ({"kernel": RBF(1.0, 1.0, dims=())}, r"RBF: dims \(\) must be distinct columns"),
        ({"kernel": Product((RBF(dims=0), Matern32(dims=0)))}, r"inputs \[0\] appear in more than one factor"),
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


def test_things_that_are_no_kernel_or_belief():
    with pytest.raises(TypeError, match="kernel is None; give a kernel such as"):
        collapsed_bound(None, BELIEF, Z, Y, 0.1)
    with pytest.raises(TypeError, match=r"kernel is <class .*RBF'>; give a kernel such as"):
        collapsed_bound(RBF, BELIEF, Z, Y, 0.1)
    with pytest.raises(TypeError, match="The inputs must be an InputBelief, not ndarray"):
        collapsed_bound(KERNEL, X, Z, Y, 0.1)
    with pytest.raises(TypeError, match="Sum: there is nothing to add"):
        collapsed_bound(Sum(()), BELIEF, Z, Y, 0.1)


def test_data():
    with pytest.raises(ValueError, match="inputs has 3 rows but targets has 4"):
        make_data(X[:3], Y)
    with pytest.raises(ValueError, match=r"error has shape \(1, 2\) but the inputs have shape \(4, 2\)"):
        make_data(X, Y, error=np.zeros((1, 2)))
    with pytest.raises(ValueError, match="error has 1 NaN value"):
        make_data(X, Y, error=np.array([[0, np.nan]] + [[0, 0]] * 3))
    with pytest.raises(ValueError, match="inducing_inputs has 1 columns but inputs has 2"):
        start(make_data(X, Y), KERNEL, Z[:, :1], 0.1)
    with pytest.raises(ValueError, match="variance is -1; it must be positive"):
        start(make_data(X, Y), KERNEL, Z, 0.1, variance=-1)
    with pytest.raises(ValueError, match=r"noise_variance has shape \(2,\): give one number, or one for each of 3"):
        start(make_data(X, Y), KERNEL, Z, [0.1, 0.1])


def test_rounding_is_an_error_not_a_posterior():
    x = np.linspace(0, 6, 200)[:, None]
    with pytest.raises(FloatingPointError, match="Raise the jitter"):
        fit_posterior(RBF(1.0, 1.0), InputBelief.observed(x), x[::4], np.sin(x), 1e-12, jitter=1e-10)


def test_a_belief_cannot_go_stale():
    variance = np.zeros((4, 2))
    belief = InputBelief(X, variance)
    variance += 1
    assert np.all(belief.variance == 0)
    with pytest.raises(ValueError, match="read-only"):
        belief.variance += 1


def test_results_can_be_changed():
    mean, _ = fit_posterior(KERNEL, BELIEF, Z, Y, 0.1).predict(BELIEF)
    mean += 1


def test_function_draws():
    draws = fit_posterior(KERNEL, BELIEF, Z, Y, 0.1).sample_functions(jax.random.key(0), 2, n_features=10)
    with pytest.raises(ValueError, match="inputs has 3 columns but the model has 2"):
        draws(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="inputs has 1 rows; each of 2 draws needs one"):
        draws.each(np.zeros((1, 2)))


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
