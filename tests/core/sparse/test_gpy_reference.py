"""Oracle: GPy 1.15's BayesianGPLVM at random parameters (shared/reference), itself checked against GPflow."""

import jax
import numpy as np
import pytest

from semigp.core import RBF, InputBelief, Linear, collapsed_bound, fit_posterior, kl_divergence

NUGGET = 1e-8  # what GPy added to the diagonal of K_uu, absolutely


@jax.jit
def psi_statistics(kernel, mean, variance, inducing):
    """ψ0, ψ1 and Ψ2, summed over the rows."""
    psi2 = kernel.psi2(mean, variance, inducing, np.ones((len(mean), 1)))[0]
    return kernel.psi0(mean, variance), kernel.psi1(mean, variance, inducing), psi2


@pytest.fixture(params=["gpy_ref_30_2_3_7", "gpy_ref_100_15_5_40"])
def reference(request, shared):
    with np.load(shared / "reference" / f"{request.param}.npz") as file:
        return dict(file)


@pytest.fixture
def model(reference):
    r = reference
    kernel = RBF(float(r["variance"]), r["lengthscale"])
    return kernel, InputBelief(r["mu"], r["S"]), r["Z"], r["Y"], float(r["noise"]), NUGGET / float(r["variance"])


def test_bound_and_kl(model, reference):
    bound, kl = collapsed_bound(*model), kl_divergence(model[1])
    np.testing.assert_allclose(bound, reference["bound_without_KL"], rtol=1e-9)
    np.testing.assert_allclose(kl, reference["KL"], rtol=1e-12)
    np.testing.assert_allclose(bound - kl, reference["bound"], rtol=1e-9)


def test_gradients(reference):
    r = reference

    def objective(variance, lengthscale, mu, S, Z, noise):
        belief = InputBelief(mu, S)
        # An absolute nugget: relative to the kernel's variance it is no constant.
        bound = collapsed_bound(RBF(variance, lengthscale), belief, Z, r["Y"], noise, jitter=NUGGET / variance)
        return bound - kl_divergence(belief)

    names = ["variance", "lengthscale", "mu", "S", "Z", "noise"]
    with jax.enable_x64(True):
        gradients = jax.grad(objective, argnums=tuple(range(6)))(*(r[name] for name in names))
    for name, gradient in zip(names, gradients, strict=True):
        expected = r[f"grad_{name}"]
        np.testing.assert_allclose(
            np.reshape(gradient, expected.shape), expected, rtol=0, atol=1e-7 * np.abs(expected).max(), err_msg=name
        )


@pytest.mark.usefixtures("x64")
def test_psi_statistics(model, reference):
    kernel, belief, Z, *_ = model
    psi0, psi1, psi2 = psi_statistics(kernel, belief.mean, belief.variance, Z)
    np.testing.assert_allclose(psi0, reference["psi0"], rtol=1e-12)
    np.testing.assert_allclose(psi1, reference["psi1"], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(psi2, reference["psi2"], rtol=1e-12, atol=1e-14)


@pytest.mark.usefixtures("x64")
def test_linear_psi_statistics(reference):
    r = reference
    psi0, psi1, psi2 = psi_statistics(Linear(r["linear_variances"]), r["mu"], r["S"], r["Z"])
    np.testing.assert_allclose(psi0, r["linear_psi0"], rtol=1e-12)
    np.testing.assert_allclose(psi1, r["linear_psi1"], rtol=1e-12, atol=1e-12)
    scale = np.abs(r["linear_psi2"]).max()
    np.testing.assert_allclose(psi2, r["linear_psi2"], rtol=1e-12, atol=1e-13 * scale)


def test_predictions(model, reference):
    r = reference
    posterior = fit_posterior(*model)
    for prefix, variance in (("pred", np.zeros_like(r["Xnew_mean"])), ("upred", r["Xnew_var"])):
        mean, var = posterior.predict(InputBelief(r["Xnew_mean"], variance))
        for value, name in ((mean, f"{prefix}_f_mean"), (var, f"{prefix}_f_var")):
            expected = np.broadcast_to(r[name], value.shape)  # GPy stores one variance for all outputs where it can
            np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max(), err_msg=name)


def test_gradients_without_kl(reference):
    """GPy's sparse GP regression with the same fixed uncertain inputs: the bound alone."""
    r = reference

    def bound(variance, lengthscale, Z, noise):
        kernel, belief = RBF(variance, lengthscale), InputBelief(r["mu"], r["S"])
        return collapsed_bound(kernel, belief, Z, r["Y"], noise, jitter=NUGGET / variance)

    names = ["variance", "lengthscale", "Z", "noise"]
    with jax.enable_x64(True):
        value, gradients = jax.value_and_grad(bound, argnums=(0, 1, 2, 3))(*(r[name] for name in names))
    np.testing.assert_allclose(value, r["sgpr_bound"], rtol=1e-9)
    for name, gradient in zip(names, gradients, strict=True):
        expected = r[f"sgpr_grad_{name}"]
        atol = 1e-7 * np.abs(expected).max()
        np.testing.assert_allclose(np.reshape(gradient, expected.shape), expected, rtol=0, atol=atol, err_msg=name)


def test_linear_kernel_bound(reference):
    r = reference
    kernel, belief = Linear(r["linear_variances"]), InputBelief(r["mu"], r["S"])
    jitter = NUGGET / np.mean(np.diagonal(r["linq_Kmm"]))
    bound = collapsed_bound(kernel, belief, r["linq_Z"], r["Y"], float(r["noise"]), jitter=jitter)
    np.testing.assert_allclose(bound, r["linq_bound_without_KL"], rtol=1e-9)
