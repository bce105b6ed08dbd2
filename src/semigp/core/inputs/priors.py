"""Priors on the inputs, and the KL divergence of a belief from a prior.

A prior is any object with `for_rows(values, unknown)`, which returns a Gaussian over the unknown entries of each row.
"""

from __future__ import annotations

from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from ..numerics import checks
from ..numerics.linalg import diagonal, inverses
from ..numerics.precision import in_float64
from ..numerics.pytrees import pytree
from ..numerics.types import Array
from .beliefs import InputBelief


@pytree
class RowPrior:
    """Π_n N(x_n | mean_n, precision_n⁻¹) over the unknown entries of each row; mean and precision are 0 elsewhere."""

    mean: Float[Array, "n q"]
    precision: Float[Array, "n q"] | Float[Array, "n q q"]  # Λ, independent or correlated entries
    log_precision: Float[Array, " n"]  # log|Λ| over the unknown entries

    def for_rows(self, values: Float[Array, "n q"], unknown: Bool[Array, "n q"]) -> RowPrior:
        """The prior, restricted to the unknown entries.

        Where an entry is unknown but the prior has precision 0 for it, there is no density, and log|Λ| is -∞.
        """
        if self.precision.ndim == 2:
            precision = jnp.where(unknown, self.precision, 0.0)
            log_precision = jnp.sum(jnp.log(jnp.where(unknown, self.precision, 1.0)), axis=1)
        else:
            both = unknown[:, :, None] & unknown[:, None, :]
            precision = jnp.where(both, self.precision, 0.0)
            _, log_precision = inverses(jnp.where(both, self.precision, jnp.eye(unknown.shape[1])))
        return RowPrior(jnp.where(unknown, self.mean, 0.0), precision, log_precision)

    def with_error_bars(self, observed: Float[Array, "n q"], error: Float[Array, "n q"]) -> RowPrior:
        """The prior times N(z, error²) for every entry z observed with an error bar (error > 0).

        With E = diag(error⁻²) the precision becomes Λ + E, and precision times mean becomes Λ m + E z.
        """
        seen = (error > 0) & ~jnp.isnan(observed)
        bars = jnp.where(seen, jnp.where(seen, error, 1.0) ** -2, 0.0)
        pull = bars * jnp.where(seen, observed, 0.0)
        if self.precision.ndim == 2:
            precision = self.precision + bars
            mean = (self.precision * self.mean + pull) / jnp.where(precision > 0, precision, 1.0)
            return RowPrior(mean, precision, jnp.sum(jnp.log(jnp.where(precision > 0, precision, 1.0)), axis=1))
        eye = jnp.eye(error.shape[1])
        precision = self.precision + bars[:, :, None] * eye
        known = diagonal(precision) == 0
        filled = precision + known[:, :, None] * eye
        total = jnp.einsum("nij,nj->ni", self.precision, self.mean) + pull
        covariance, log_precision = inverses(filled)
        return RowPrior(jnp.einsum("nij,nj->ni", covariance, total), precision, log_precision)

    def check(self, n_rows: int, n_inputs: int) -> None:
        """Raise ValueError unless this is a prior over `n_rows` rows of `n_inputs` entries."""
        if np.shape(self.mean) != (n_rows, n_inputs):
            raise ValueError(f"The prior is for {np.shape(self.mean)} inputs but the belief is {(n_rows, n_inputs)}.")


class InputPrior(Protocol):
    """The methods that `kl_divergence` and a fit need from a prior."""

    def for_rows(self, values: Float[Array, "n q"], unknown: Bool[Array, "n q"]) -> RowPrior:
        """The prior of each row's unknown entries given its known ones (`values`)."""

    def check(self, n_rows: int, n_inputs: int) -> None:
        """Raise ValueError if the prior does not fit the inputs."""


@pytree
class StandardPrior:
    """N(0, I) for every row, as in the paper."""

    def for_rows(self, values: Float[Array, "n q"], unknown: Bool[Array, "n q"]) -> RowPrior:
        """N(0, I) over the unknown entries, whatever the known ones are."""
        return RowPrior(jnp.zeros_like(values), unknown.astype(values.dtype), jnp.zeros(values.shape[0]))

    def check(self, n_rows: int, n_inputs: int) -> None:
        """Accept inputs of any size."""


# Mean, covariance, precision and log|precision| of the unknown entries of every row.
Conditional = tuple[Float[Array, "n q"], Float[Array, "n q q"], Float[Array, "n q q"], Float[Array, " n"]]


