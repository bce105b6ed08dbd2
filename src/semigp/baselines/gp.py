"""An exact GP, and the one that leaves incomplete rows out."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

from ..core import InputBelief
from ..core.search.stages import Stage
from ..core.sparse.defaults import NOISE_VARIANCE, default_hyperpriors, default_kernel, idle_parameters
from ..core.sparse.fit import fit
from ..core.sparse.model import make_data, posterior, start
from ..runtime import compilation_cache
from .base import Baseline, complete_rows


class ExactGP(Baseline):
    """GP regression with an ARD RBF kernel on complete rows: with all of them known, the oracle.

    Parameters
    ----------
    per_output : bool
        Noise and signal variance per output, or shared.
    linear : bool
        A linear kernel beside the RBF.
    lengthscale_spread : float or None
        Of the hyperprior on log lengthscales; None: maximum likelihood.
    """

    def __init__(self, per_output: bool = True, linear: bool = False, lengthscale_spread: float | None = None) -> None:
        self.per_output = per_output
        self.linear = linear
        self.lengthscale_spread = lengthscale_spread

    def _fit(self, X, y):
        q = X.shape[1]
        data = make_data(X, y, hyperpriors=default_hyperpriors(q, self.linear, self.lengthscale_spread))
        size = np.ones(y.shape[1] if self.per_output else ())
        # Inducing points at the rows themselves: nothing is approximated.
        model = start(data, default_kernel(q, self.linear), X, NOISE_VARIANCE * size, size)
        stage = Stage("all", 500, (*idle_parameters(self.linear), "inducing_inputs"))
        with compilation_cache(), threadpool_limits(1, user_api="blas"):
            model, _ = fit(model, data, [stage], 1e-7)
            self._posterior = posterior(model, data)

    def _predict(self, X):
        with compilation_cache():
            mean, variance = self._posterior.predict(InputBelief.observed(X))
        return mean, variance + self._posterior.likelihood.noise_variance


class CompleteRowsGP(ExactGP):
    """The standard GP of the paper: it sees the complete rows only."""

    def _fit(self, X, y):
        rows = complete_rows(X)
        super()._fit(X[rows], y[rows])
