"""Fitted estimators in files."""

from __future__ import annotations

import inspect
import os
from numbers import Integral
from typing import Any

import jax
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .. import storage

# Parameters that belong to one run: files leave them out.
NOT_STORED = ("callback", "mesh", "checkpoint")


class Saved:
    """An estimator that can be saved without pickle, and loaded by `semigp.load`."""

    def save(self, path: str | os.PathLike) -> None:
        """Write the fitted model to a file of arrays and JSON, usually ``name.semigp``.

        A callback, a mesh, a folder for checkpoints, and a random state that is not a number are left out.
        """
        from .. import __version__

        check_is_fitted(self)
        about = {"estimator": type(self).__name__, "semigp": __version__, "jax": jax.__version__}
        storage.write(path, self, stored_classes(), about)

    def _stored(self) -> dict[str, Any]:
        """What a file holds of the estimator."""
        state = vars(self).copy()
        state |= {name: None for name in NOT_STORED if name in state}
        if not isinstance(self.random_state, Integral):  # type: ignore[attr-defined]
            state["random_state"] = None
        return state


def load(path: str | os.PathLike) -> Any:
    """The fitted estimator in a file that `save` has written.

    Raises ValueError for a file that is not one of ours, that is damaged, or that was written by a later version with
    another format. Nothing in a file is ever executed.
    """
    found = storage.read(path, stored_classes())
    if not isinstance(found, Saved):
        raise storage.NotAModel(f"{path} holds a {type(found).__name__}, not an estimator.")
    _add_parameters(found)
    try:
        check_is_fitted(found)
    except NotFittedError:
        raise storage.NotAModel(f"{path} holds a {type(found).__name__} that was never fitted.") from None
    return found


def _add_parameters(estimator: Saved) -> None:
    """Those that came with a later version than the file's: as they are by default."""
    for name, parameter in inspect.signature(type(estimator).__init__).parameters.items():
        if name != "self" and name not in vars(estimator):
            setattr(estimator, name, None if parameter.default is inspect.Parameter.empty else parameter.default)


def stored_classes() -> list[type]:
    """Whatever a fitted estimator may be made of. Names in files are those of the classes: they stay."""
    from sklearn.preprocessing import StandardScaler

    from .. import series
    from ..core import (
        bound,
        chained,
        exact,
        factors,
        kernels,
        label_gp,
        model,
        optimise,
        posterior,
        priors,
        recognition,
        statistics,
        targets,
    )
    from . import (
        arrangement,
        back_constraints,
        contest,
        forecaster,
        frames,
        gaps,
        gplvm,
        imputer,
        inputs,
        label_mixture,
        labels,
        mixture,
        row_graph,
        semi_described,
        semi_supervised,
        streaming,
    )

    return [
        semi_described.SemiDescribedGPRegressor, gplvm.BayesianGPLVM, semi_supervised.SemiSupervisedGPClassifier,
        streaming.StreamingGPRegressor, forecaster.GPForecaster, imputer.GPImputer, forecaster.Scale, gaps.Gaps,
        arrangement.Arrangement, series.Timeline, frames.FrameKind, StandardScaler, mixture.Component, mixture.Table,
        inputs.StandardInputs, inputs.CorrelatedInputs, inputs.OwnRows, contest.Contest,
        back_constraints.Features, label_mixture.LabelMixture, label_mixture.Landscape, label_mixture.Places,
        label_mixture.View, labels.LabelColumn, labels.Labels, row_graph.RowGraph, label_gp.LabelGP,
        chained.ChainedGPs, chained.Imputation, chained.Regression, exact.ExactModel, exact.ExactPosterior, exact.Rows,
        model.Model, model.Data, model.LogNormal, optimise.FitReport, posterior.Posterior, bound.Likelihood,
        factors.Factors, priors.RowPrior, priors.GaussianPrior, priors.StandardPrior, recognition.Weights,
        statistics.Block, targets.Targets, kernels.RBF, kernels.Linear, kernels.Bias, kernels.White, kernels.Sum,
    ]  # fmt: skip
