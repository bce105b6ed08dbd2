"""A table with holes by GPy's Bayesian GP-LVM, with a fixed number of iterations.

The new rows are among the rows, with their output missing, so that the fit is also the prediction.
"""

import json
import sys

import GPy
import numpy as np
from common import peak_mib, timed_again
from GPy.models.bayesian_gplvm_minibatch import BayesianGPLVMMiniBatch
from problems import make_table

N_LATENT, N_INDUCING, ITERATIONS = 5, 30, 100


def measure(n, q, share, patience):
    """Seconds of a fit and of the predictions of the new rows."""
    X, y, X_new = make_table(n, q, share)
    rows = np.column_stack([np.vstack([X, X_new]), np.append(y, np.full(len(X_new), np.nan))])
    rows = (rows - np.nanmean(rows, axis=0)) / np.nanstd(rows, axis=0)

    def answer():
        np.random.seed(0)  # noqa: NPY002 - GPy uses this generator
        latent = min(N_LATENT, q)
        start = np.random.normal(size=(len(rows), latent))  # noqa: NPY002
        kernel = GPy.kern.RBF(latent, ARD=True)
        model = BayesianGPLVMMiniBatch(
            rows, latent, X=start, num_inducing=min(N_INDUCING, n), kernel=kernel, missing_data=True
        )
        model.optimize(max_iters=ITERATIONS)
        model.predict(model.X[-len(X_new) :])

    return timed_again(answer, patience) | {"versions": {"GPy": GPy.__version__}, "peak_mib": peak_mib()}


if __name__ == "__main__":
    n, q, share, patience = sys.argv[1:]
    print(json.dumps(measure(int(n), int(q), float(share), float(patience))))
