"""
Error bars on inputs
====================

The inputs are readings of an instrument that says how exactly it measures. A model that ignores this finds a function
that is too flat and noise that is too large.
"""

import matplotlib.pyplot as plt
import numpy as np

from semigp import SemiDescribedGPRegressor
from semigp.plotting import draw_prediction

random = np.random.default_rng(3)
true_x = random.uniform(-3, 3, size=(100, 1))
y = np.sin(2 * true_x[:, 0]) + 0.05 * random.normal(size=100)
X_std = np.sqrt(random.uniform(0, 0.15, size=(100, 1)))
X = true_x + X_std * random.normal(size=(100, 1))

aware = SemiDescribedGPRegressor(n_inducing=30, random_state=0).fit(X, y, X_std=X_std)
ignoring = SemiDescribedGPRegressor(n_inducing=60, random_state=0).fit(X, y)

# %%
# On the left, dots have moved to where the outputs say that they were. The bars show the uncertainty that is left.

grid = np.linspace(-3, 3, 200)[:, None]
fig, panels = plt.subplots(1, 2, figsize=(11, 4), sharey=True, layout="constrained")
for axes, model, title in zip(panels, (aware, ignoring), ("error bars used", "error bars ignored"), strict=True):
    draw_prediction(model, axes, y=y)
    axes.plot(grid, np.sin(2 * grid), "k--", lw=1)
    error = np.sqrt(np.mean((model.predict(grid) - np.sin(2 * grid[:, 0])) ** 2))
    axes.text(0.02, 0.03, f"{title}: RMSE {error:.3f}", transform=axes.transAxes)
    axes.set_ylim(-2.1, 1.8)
