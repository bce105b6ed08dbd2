"""
Inputs with holes
=================

A function of two inputs, and a table in which a third of the inputs was lost. Rows with a hole are used all the same.
"""

import matplotlib.pyplot as plt
import numpy as np

from semigp import SemiDescribedGPRegressor

random = np.random.default_rng(0)
truth = random.normal(size=(70, 2))
a, b = truth.T
y = np.column_stack([np.sin(1.5 * a) + b, np.cos(1.5 * a) - b]) + 0.05 * random.normal(size=(70, 2))
X = truth.copy()
X[random.random(X.shape) < 0.3] = np.nan

model = SemiDescribedGPRegressor(n_inducing=35, random_state=0).fit(X, y)
print(f"q(X): {model.posterior_}; {model.fit_report_.message}")