@pytree
class GaussianPrior:
    """N(m, Σ) with a full covariance: the known entries of a row inform about its unknown ones."""

    mean: Float[Array, " q"]
    covariance: Float[Array, "q q"]

    def for_rows(self, values: Float[Array, "n q"], unknown: Bool[Array, "n q"]) -> RowPrior:
        """p(x_u | x_o) of every row, as `conditional` has it."""
        mean, _, precision, log_precision = self.conditional(values, unknown)
        return RowPrior(jnp.where(unknown, mean, 0.0), precision, log_precision)

    def conditional(self, values: Float[Array, "n q"], unknown: Bool[Array, "n q"]) -> Conditional:
        """p(x_u | x_o) of every row: mean, covariance, precision and its log determinant.

        With Λ = Σ⁻¹, the precision is Λ_uu and the mean m_u - Λ_uu⁻¹ Λ_uo (x_o - m_o). Known entries are their own
        means; covariance and precision are 0 for them.
        """
        precision = jnp.linalg.inv(self.covariance)
        both = unknown[:, :, None] & unknown[:, None, :]
        inverse, log_precision = inverses(jnp.where(both, precision, jnp.eye(len(self.mean))))  # 1 for known entries
        offset = jnp.where(unknown, 0.0, values - self.mean)  # x_o - m_o
        # Λ_uo (x_o - m_o); the inverse does not mix unknown entries with known ones.
        shift = jnp.einsum("nij,nj->ni", inverse, offset @ precision)
        mean = jnp.where(unknown, self.mean - shift, values)
        return mean, jnp.where(both, inverse, 0.0), jnp.where(both, precision, 0.0), log_precision

    def check(self, n_rows: int, n_inputs: int) -> None:
        """Raise ValueError unless m has shape (q,) and Σ is a positive definite (q, q) matrix."""
        if np.shape(self.mean) != (n_inputs,) or np.shape(self.covariance) != (n_inputs, n_inputs):
            raise ValueError(
                f"GaussianPrior has mean {np.shape(self.mean)} and covariance {np.shape(self.covariance)}; the inputs "
                f"need shapes ({n_inputs},) and ({n_inputs}, {n_inputs})."
            )
        if checks.is_traced(self.covariance):
            return
        smallest = np.linalg.eigvalsh(np.asarray(self.covariance, float))[0]
        if not smallest > 0:
            raise ValueError(
                f"GaussianPrior: the covariance must be positive definite, but its smallest eigenvalue is "
                f"{smallest:.3g}. Add a small number to its diagonal."
            )


def error_bar_prior(observed: Any, error: Any) -> RowPrior:
    """N(z_n, diag(error²)) for inputs z_n that came with error bars: figure 1(a) of the paper.

    Error 0 means that the input is exact. A missing input (NaN) has the prior N(0, 1).
    """
    checks.check_matrix("observed", observed, allow_nan=True)
    checks.check_error_bars(error, np.shape(observed))
    observed, error = np.asarray(observed, float), np.asarray(error, float)
    missing = np.isnan(observed)
    exact = ~missing & (error == 0)
    std = np.where(missing | exact, 1.0, error)
    precision = np.where(exact, 0.0, std**-2)
    log_precision = -2.0 * np.sum(np.where(exact, 0.0, np.log(std)), axis=1)
    return RowPrior(np.where(missing | exact, 0.0, observed), precision, log_precision)


def kl_to_rows(
    mean: Float[Array, "n q"],
    variance: Float[Array, "n q"] | Float[Array, "n q q"],
    prior: RowPrior,
    unknown: Bool[Array, "n q"],
) -> Float[Array, ""]:
    """½ Σ_n [tr Λ S + (μ-m)ᵀ Λ (μ-m) - log|Λ| - log|S| - #unknown], over the unknown entries."""
    precision = prior.precision
    difference = jnp.where(unknown, mean - prior.mean, 0.0)
    if precision.ndim == 3:
        distance = jnp.einsum("ni,nij,nj->", difference, precision, difference)
    else:
        distance = jnp.sum(precision * difference**2)
    if variance.ndim == 3:
        full = precision if precision.ndim == 3 else precision[:, :, None] * jnp.eye(precision.shape[1])
        both = unknown[:, :, None] & unknown[:, None, :]
        trace = jnp.einsum("nij,nij->", full, variance)
        log_variance = jnp.sum(inverses(jnp.where(both, variance, jnp.eye(mean.shape[1])))[1])
    else:
        trace = jnp.sum((diagonal(precision) if precision.ndim == 3 else precision) * variance)
        log_variance = jnp.sum(jnp.log(jnp.where(unknown, variance, 1.0)))
    return 0.5 * (trace + distance - jnp.sum(prior.log_precision) - log_variance - jnp.sum(unknown))


@jax.jit
def _kl(mean, variance, prior):
    unknown = diagonal(variance) > 0
    return kl_to_rows(mean, variance, prior.for_rows(mean, unknown), unknown)


_kl_in_float64 = in_float64(_kl)


def kl_divergence(belief: InputBelief, prior: InputPrior | None = None) -> Float[Array, ""]:
    """KL(q(X) ‖ p(X)) of eq:boundFinalFinal, where p(X) is N(0, I) or another prior. Observed entries contribute 0.

    `prior` is a StandardPrior, a GaussianPrior (which conditions each row's unknown entries on its known ones), or a
    RowPrior with a Gaussian for every row (`error_bar_prior` makes one).
    """
    prior = StandardPrior() if prior is None else prior
    prior.check(belief.n_rows, belief.n_inputs)
    return _kl_in_float64(belief.mean, belief.variance, prior)
