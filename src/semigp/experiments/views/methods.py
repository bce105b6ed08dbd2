"""Ways to predict one view from another: ours, and those of practice on imputed tables.

Peers get the training table of both views with holes filled in by scikit-learn's IterativeImputer, and the given view
of new rows filled in by another one that was fitted to that view. Labels are columns of 0 and 1 to them.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cross_decomposition import CCA, PLSRegression
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as Bump
from sklearn.gaussian_process.kernels import ConstantKernel, WhiteKernel
from sklearn.impute import IterativeImputer
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from ...core import RBF, InputBelief, fit_posterior
from ...core.exact.certain import OutputDensity, fit_hyperparameters
from ...estimators import SharedGPLVM
from ...estimators.views.prediction import ViewPosteriors
from ...runtime import computing
from .problems import Problem

# Mean, and standard deviation if there is one, of each direction; labels for a view of labels.
Found = list[tuple[np.ndarray, np.ndarray | None]]
Way = Callable[[Problem], Found]
_N_COMPONENTS, _N_INDUCING = 8, 25
# With more columns than this, a column is imputed from this many that are most correlated.
_MANY_COLUMNS, _NEAREST_COLUMNS = 60, 30
_GPY_VARIABLE = "SEMIGP_BENCH_GPY"


# ---- ours


def _shared(problem: Problem) -> Found:
    model = SharedGPLVM(_N_COMPONENTS, random_state=0).fit(problem.training)
    found: Found = []
    for given, other in problem.directions:
        views = {given: problem.new[given]}
        if problem.is_labels(other):
            found.append((model.predict(views, other), None))
        else:
            found.append(model.predict(views, other, return_std=True))
    return found


def _alone(problem: Problem) -> Found:
    """What the model of all views says by itself, without regressions."""
    model = SharedGPLVM(_N_COMPONENTS, random_state=0).fit(problem.training)
    found: Found = []
    for given, other in problem.directions:
        rows = model._standard(model._read({given: problem.new[given]}))
        with computing():
            mixture = model._model.outputs(model._model.infer(rows), model.view_names_.index(other))
        codes, std = model._tables[other].codes(mixture)
        found.append((codes[:, 0], None) if problem.is_labels(other) else (codes, std))
    return found


# ---- on imputed tables


def _imputer(n_columns: int) -> IterativeImputer:
    nearest = _NEAREST_COLUMNS if n_columns > _MANY_COLUMNS else None
    return IterativeImputer(max_iter=10, n_nearest_features=nearest, random_state=0)


def _filled(rows: np.ndarray, new: np.ndarray | None = None) -> np.ndarray:
    """The rows without holes, or new rows filled in as these were."""
    if not np.isnan(rows if new is None else new).any():
        return rows if new is None else new
    imputer = _imputer(rows.shape[1]).fit(rows)
    return imputer.transform(rows if new is None else new)


def _imputed(problem: Problem, given: str, other: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inputs and outputs of the training rows, and inputs of the new rows, all without holes."""
    inputs, outputs = problem.training[given], problem.training[other]
    if problem.is_labels(other):
        known = np.array([label is not None for label in outputs])
        filled, classes = _filled(inputs)[known], outputs[known].astype(int)
        table = np.eye(classes.max() + 1)[classes]
    else:
        both = _filled(np.hstack([inputs, outputs]))
        filled, table = np.split(both, [inputs.shape[1]], axis=1)
    return filled, table, _filled(inputs, problem.new[given])


def _regression(fit: Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, Any]]) -> Way:
    """A way made of a function of standardised training inputs, outputs, and new inputs."""

    def way(problem: Problem) -> Found:
        found: Found = []
        for given, other in problem.directions:
            X, Y, new = _imputed(problem, given, other)
            inputs, outputs = StandardScaler().fit(X), StandardScaler().fit(Y)
            mean, std = fit(inputs.transform(X), outputs.transform(Y), inputs.transform(new))
            mean = outputs.inverse_transform(mean)
            if problem.is_labels(other):
                found.append((np.argmax(mean, axis=1), None))
            else:
                found.append((mean, None if std is None else std * outputs.scale_))
        return found

    return way


