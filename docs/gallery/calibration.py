"""
Do the intervals hold?
======================

Of intervals that claim 95 %, 95 % should hold the truth, and so for every level. Filling in before fitting makes intervals
too narrow, and the more so the more is missing.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer

from semigp import SemiDescribedGPRegressor
from semigp.datasets import make_semi_described, mask_at_random
from semigp.plotting import draw_calibration

X, y = make_semi_described(n_rows=200, n_inputs=8, n_outputs=3, random_state=1)
order = np.random.default_rng(0).permutation(200)
train, test = order[:100], order[100:]
recorded = X[train].copy()
recorded[30:][mask_at_random((70, 8), 0.6, random_state=0)] = np.nan

model = SemiDescribedGPRegressor(n_inducing=50, n_draws=5, random_state=0).fit(recorded, y[train])
filled = IterativeImputer(random_state=0, max_iter=50, tol=1e-2).fit_transform(recorded)
after_filling = SemiDescribedGPRegressor(n_inducing=50, random_state=0).fit(filled, y[train])

# %%
# On complete test rows. Below the diagonal, intervals are too narrow; above it, too wide.

fig, panels = plt.subplots(1, 2, figsize=(9.5, 4.6), layout="constrained")
for axes, each, title in zip(panels, (model, after_filling), ("integrated over", "filled in first"), strict=True):
    mean, std = each.predict(X[test], return_std=True)
    draw_calibration(y[test], mean, std, axes)
    axes.set_title(f"{title}: RMSE {np.sqrt(np.mean((mean - y[test]) ** 2)):.3f}", pad=26)
