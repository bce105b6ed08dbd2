"""Tables and series that all libraries are timed on. NumPy only, for the environments of other libraries."""

import numpy as np

N_NEW = 100  # rows to predict
SEASON = 12
_N_FACTORS, _NOISE_STD = 3, 0.1


def make_table(n, q, share, seed=0):
    """Inputs (n, q) of three common factors, an output (n,), and inputs of new rows; a share of all inputs is NaN.

    The output is a nonlinear function of the first two inputs, and noise.
    """
    random = np.random.default_rng(seed)
    factors = random.normal(size=(n + N_NEW, _N_FACTORS))
    inputs = factors @ random.normal(size=(_N_FACTORS, q)) / np.sqrt(_N_FACTORS)
    inputs += 0.3 * random.normal(size=inputs.shape)
    output = np.sin(1.5 * inputs[:, 0]) + 0.5 * inputs[:, 1] ** 2 + _NOISE_STD * random.normal(size=n + N_NEW)
    inputs[random.random(inputs.shape) < share] = np.nan
    return inputs[:n], output[:n], inputs[n:]


def make_series(length, seed=0):
    """Values (length,) with a season of twelve steps, a cycle of another length, and autocorrelated noise."""
    random = np.random.default_rng(seed)
    time = np.arange(length)
    noise = np.zeros(length)
    for i, shock in enumerate(random.normal(size=length)):
        noise[i] = 0.6 * noise[i - 1] + 0.3 * shock
    phases = random.uniform(0.0, 2.0 * np.pi, 2)
    return np.sin(2.0 * np.pi * time / SEASON + phases[0]) + 0.5 * np.sin(time / 7.3 + phases[1]) + noise
