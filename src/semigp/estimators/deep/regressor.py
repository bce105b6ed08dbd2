"""Regression with stacked GPs, on inputs that are observed, uncertain or missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from jax.sharding import Mesh
from scipy.stats import norm, qmc

from ...core import InputBelief
from ...core.layers.hamiltonian import STEPS
from ...core.search.report import MESSAGES, Callback, FitReport, Progress, Status
from ...progress import told
from ..common.reports import Stopwatch
from ..common.sklearn_private import Interval
from ..particles.relations import Relations
from ..regression.certain_component import CertainComponent
from ..regression.gathering import Gathering
from ..regression.particle_inputs import ParticleInputs
from ..regression.posteriors.particles import inducing_inputs
from ..regression.regressor import SemiDescribedGPRegressor, paired
from .chains import ITERATIONS, Chain, Plan, draw_chains
from .complete_tables import complete_tables
from .depths import weigh_depths
from .stacked_component import StackedComponent

# With fewer rows, those that are held back could not tell which depth is best: there is one layer.
_FEWEST_ROWS = 20
# Inputs that are uncertain when a row is predicted are drawn at least this often.
_DRAWS_OF_INPUTS = 100


class DeepGPRegressor(SemiDescribedGPRegressor):
    """Stacked Gaussian processes, for functions that have steps or change their scale.

    A GP with one layer has the same lengthscale everywhere. Here hidden layers bend the inputs first: each is a GP
    whose mean is the identity, and the GP of the outputs sees what comes out of the last one. Draws of the hidden
    layers are made by Hamiltonian Monte Carlo, in several chains. Predictions are mixtures over all draws, and may have
    several peaks.

    The regressor with one layer is a part of the mixture: it is fitted first, as `SemiDescribedGPRegressor`. It also
    fills in what is missing: the chains see tables without holes, drawn from its q(X). How much each depth counts is
    decided by rows that were held back. With one layer, all answers are those of `SemiDescribedGPRegressor`.

    Parameters
    ----------
    n_layers : int
        The largest number of layers, 1, 2 or 3. All depths up to it take part.
    n_chains : int
        The number of chains for each depth above 1. Each keeps six draws.
    n_inducing, input_prior, output_noise, input_noise, posterior, n_draws, max_iter, categorical_features, trend
        As in `SemiDescribedGPRegressor`, for the regressor with one layer.
    callback : callable, optional
        Called with a `Progress` after every iteration of the optimiser, sweep of a chain, or draw. Returning True ends
        the fit there.
    random_state : int, RandomState or None
    verbose : bool
        Whether whatever takes longer than two seconds shows a bar. This needs rich.

    Attributes
    ----------
    weights_ : dict
        For every depth, how much it counts.
    bound_ : float
        The log evidence of the standardised outputs given the hidden layers, without its constant, averaged over the
        draws of the depth that counts most. With one layer, as in `SemiDescribedGPRegressor`.
    fit_report_ : FitReport
        Status, message, and every stage. The trace is that of the chains: the log density after every iteration.
    n_iter_ : int
        The number of iterations of all chains.
    noise_variance_ : (p,)
        The noise variance of the outputs, averaged over everything that predicts.
    relevance_, posterior_, has_error_bars_, output_names_, n_features_in_, feature_names_in_
        As in `SemiDescribedGPRegressor`; `relevance_` is that of the regressor with one layer.

    Examples
    --------
    >>> import numpy as np
    >>> from semigp import DeepGPRegressor
    >>> x = np.linspace(-1, 1, 60)[:, None]
    >>> y = np.sign(x[:, 0])
    >>> model = DeepGPRegressor(n_chains=2, random_state=0).fit(x, y)
    >>> bool(abs(model.predict([[0.5]])[0] - 1) < 0.2)
    True
    """

    mesh: Mesh | None = None  # rows are in one process, and a fit cannot be resumed
    checkpoint: Any = None
    _parameter_constraints = {  # noqa: RUF012
        **{
            name: allowed
            for name, allowed in SemiDescribedGPRegressor._parameter_constraints.items()
            if name not in ("mesh", "checkpoint")
        },
        "n_layers": [Interval(Integral, 1, 3, closed="both")],
        "n_chains": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_layers: int = 2,
        *,
        n_chains: int = 5,
        n_inducing: int = 100,
        input_prior: str = "correlated",
        output_noise: str = "per-output",
        input_noise: str = "prior",
        posterior: str = "auto",
        n_draws: int = 15,
        max_iter: int = 2000,
        callback: Callback | None = None,
        random_state: Any = None,
        categorical_features: Any = None,
        trend: str = "held",
        verbose: bool = False,
    ) -> None:
        self.n_layers = n_layers
        self.n_chains = n_chains
        self.n_inducing = n_inducing
        self.input_prior = input_prior
        self.output_noise = output_noise
        self.input_noise = input_noise
        self.posterior = posterior
        self.n_draws = n_draws
        self.max_iter = max_iter
        self.callback = callback
        self.random_state = random_state
        self.categorical_features = categorical_features
        self.trend = trend
        self.verbose = verbose

    # ---- fitting

    def _fit_components(self, everyone: Gathering, watch: Stopwatch) -> None:
        """Fit the regressor with one layer, then draw the hidden layers of deeper ones."""
        super()._fit_components(everyone, watch)
        self.weights_: dict[int, float] = {1: 1.0}
        self._stacks: dict[int, list[StackedComponent]] = {}
        n_rows = int(np.sum(~np.isnan(self._table.targets).all(axis=1)))
        if self.n_layers == 1 or n_rows < _FEWEST_ROWS or self.fit_report_.status in ("interrupted", "failed"):
            return
        plan, depths = self._plan(everyone), range(2, self.n_layers + 1)
        trace: list[tuple[int, int, float]] = []
        callback, total = watch.told_to(told(self.callback)), self.n_chains * (self.n_layers - 1) * ITERATIONS

        def is_stopped(chain: int, iteration: int, value: float) -> bool:
            trace.append((chain, iteration, value))
            progress = Progress("hidden layers", len(trace), total, value, watch.seconds, has_fixed_length=True)
            return callback is not None and bool(callback(progress))

        chains, was_stopped = draw_chains(plan, depths, is_stopped)
        self._weigh(chains)
        values = np.array([value for *_, value in sorted(trace)])
        self.fit_report_ = watch.noted_in(self._joint_report(values, was_stopped))
        self.bound_, self.n_iter_ = self.fit_report_.bound, len(values)

    def _plan(self, everyone: Gathering) -> Plan:
        random = np.random.default_rng(self._seed)
        tables = complete_tables(self._components, self._table.targets, random)
        return Plan(
            tables,
            np.repeat(np.arange(len(self._x_units.widths)), self._x_units.widths),
            self._relations(len(tables[0].targets)),
            inducing_inputs(self._recipe(everyone, None), tables[0].inputs),
            self.n_chains,
            self.output_noise == "shared",
            self._seed,
        )

    def _relations(self, n_rows: int) -> Relations | None:
        """How missing inputs are drawn anew. None if nothing is missing, or if not all rows have certain inputs."""
        is_certain = isinstance(self._components[0], CertainComponent) and n_rows == len(self._table.targets)
        return self._inputs.relations if is_certain and isinstance(self._inputs, ParticleInputs) else None

    def _weigh(self, chains: list[Chain]) -> None:
        """Set the weights of all depths, by the rows that were held back, and the draws of every depth."""
        self.weights_ = weigh_depths(chains)
        for depth in list(self.weights_)[1:]:
            self._stacks[depth] = [draw for chain in chains if chain.n_layers == depth for draw in chain.draws]
        parts: dict[int, Sequence[Any]] = {1: self._components, **self._stacks}
        noise_variance = sum(
            weight * np.mean([component.noise_variance for component in parts[depth]], axis=0)
            for depth, weight in self.weights_.items()
        )
        self.noise_variance_ = noise_variance * self._y_units.std**2

    def _joint_report(self, trace: np.ndarray, was_stopped: bool) -> FitReport:
        """The report of the first layer, with the chains as a further stage."""
        before = self.fit_report_
        status: Status = "interrupted" if was_stopped else before.status
        depth = max(self.weights_, key=self.weights_.__getitem__)
        bound = before.bound
        if depth > 1:
            bound = float(np.mean([draw.parameters.log_evidence for draw in self._stacks[depth]]))
        return replace(
            before,
            status=status,
            message=MESSAGES["interrupted"] if was_stopped else before.message,
            bound=bound,
            trace=trace,
            evaluations=before.evaluations + len(trace) * STEPS,
            stages=(*before.stages, ("hidden layers", "interrupted" if was_stopped else "converged", len(trace))),
            method="Hamiltonian Monte Carlo",
        )

    # ---- prediction

    def _beliefs(self, inputs: np.ndarray, error: np.ndarray) -> list[tuple[Any, InputBelief]]:
        """Pairs of a component and a belief at which it predicts, for all depths. Stacks have certain inputs."""
        beliefs = self._inputs.beliefs(inputs, error)
        pairs = paired(self._components, beliefs)
        if not self._stacks:
            return pairs
        certain = _certain(beliefs, self._seed)
        return pairs + [pair for stacks in self._stacks.values() for pair in paired(stacks, certain)]

    def _weights_of(self, pairs: list[tuple[Any, InputBelief]]) -> np.ndarray:
        """The weight of every pair: those of one depth share its weight."""
        if not self._stacks:
            return super()._weights_of(pairs)
        depths = np.array([getattr(component, "n_layers", 1) for component, _ in pairs])
        return np.array([self.weights_[depth] / np.sum(depths == depth) for depth in depths.tolist()])

    def _chosen(self, pairs: list, n_samples: int, random: np.random.Generator) -> np.ndarray:
        if not self._stacks:
            return super()._chosen(pairs, n_samples, random)
        return random.choice(len(pairs), size=n_samples, p=self._weights_of(pairs))


def _certain(beliefs: list[InputBelief], seed: int) -> list[InputBelief]:
    """Beliefs without variance: draws from those that have one. All rows get the same numbers, evenly spread."""
    if not any(np.any(belief.variance) for belief in beliefs):
        return beliefs
    count = max(_DRAWS_OF_INPUTS, len(beliefs))
    numbers = norm.ppf(qmc.Halton(beliefs[0].n_inputs, rng=np.random.default_rng(seed)).random(count))
    draws = []
    for draw, number in enumerate(numbers):
        belief = beliefs[draw % len(beliefs)]
        mean = np.asarray(belief.mean) + np.sqrt(belief.variance) * number
        draws.append(InputBelief(mean, np.zeros(mean.shape)))
    return draws