def _components(estimator: Any, counts: tuple[int, ...]) -> Callable[..., tuple[np.ndarray, None]]:
    """A method with components, whose number is chosen by five-fold cross-validation."""

    def fit(X: np.ndarray, Y: np.ndarray, new: np.ndarray) -> tuple[np.ndarray, None]:
        most = min(X.shape[1], Y.shape[1]) if isinstance(estimator, CCA) else X.shape[1]
        grid = {"n_components": [count for count in counts if count <= most]}
        search = GridSearchCV(estimator, grid, cv=5, scoring="neg_mean_squared_error").fit(X, Y)
        return search.predict(new), None

    return fit


def _gp(X: np.ndarray, Y: np.ndarray, new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """scikit-learn's GP with one lengthscale."""
    kernel = ConstantKernel(1.0) * Bump(np.sqrt(X.shape[1])) + WhiteKernel(0.1)
    return GaussianProcessRegressor(kernel).fit(X, Y).predict(new, return_std=True)


def _gp_with_relevances(X: np.ndarray, Y: np.ndarray, new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An exact GP with a lengthscale and a slope for each column, and noise for each output: that of our tables."""
    found = fit_hyperparameters(X, Y, np.arange(X.shape[1]), None, 100)
    mean, variance = OutputDensity.given(found, X, Y, precision=np.float64).moments(new)
    return mean, np.sqrt(variance)


# ---- GPy


def has_gpy() -> bool:
    """Whether $SEMIGP_BENCH_GPY names a Python that has GPy."""
    return Path(os.environ.get(_GPY_VARIABLE, "")).is_file()


def _gpy(problem: Problem) -> Found:
    """MRD as GPy fits it. GPy embeds no new rows with holes: our search does it, with GPy's parameters."""
    tables = [table for table in problem.training.values() if table.ndim == 2]
    if len(tables) < len(problem.training):
        raise ValueError("GPy's MRD is compared on numbers only.")
    centres, scales = [np.nanmean(t, axis=0) for t in tables], [np.nanstd(t, axis=0) for t in tables]
    rows = [(t - centre) / scale for t, centre, scale in zip(tables, centres, scales, strict=True)]
    fitted = _fitted_by_gpy(rows)
    belief = InputBelief(fitted["mean"], fitted["variance"])
    posteriors = []
    for k, own in enumerate(rows):
        kernel = RBF(float(fitted["signals"][k]), fitted["lengthscales"][k])
        posteriors.append(fit_posterior(kernel, belief, fitted["inducing"], own, float(fitted["noises"][k])))
    model = ViewPosteriors(
        tuple(posteriors), tuple(rows), np.arange(len(rows[0])), fitted["mean"], np.sqrt(fitted["variance"])
    )
    names, found = list(problem.training), []
    for given, other in problem.directions:
        g, o = names.index(given), names.index(other)
        with computing():
            beliefs = model.infer({g: (problem.new[given] - centres[g]) / scales[g]})
            mean, variance = model.outputs(beliefs, o).moments()
        found.append((mean * scales[o] + centres[o], np.sqrt(variance) * scales[o]))
    return found  # type: ignore[return-value]


def _fitted_by_gpy(rows: list[np.ndarray]) -> Mapping[str, np.ndarray]:
    script = Path(__file__).with_name("gpy_peer.py")
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "views.npz", Path(folder) / "fitted.npz"
        np.savez(source, *rows)
        sizes = [str(_N_COMPONENTS), str(_N_INDUCING)]
        subprocess.run([os.environ[_GPY_VARIABLE], str(script), str(source), str(target), *sizes], check=True)
        return dict(np.load(target))


OURS = "SharedGPLVM"
GPY = "MRD, GPy"
WAYS: dict[str, Way] = {
    OURS: _shared,
    "SharedGPLVM, model alone": _alone,
    GPY: _gpy,
    "GP, a lengthscale per column": _regression(_gp_with_relevances),
    "GP, one lengthscale": _regression(_gp),
    "PLS": _regression(_components(PLSRegression(), (1, 2, 3, 4, 5, 6, 8, 10, 15, 20))),
    "CCA": _regression(_components(CCA(), (1, 2, 3, 4, 5, 6))),
}
