"""How to load a fitted estimator from a file, and the closed list of classes that a file may name."""

from __future__ import annotations

import inspect
import os
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .. import storage
from .common.saving import Saved


def load(path: str | os.PathLike) -> Any:
    """Load the fitted estimator from a file that `save` has written.

    Raises ValueError if the file was not written by `save`, if it is damaged, or if a later version wrote it in another
    format. Nothing in a file is ever executed.
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
    """Set the parameters that did not exist yet when the file was written, to their default values."""
    for name, parameter in inspect.signature(type(estimator).__init__).parameters.items():
        if name != "self" and name not in vars(estimator):
            setattr(estimator, name, None if parameter.default is inspect.Parameter.empty else parameter.default)


def stored_classes() -> dict[str, type]:
    """Every class that a fitted estimator may contain, by its name in files."""
    from ..columns import Columns, Levels, Number, Time
    from ..core.chained.imputation import ChainedGPs, Imputation
    from ..core.chained.regression import Regression
    from ..core.class_gp import ClassGP
    from ..core.dynamics.chain import Chain, ChainMoves, ChainReference
    from ..core.dynamics.fit import StateAnswer
    from ..core.dynamics.model import StateData, StateFunction, StateModel
    from ..core.exact.certain import Hyperparameters
    from ..core.exact.gaps import Gaps
    from ..core.exact.gp import ExactModel, ExactPosterior, ExactRows
    from ..core.exact.lines import LineModel
    from ..core.exact.over_time import TimeModel
    from ..core.hyperpriors import LogNormal
    from ..core.inputs.priors import GaussianPrior, RowPrior, StandardPrior
    from ..core.kernels import RBF, Bias, Linear, Sum, White
    from ..core.label_gp import LabelGP
    from ..core.layers.hidden import HiddenLayer
    from ..core.rows.recognition import Weights
    from ..core.search.report import FitReport
    from ..core.sequences.model import Marginals, Paths, SequenceData, SequenceModel
    from ..core.sparse.bound import Likelihood
    from ..core.sparse.factors import Factors
    from ..core.sparse.model import Data, Model
    from ..core.sparse.posterior import Posterior
    from ..core.sparse.statistics import Block, Statistics
    from ..core.sparse.targets import Targets
    from ..frames import FrameKind
    from ..series import Panel, Timeline
    from .common.component import Component
    from .common.filled_tables import FilledTables
    from .common.input_units import InputUnits
    from .common.order import Arrangement
    from .common.table import Table
    from .common.units import Units
    from .deep.regressor import DeepGPRegressor
    from .deep.stacked_component import StackedComponent
    from .dynamics.kinds.markov import Markov
    from .dynamics.kinds.markov_member import MarkovMember
    from .dynamics.kinds.over_time import TimeDriven
    from .dynamics.kinds.stateless_members import MarginalMember, PastMember
    from .dynamics.kinds.time_member import TimeMember
    from .dynamics.state_space import StateSpaceGP
    from .few_labels.classifier import SemiSupervisedGPClassifier
    from .few_labels.label_mixture import LabelMixture
    from .few_labels.labels import LabelColumn, Labels
    from .few_labels.row_graph import RowGraph
    from .few_labels.spaces import LabelledSpaces, Locations, TrainingSpaces
    from .few_labels.student import Student
    from .forecasting.forecaster import GPForecaster
    from .forecasting.gap_beliefs import GapBelief
    from .forecasting.priors import Driven, Increments, OverTime, Past
    from .forecasting.priors.driven_members import DrivenMember
    from .forecasting.scale import SeriesScale
    from .forecasting.series_model import SeriesModel
    from .imputation.beliefs import Beliefs
    from .imputation.imputer import GPImputer
    from .latent.features import Features
    from .latent.gplvm import BayesianGPLVM
    from .particles.chains import Particle
    from .particles.given_others import ColumnModel
    from .particles.layout import Layout
    from .particles.relations import Relations
    from .regression.certain_component import CertainComponent
    from .regression.missing_inputs import CorrelatedInputs, OwnRows, StandardInputs
    from .regression.particle_inputs import ParticleInputs
    from .regression.regressor import SemiDescribedGPRegressor
    from .streaming.regressor import StreamingGPRegressor
    from .views.prediction import ViewPosteriors
    from .views.shared import SharedGPLVM
    from .views.view_table import ViewTable

    classes = (
        Arrangement, BayesianGPLVM, Beliefs, Bias, Block, CertainComponent, Chain, ChainedGPs, ChainMoves,
        ChainReference, ClassGP, ColumnModel, Columns, Component, CorrelatedInputs, Data, DeepGPRegressor, Driven,
        DrivenMember, ExactModel, ExactPosterior, ExactRows, Factors, Features, FilledTables, FitReport, FrameKind,
        GapBelief, Gaps, GaussianPrior, GPForecaster, GPImputer, HiddenLayer, Hyperparameters, Imputation, Increments,
        InputUnits, LabelColumn, LabelGP, LabelledSpaces, LabelMixture, Labels, Layout, Levels, Likelihood, Linear,
        LineModel, Locations, LogNormal, MarginalMember, Marginals, Markov, MarkovMember, Model, Number, OverTime,
        OwnRows, Panel, Particle, ParticleInputs, Past, PastMember, Paths, Posterior, RBF, Regression, Relations,
        RowGraph, RowPrior, SemiDescribedGPRegressor, SemiSupervisedGPClassifier, SequenceData, SequenceModel,
        SeriesModel, SeriesScale, SharedGPLVM, StackedComponent, StandardInputs, StandardPrior, StateAnswer, StateData,
        StateFunction, StateModel, StateSpaceGP, Statistics, StreamingGPRegressor, Student, Sum, Table, Targets, Time,
        TimeDriven, Timeline, TimeMember, TimeModel, TrainingSpaces, Units, ViewPosteriors, ViewTable, Weights, White,
    )  # fmt: skip
    return {each.__name__: each for each in classes}
