"""Checks of user input. A message says what is wrong, where, how many values, and what to do.

Traced values have no contents yet: only their shapes are checked.
"""

from typing import Any

import jax
import numpy as np


def is_traced(*values: Any) -> bool:
    """Whether any value is abstract, so that only its shape can be checked."""
    return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(values))


def as_arrays(*values: Any) -> tuple[Any, ...]:
    """The values as NumPy arrays, with whole numbers as floats. Traced values are returned unchanged."""
    return tuple(value if is_traced(value) else _as_array(value) for value in values)


def _as_array(value: Any) -> np.ndarray:
    array = np.asarray(value)
    return array.astype(float) if array.dtype.kind in "iub" else array


def check_matrix(name: str, value: Any, columns: int | None = None, columns_of: str = "", allow_nan: bool = False):
    """Raise ValueError unless `value` is a finite matrix (with `columns` columns, like `columns_of`)."""
    shape = np.shape(value)
    if len(shape) != 2:
        hint = f" Reshape it with {name}.reshape(-1, 1)." if len(shape) == 1 else ""
        raise ValueError(f"{name} must be a matrix, rows by columns, but has shape {shape}.{hint}")
    if 0 in shape:
        raise ValueError(f"{name} has shape {shape}: at least one row and one column are needed.")
    if columns is not None and shape[1] != columns:
        raise ValueError(f"{name} has {shape[1]} columns but {columns_of} has {columns}.")
    check_finite(name, value, allow_nan)


def check_numbers(name: str, value: Any) -> None:
    """Raise ValueError unless `value` holds real numbers."""
    dtype = np.asarray(value).dtype
    if dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold real numbers but has dtype {dtype}. Convert it to float first.")


def check_finite(name: str, value: Any, allow_nan: bool = False) -> None:
    """Raise ValueError if an entry is infinite, or is NaN where NaN is not allowed. The message names the first one."""
    if is_traced(value):
        return
    check_numbers(name, value)
    value = np.asarray(value, float)
    advice = "Mark missing values with NaN." if allow_nan else "All values must be finite here."
    kinds = [("infinite", np.isinf(value), advice)]
    if not allow_nan:
        kinds.append(("NaN", np.isnan(value), "No value may be missing here."))
    for kind, wrong, advice in kinds:
        if wrong.any():
            values = "value" if wrong.sum() == 1 else "values"
            raise ValueError(f"{name} has {wrong.sum()} {kind} {values}, {_first_place(wrong)}. {advice}")


def check_nonnegative(name: str, value: Any, advice: str) -> None:
    """Raise ValueError if an entry is negative. The message names the first one."""
    if is_traced(value):
        return
    wrong = np.asarray(value) < 0
    if wrong.any():
        values = "value" if wrong.sum() == 1 else "values"
        raise ValueError(f"{name} has {wrong.sum()} negative {values}, {_first_place(wrong)}. {advice}")


def _first_place(wrong: np.ndarray) -> str:
    place = np.argwhere(wrong)[0]
    if not len(place):
        return "the number itself"
    axes = ["row", "column", "second column"]
    return "first at " + ", ".join(f"{axis} {index}" for axis, index in zip(axes, place, strict=False))


def check_belief_shapes(mean: Any, variance: Any) -> None:
    """Raise ValueError unless mean is (n, q) and variance (n, q) or (n, q, q)."""
    shape = np.shape(mean)
    if len(shape) != 2:
        raise ValueError(f"mean must be a matrix, rows by columns, but has shape {shape}.")
    if np.shape(variance) not in (shape, (*shape, shape[1])):
        raise ValueError(
            f"variance has shape {np.shape(variance)} but mean has shape {shape}: give {shape} for independent "
            f"entries or {(*shape, shape[1])} for a full covariance per row."
        )


def check_belief(mean: np.ndarray, variance: np.ndarray) -> None:
    """Raise ValueError unless every row of mean and variance is a Gaussian or a Dirac."""
    check_matrix("mean", mean)
    check_belief_shapes(mean, variance)
    check_finite("variance", variance)
    if variance.ndim == 2:
        check_nonnegative("variance", variance, "Use 0 for entries that are known exactly.")
        return
    asymmetric = ~np.isclose(variance, np.swapaxes(variance, 1, 2), rtol=1e-8, atol=1e-12)
    if asymmetric.any():
        raise ValueError(f"variance must be symmetric in its last two axes; it is not, {_first_place(asymmetric)}.")
    smallest = np.linalg.eigvalsh(variance)[:, 0]
    negative = smallest < -1e-8 * np.abs(variance).max(axis=(1, 2))
    if negative.any():
        raise ValueError(
            f"variance of {negative.sum()} rows is not a covariance, {_first_place(negative)}: its smallest eigenvalue "
            f"is {smallest[negative][0]:.3g}, and no eigenvalue may be negative."
        )


def check_error_bars(error: Any, shape: tuple[int, ...]) -> None:
    """Raise ValueError unless `error` is finite, not negative, and has the shape of the inputs."""
    if np.shape(error) != shape:
        raise ValueError(f"error has shape {np.shape(error)} but the inputs have shape {shape}; 0 marks exact entries.")
    check_finite("error", error)
    check_nonnegative("error", error, "Error bars are standard deviations; use 0 for exact entries.")


def check_positive(name: str, value: Any, n_outputs: int) -> None:
    """Raise ValueError unless `value` is one positive number, or one positive number per output."""
    if np.shape(value) not in ((), (n_outputs,)):
        shape = np.shape(value)
        raise ValueError(f"{name} has shape {shape}: give one number, or one for each of {n_outputs} outputs.")
    check_finite(name, value)
    if not is_traced(value) and np.any(np.asarray(value) <= 0):
        raise ValueError(f"{name} is {value}; it must be positive.")


def check_jitter(jitter: Any) -> None:
    """Raise ValueError unless `jitter` is a single number, 0 or more."""
    if np.shape(jitter) != ():
        raise ValueError(f"jitter has shape {np.shape(jitter)}: give one number.")
    check_finite("jitter", jitter)
    check_nonnegative("jitter", jitter, "It is added to a diagonal; 1e-6 suits most data.")


def check_model(
    kernel: Any, belief: Any, inducing: Any, targets: Any, noise_variance: Any, output_scale: Any, jitter: Any
) -> None:
    """Raise unless kernel, inputs, inducing inputs, targets and noise fit together."""
    if not hasattr(kernel, "psi2_sums") or isinstance(kernel, type):
        raise TypeError(f"kernel is {kernel!r}; give a kernel such as RBF(variance=1.0, lengthscale=1.0).")
    if not hasattr(belief, "blocks"):
        raise TypeError(f"The inputs must be an InputBelief, not {type(belief).__name__}: InputBelief.observed(X).")
    check_matrix("inducing_inputs", inducing, belief.n_inputs, "the belief's mean")
    check_matrix("targets", targets, allow_nan=True)
    n, p = np.shape(targets)
    if n != belief.n_rows:
        raise ValueError(f"targets has {n} rows but the belief has {belief.n_rows}.")
    check_positive("noise_variance", noise_variance, p)
    check_positive("output_scale", output_scale, p)
    check_jitter(jitter)
    kernel.check(belief.n_inputs)


def check_count(name: str, value: Any, at_least: int = 1) -> None:
    """Raise ValueError unless `value` is a whole number of at least `at_least`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < at_least:
        raise ValueError(f"{name} is {value!r}; it must be a whole number, {at_least} or more.")
