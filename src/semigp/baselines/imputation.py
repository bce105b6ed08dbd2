"""Impute first, then fit an exact GP: once, or to several draws."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.impute import KNNImputer

from ..core.inputs.joint_gaussian import conditional_moments, fit_joint_gaussian
from ..core.numerics.precision import in_float64
from ..core.search.stages import Stage
from ..core.sparse.defaults import NOISE_VARIANCE, default_hyperpriors, default_kernel, idle_parameters
from ..core.sparse.fit import fit
from ..core.sparse.model import make_data, start
from .base import Baseline, complete_rows
from .gp import ExactGP


class JointGaussianImputer(TransformerMixin, BaseEstimator):
    """Missing entries at their conditional mean under a Gaussian fitted by expectation maximisation."""

    def fit(self, X: Any, y: Any = None) -> JointGaussianImputer:
        """Learn mean and covariance from rows with NaN."""
        self.gaussian_ = fit_joint_gaussian(np.asarray(X, float))
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The rows without NaN."""
        X = np.asarray(X, float)
        missing = np.isnan(X)
        return in_float64(conditional_moments)(self.gaussian_, np.where(missing, 0.0, X), missing)[0]


class ImputedGP(Baseline):
    """An imputer on X, or on [X, Y] together, followed by an exact GP.

    Parameters
    ----------
    imputer : transformer
        For example scikit-learn's IterativeImputer or KNNImputer.
    with_outputs : bool
        Whether the imputer sees the outputs.
    gp : ExactGP, optional
    """

    def __init__(self, imputer: Any, with_outputs: bool = True, gp: ExactGP | None = None) -> None:
        self.imputer = imputer
        self.with_outputs = with_outputs
        self.gp = gp

    def _fit(self, X, y):
        table = np.column_stack([X, y]) if self.with_outputs else X
        self.imputed_ = clone(self.imputer).fit_transform(table)[:, : X.shape[1]]
        self._gp = clone(self.gp or ExactGP()).fit(self.imputed_, y)

    def _predict(self, X):
        mean, std = self._gp.predict(X, return_std=True)
        return mean, std**2


class MultipleImputationGP(Baseline):
    """Draws of [X, Y] from an imputer with `random_state`, an exact GP for each, predictions pooled."""

    def __init__(self, imputer: Any, n_draws: int = 5, gp: ExactGP | None = None, random_state: int = 0) -> None:
        self.imputer = imputer
        self.n_draws = n_draws
        self.gp = gp
        self.random_state = random_state

    def _fit(self, X, y):
        table, q = np.column_stack([X, y]), X.shape[1]
        seeds = range(self.random_state * self.n_draws, (self.random_state + 1) * self.n_draws)
        imputers = [clone(self.imputer).set_params(random_state=seed) for seed in seeds]
        self._draws = [imputer.fit_transform(table)[:, :q] for imputer in imputers], y
        self.imputed_ = np.mean(self._draws[0], axis=0)
        self._fit_gps()

    def _fit_gps(self) -> None:
        draws, y = self._draws
        self._gps = [clone(self.gp or ExactGP()).fit(draw, y) for draw in draws]

    def with_gp(self, gp: ExactGP) -> MultipleImputationGP:
        """The same draws with another GP."""
        other = copy.copy(self).set_params(gp=gp)
        other._fit_gps()
        return other

    def _predict(self, X):
        parts = [gp.predict(X, return_std=True) for gp in self._gps]
        means, stds = (np.array(part) for part in zip(*parts, strict=True))
        return means.mean(axis=0), np.mean(stds**2, axis=0) + means.var(axis=0)


class GPLVMImputation(Baseline):
    """The paper's imputation by a GP-LVM: missing inputs as point estimates under a GP of the complete rows.

    They start at the nearest row on [X, Y], move where the GP, fitted to the complete rows and then held, explains
    their outputs best under a standard normal prior, and are taken for observed by a second GP on all rows.
    """

    def __init__(self, n_inducing: int = 50) -> None:
        self.n_inducing = n_inducing

    def _fit(self, X, y):
        q, rows = X.shape[1], complete_rows(X)
        started = KNNImputer(n_neighbors=1).fit_transform(np.column_stack([X, y]))[:, :q]
        hyperpriors = default_hyperpriors(q, False, None)
        known = make_data(X[rows], y[rows], hyperpriors=hyperpriors)
        size = np.ones(y.shape[1])
        model = start(known, default_kernel(q, False), X[rows][: self.n_inducing], NOISE_VARIANCE * size, size)
        model, _ = fit(model, known, [Stage("complete rows", 300, idle_parameters(False))], 1e-7)
        everything = make_data(X, y, hyperpriors=hyperpriors)
        places, is_real = everything.rows, everything.rows >= 0
        mean = np.where(is_real[:, None], started[places], 0.0)
        # A variance that says nothing: q(x) is a point.
        points = replace(model, mean=mean, variance=np.full(mean.shape, 1e-6))
        hold = ("kernel*", "noise_variance", "output_scale", "inducing_inputs", "variance")
        points, _ = fit(points, everything, [Stage("missing inputs", 300, hold)], 1e-7)
        self.imputed_ = started.copy()
        self.imputed_[places[is_real]] = np.where(everything.mean_is_free, points.mean, everything.values)[is_real]
        self._gp = ExactGP().fit(self.imputed_, y)

    def _predict(self, X):
        mean, std = self._gp.predict(X, return_std=True)
        return mean, std**2
