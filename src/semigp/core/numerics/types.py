"""The array type in the engine's signatures: a JAX array, or a NumPy array that is passed in or returned."""

import jax
import numpy as np

Array = jax.Array | np.ndarray
