"""The array type of the engine's signatures: a JAX array, or the NumPy array it was given or hands back."""

import jax
import numpy as np

Array = jax.Array | np.ndarray
