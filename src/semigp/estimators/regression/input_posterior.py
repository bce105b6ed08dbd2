"""The posterior of the inputs of a fitted regressor, of the training rows and of new ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...columns import Columns, Levels
from ...core.numerics.mixtures import pooled
from ...progress import steps, watched
from ...runtime import computing
from ..common.blocks import ROWS_TO_INFER, blocks
from ..common.checks import check_outputs
from ..common.component import Component, infer_inputs
from ..common.filled_tables import FilledTables
from ..common.input_units import InputUnits
from ..common.reading import kinds_of_inputs
from .certain_component import CertainComponent
from .missing_inputs import CorrelatedInputs, StandardInputs
from .particle_inputs import ParticleInputs

Moments = tuple[np.ndarray, np.ndarray]


class ImputesInputs:
    """The method `impute` of a regressor."""

    # What a fit leaves behind.
    _inputs: Any
    _components: Sequence[Any]  # of `Component` or `CertainComponent`
    _x_units: Any
    _y_units: Any
    _arrangement: Any
    _table: Any
    _training: np.ndarray
    _columns: Columns | None
    _rows: FilledTables
    _frame_kind: Any
    posterior_: str
    _check_new: Callable[..., tuple[np.ndarray, np.ndarray]]
    verbose: bool

    def impute(self, X: Any = None, y: Any = None, return_std: bool = False) -> Any:
        """Posterior mean, and on request standard deviation, of the inputs. Of categories, the most probable level.

        Parameters
        ----------
        X : (n, q), optional
            Rows with NaN, by default the training rows. Known entries are returned unchanged, with standard deviation
            0. For entries of the training rows with error bars, mean and standard deviation of q(x) are returned. A
            frame is returned as a frame, with the types of its columns.
        y : (n,) or (n, p), optional
            The outputs of these rows, NaN where unknown. Without outputs, inputs are inferred from each other.
        return_std : bool
            Whether to return the standard deviations too. Those of categories are NaN.
        """
        check_is_fitted(self)
        if X is None:
            if y is not None:
                raise ValueError("y was given without X: give the rows X that y belongs to, or leave both out.")
            codes, is_uncertain = self._training, np.isnan(self._training) | (self._table_bars > 0)
            mean, std = self._training_moments()
            as_given = self._arrangement.as_given
        else:
            codes, _ = self._check_new(X, None)
            is_uncertain = np.isnan(codes)
            targets = None if y is None else self._y_units.standard(check_outputs(y, codes, len(self._y_units)))
            mean, std = self._new_moments(self._input_units.standard(codes), targets)
            as_given = self._arrangement.columns_as_given
        std = np.where(self._holds_levels, np.nan, std)
        has_bars = X is None and (self._table_bars > 0).any()  # the entries that have them change
        tables = self._tables.without_types if has_bars else self._tables
        mean = tables.filled(as_given(np.where(is_uncertain, mean, codes)), X)
        std = tables.spreads(as_given(np.where(is_uncertain, std, 0.0)), X)
        return (mean, std) if return_std else mean

    @property
    def _holds_levels(self) -> np.ndarray:
        """Which columns hold categories, in our order."""
        return np.array([isinstance(kind, Levels) for kind in kinds_of_inputs(self, self._arrangement.columns)])

    @property
    def _input_units(self) -> InputUnits:
        """The units of the inputs. Files from before they could be warped have plain units."""
        return self._x_units if isinstance(self._x_units, InputUnits) else InputUnits.linear(self._x_units)

    @property
    def _tables(self) -> FilledTables:
        """How tables are returned. Old files know the kind of frame only."""
        return self._rows if hasattr(self, "_rows") else FilledTables(self._frame_kind, None)

    @property
    def _table_bars(self) -> np.ndarray:
        """Error bars of the columns, in features."""
        return self._table.error[:, [group[0] for group in self._input_units.groups]]

    def _training_moments(self) -> Moments:
        """Mean and standard deviation of the training inputs, in the user's units."""
        if isinstance(self._components[0], CertainComponent):  # then only draws are uncertain
            return _moments_of(self._input_units, self._inputs.tables)
        moments = [_component_inputs(component, self._table.inputs) for component in self._components]
        mean, variance = pooled(*zip(*moments, strict=True))
        if self.posterior_ == "mixture" and isinstance(self._inputs, CorrelatedInputs):
            # The moments of the distributions that the entries were drawn from are smoother than those of a few draws.
            drawn, moments_of_draws = self._inputs.is_drawn, self._inputs.training_moments()
            mean, variance = (np.where(drawn, a, b) for a, b in zip(moments_of_draws, (mean, variance), strict=True))
        natural = self._input_units.natural_moments(mean, variance)
        if not isinstance(self._inputs, ParticleInputs):
            return natural
        drawn = np.isnan(self._training) & ~np.isnan(self._training).all(axis=0)
        of_draws = _moments_of(self._input_units, self._inputs.tables)
        return tuple(np.where(drawn, a, b) for a, b in zip(of_draws, natural, strict=True))  # type: ignore[return-value]

    def _new_moments(self, inputs: np.ndarray, targets: np.ndarray | None) -> Moments:
        """Mean and standard deviation of the inputs of new rows, given their outputs if there are some."""
        mean, std = np.empty((2, len(inputs), len(self._input_units.groups)))
        with watched("impute", self.verbose), computing():
            for rows in steps(blocks(np.arange(len(inputs)), size=ROWS_TO_INFER), "rows"):
                mean[rows], std[rows] = self._moments(inputs[rows], None if targets is None else targets[rows])
        return mean, std

    def _moments(self, inputs: np.ndarray, targets: np.ndarray | None) -> Moments:
        units = self._input_units
        if isinstance(self._inputs, ParticleInputs):
            return self._particle_moments(inputs, targets)
        if targets is None:
            return units.natural_moments(*self._inputs.moments(inputs, None))
        if self.posterior_ == "gaussian" or isinstance(self._inputs, StandardInputs):
            prior = self._inputs.gaussian_prior
            return units.natural_moments(*infer_inputs(self._components[0], inputs, targets, prior))
        mean, variance = self._inputs.moments(inputs, targets)
        return units.natural_moments(*self._with_latent(inputs, targets, mean, variance))

    def _particle_moments(self, inputs: np.ndarray, targets: np.ndarray | None) -> Moments:
        draws = self._inputs.draws(inputs, targets)
        mean, std = _moments_of(self._input_units, draws)
        latent = np.isnan(inputs) & self._inputs.is_latent
        if not latent.any():
            return mean, std
        found = np.where(latent, 0.0, np.nan_to_num(draws.mean(axis=0))), latent.astype(float)
        if targets is not None:
            found = self._with_latent(inputs, targets, *found)
        first = [group[0] for group in self._input_units.groups]
        natural = self._input_units.natural_moments(*found)
        mean, std = (np.where(latent[:, first], a, b) for a, b in zip(natural, (mean, std), strict=True))
        return mean, std

    def _with_latent(self, inputs: np.ndarray, targets: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> Moments:
        """Moments of features in which those of latent columns are inferred from the outputs."""
        latent = np.isnan(inputs) & self._inputs.is_latent
        if latent.any():
            some = np.where(latent, np.nan, mean)
            found = infer_inputs(self._components[0], some, targets, None)
            mean, variance = (np.where(latent, a, b) for a, b in zip(found, (mean, variance), strict=True))
        return mean, variance


def _moments_of(units: InputUnits, draws: np.ndarray) -> Moments:
    """Mean and standard deviation of codes over draws of features (k, n, d). Of categories, the most frequent level."""
    codes = units.natural(draws)
    mean, std = codes.mean(axis=0), codes.std(axis=0)
    for column in np.flatnonzero(units.is_level):
        counts = np.stack([np.mean(codes[..., column] == level, axis=0) for level in range(units.widths[column])])
        mean[:, column], std[:, column] = np.argmax(counts, axis=0), np.nan
    return mean, std


def _component_inputs(component: Component, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of q(x) of the training rows in one component. They are not valid for drawn entries."""
    data, model = component.data, component.model
    mean, variance = np.nan_to_num(inputs), np.zeros(inputs.shape)
    is_real = data.rows >= 0
    rows = data.rows[is_real]
    mean[rows] = np.where(data.mean_is_free, model.mean, data.values)[is_real]
    variance[rows] = np.where(data.unknown, model.variance, 0.0)[is_real]
    return mean, variance
