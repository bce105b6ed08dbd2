"""Baselines: one interface, each against an oracle or the property that makes it what it is."""

import numpy as np
import pytest
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import StandardScaler

from semigp import baselines

ALL = {
    "mean": baselines.MeanBaseline(),
    "linear": baselines.LinearBaseline(),
    "neighbour": baselines.NearestNeighbour(),
    "complete rows": baselines.CompleteRowsGP(),
    "iterative": baselines.ImputedGP(IterativeImputer(max_iter=3, random_state=0), with_outputs=False),
    "knn": baselines.ImputedGP(KNNImputer()),
    "joint Gaussian": baselines.ImputedGP(baselines.JointGaussianImputer()),
    "multiple": baselines.MultipleImputationGP(IterativeImputer(max_iter=3, sample_posterior=True), n_draws=2),
    "GP-LVM": baselines.GPLVMImputation(n_inducing=10),
}


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(0)
    t = random.uniform(-2, 2, size=70)
    truth = np.column_stack([t, np.sin(t), np.cos(2 * t)]) + 0.05 * random.normal(size=(70, 3))
    outputs = np.column_stack([np.sin(2 * t), t**2]) + 0.05 * random.normal(size=(70, 2))
    recorded = truth.copy()
    recorded[15:40][random.random((25, 3)) < 0.3] = np.nan
    return truth[:40], recorded[:40], outputs[:40], truth[40:], outputs[40:]


@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ALL)
def test_one_interface(name, rows):
    _, recorded, outputs, test, new = rows
    mean, std = ALL[name].fit(recorded, outputs).predict(test, return_std=True)
    assert mean.shape == std.shape == new.shape
    assert np.isfinite(mean).all()
    assert np.all(std > 0)
    one = ALL[name].fit(recorded, outputs[:, 0]).predict(test)
    assert one.shape == (30,)
    if name != "mean":
        assert np.mean((mean - new) ** 2) < np.mean((outputs.mean(axis=0) - new) ** 2)


def test_exact_gp_is_gp_regression(rows):
    """Oracle: scikit-learn with the fitted parameters held. Tolerance 1e-4 (our jitter is 1e-6)."""
    truth, _, outputs, test, _ = rows
    model = baselines.ExactGP().fit(truth, outputs[:, 0])
    fitted = model._posterior
    scale, noise = fitted.likelihood.output_scale[0] ** 2, fitted.likelihood.noise_variance[0]
    x, y = StandardScaler().fit(truth), StandardScaler().fit(outputs[:, :1])
    oracle = GaussianProcessRegressor(RBF(fitted.kernel.lengthscale), alpha=noise / scale, optimizer=None)
    oracle.fit(x.transform(truth), y.transform(outputs[:, :1])[:, 0])
    mean = oracle.predict(x.transform(test)) * y.scale_ + y.mean_
    np.testing.assert_allclose(model.predict(test), mean, atol=1e-4)


def test_complete_rows_only(rows):
    _, recorded, outputs, test, _ = rows
    complete = ~np.isnan(recorded).any(axis=1)
    linear = baselines.LinearBaseline().fit(recorded, outputs)
    oracle = LinearRegression().fit(recorded[complete], outputs[complete])
    np.testing.assert_allclose(linear.predict(test), oracle.predict(test), rtol=1e-8)
    neighbour = baselines.NearestNeighbour().fit(recorded, outputs)
    np.testing.assert_allclose(neighbour.predict(recorded[complete]), outputs[complete], rtol=1e-10)
    with pytest.raises(ValueError, match="1 of 40 rows are complete"):
        baselines.CompleteRowsGP().fit(np.where(np.arange(40)[:, None] > 0, np.nan, recorded), outputs)


def test_imputers_see_outputs_if_asked(random):
    """Linear Gaussian rows: missing inputs are nearer to the truth given the outputs too, and than the mean."""
    truth = random.normal(size=(80, 2)) @ random.normal(size=(2, 3)) + 0.7 * random.normal(size=(80, 3))
    outputs = truth @ random.normal(size=(3, 2)) + 0.1 * random.normal(size=(80, 2))
    holes = random.random(truth.shape) < 0.2
    recorded = np.where(holes, np.nan, truth)

    def error(model):
        model.fit(recorded, outputs)
        found = model.imputed_ * model._x_scaler.scale_ + model._x_scaler.mean_
        return np.mean((found - truth)[holes] ** 2)

    with_outputs = error(baselines.ImputedGP(baselines.JointGaussianImputer()))
    without = error(baselines.ImputedGP(baselines.JointGaussianImputer(), with_outputs=False))
    plain = error(baselines.ImputedGP(SimpleImputer(), with_outputs=False))
    assert with_outputs < without < plain


@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
def test_multiple_imputation_pools(rows):
    """Oracle: mean of means; mean of variances plus variance of means."""
    _, recorded, outputs, test, _ = rows
    model = baselines.MultipleImputationGP(IterativeImputer(max_iter=3, sample_posterior=True), n_draws=3)
    mean, std = model.fit(recorded, outputs).predict(test, return_std=True)
    parts = [gp.predict(model._x_scaler.transform(test), return_std=True) for gp in model._gps]
    means, stds = (np.array(part) * model._y_scaler.scale_ for part in zip(*parts, strict=True))
    np.testing.assert_allclose(mean, means.mean(axis=0) + model._y_scaler.mean_, rtol=1e-8)
    np.testing.assert_allclose(std, np.sqrt(np.mean(stds**2, axis=0) + means.var(axis=0)), rtol=1e-8)
    again = model.with_gp(baselines.ExactGP(per_output=False))
    assert not np.allclose(again.predict(test), mean)
