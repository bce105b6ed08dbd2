"""q(X) as particles: tables drawn given the outputs through the GP itself, and an exact GP for each of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ....core.search.report import MESSAGES, FitReport, Progress, Status, with_signal_to_noise
from ...common.component import LENGTHSCALE_SPREAD, Component, Recipe, fit_component
from ...common.reports import at_once
from ...common.starts import centres
from ...common.table import Table
from ...particles.chains import Particle, Search, Start, draw_particles, latest, schedule_for
from ...particles.layout import Layout
from ...particles.relations import Relations, fill, guess
from ..certain_component import CertainComponent
from ..particle_inputs import ParticleInputs

# Up to this many rows a GP is exact. Beyond, it has as many inducing points, or `n_inducing` if that is more.
_MOST_EXACT = 1000
_ROWS_TO_PLACE = 10_000  # that inducing inputs are placed by


def fit_particles(
    recipe: Recipe, table: Table, groups: tuple[tuple[int, ...], ...], n_draws: int, seed: int
) -> tuple[Sequence[Component | CertainComponent], list[FitReport], ParticleInputs]:
    """Draw the missing inputs, and fit a component to every draw. `groups` are the features of each column.

    The GP of a draw has the hyperparameters that the chain has found. They are searched for again only if there are
    latent columns or error bars, which the chains ignore.
    """
    started, random = time.perf_counter(), np.random.default_rng(seed)
    is_latent = np.isnan(table.inputs).all(axis=0)
    inputs, places = table.inputs[:, ~is_latent], np.cumsum(~is_latent) - 1
    kept = tuple(tuple(int(places[i]) for i in group) for group in groups if not is_latent[group[0]])
    layout = Layout.of(inputs, kept)
    schedule, search = schedule_for(n_draws, len(inputs)), Search(recipe.max_iter, not recipe.per_output)
    trace: list[tuple[int, int, float]] = []
    start, relations = _start(inputs, table.targets, layout, random)

    def is_stopped(chain: int, sweep: int, evidence: float) -> bool:
        trace.append((chain, sweep, evidence))
        seconds, sweeps = time.perf_counter() - started, schedule.n_chains * schedule.n_sweeps
        told = Progress("sweeps", len(trace), sweeps, evidence, seconds, has_fixed_length=True)
        return recipe.callback is not None and bool(recipe.callback(told))

    particles, is_interrupted = draw_particles(schedule, search, start, table.targets, relations, random, is_stopped)
    particles = latest(particles, n_draws)
    found = ParticleInputs(relations, particles, table.targets, is_latent, seed)
    if is_latent.any() or (table.error > 0).any():
        recipe = replace(recipe, callback=at_once) if is_interrupted else recipe
        return *_fit_again(recipe, table, found), found
    report = _report(
        particles, np.array([evidence for *_, evidence in sorted(trace)]), is_interrupted, time.perf_counter() - started
    )
    is_known = ~np.isnan(table.targets).all(axis=1)
    tables, targets = [each.table for each in particles], table.targets
    if not is_known.all():  # otherwise all share their arrays, and a file holds them once
        tables, targets = [each[is_known] for each in tables], targets[is_known]
    inducing = inducing_inputs(recipe, tables[0])
    components = [
        CertainComponent(inputs, targets, each.parameters, inducing)
        for inputs, each in zip(tables, particles, strict=True)
    ]
    return components, [report], found


def _start(
    inputs: np.ndarray, targets: np.ndarray, layout: Layout, random: np.random.Generator
) -> tuple[Start, Relations]:
    """How tables are first filled, from inputs and outputs together; and the models of columns given the others."""
    q, wide = inputs.shape[1], np.column_stack([inputs, targets])
    outputs = tuple((q + j,) for j in range(targets.shape[1]))
    filled, both = fill(wide, Layout.of(wide, (*layout.groups, *outputs)), random)
    relations = Relations(layout, layout.is_missing(inputs), {})
    for group in relations.with_holes():
        relations.choose(group, filled[:, :q], random)
    return lambda random: guess(filled, both, random)[:, :q], relations


def inducing_inputs(recipe: Recipe, inputs: np.ndarray) -> np.ndarray | None:
    """Inducing inputs for all components: they are placed once, by some of the rows, and held. None for few rows."""
    if len(inputs) <= _MOST_EXACT:
        return None
    some = inputs[:: -(-len(inputs) // _ROWS_TO_PLACE)]  # rows are sorted by content: a fair sample
    return centres(some, max(_MOST_EXACT, recipe.n_inducing), recipe.random_state)


def _fit_again(recipe: Recipe, table: Table, found: ParticleInputs) -> tuple[list[Component], list[FitReport]]:
    """Components whose latent inputs and error bars have a Gaussian q(x)."""
    recipe = replace(recipe, linear=True, lengthscale_spread=LENGTHSCALE_SPREAD)
    components, reports, before = [], [], None
    for particle in found.chains():
        drawn = replace(table, inputs=found.among_latent(particle.table))
        component, more = fit_component(recipe, drawn, None, before)
        components.append(component)
        reports.append(more)
        before = before or component.model
        if more.status == "interrupted":
            break
    return components, reports


def _report(particles: list[Particle], trace: np.ndarray, is_interrupted: bool, seconds: float) -> FitReport:
    status: Status = "interrupted" if is_interrupted else "converged"
    message = MESSAGES["interrupted"] if is_interrupted else "All draws were made."
    bound = float(np.mean([particle.parameters.log_evidence for particle in particles]))
    ratio = np.mean([1.0 / particle.parameters.noise for particle in particles], axis=0)
    stages: tuple = (("sweeps", status, len(trace)),)
    report = FitReport(status, message, bound, trace, len(trace), seconds, stages, ratio, method="particles")
    return with_signal_to_noise(report, ratio)
