"""
Do the intervals hold?
======================

Of all 95 % intervals, 95 % should hold the true value, and the same should be so for every level. A model that was
given guesses as if they were measurements does not know how far to trust itself.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.impute import KNNImputer

from semigp import SemiDescribedGPRegressor
from semigp.datasets import make_semi_described, mask_at_random
from semigp.plotting import draw_calibration

X, y = make_semi_described(n_rows=200, n_inputs=8, n_outputs=3, random_state=1)
order = np.random.default_rng(0).permutation(200)
train, test = order[:100], order[100:]
recorded = X[train].copy()
recorded[30:][mask_at_random((70, 8), 0.6, random_state=0)] = np.nan
gappy = np.where(mask_at_random((100, 8), 0.4, random_state=1), np.nan, X[test])  # new rows have holes too

model = SemiDescribedGPRegressor(n_draws=6, random_state=0).fit(recorded, y[train])
imputer = KNNImputer().fit(recorded)
after_filling = SemiDescribedGPRegressor(n_inducing=50, random_state=0).fit(imputer.transform(recorded), y[train])

# %%
# Below the diagonal, intervals are too narrow. Above it, they are too wide. A GP on filled-in rows takes bad guesses
# for noise of the outputs, so its intervals are too wide, most of all on complete rows. If the holes are integrated
# over, the intervals are right on complete rows. On rows with holes they are too wide in the middle, because the
# distribution of what a hole may hold has long tails, which one standard deviation cannot describe.

predictions = {
    "complete rows, integrated over": model.predict(X[test], return_std=True),
    "complete rows, filled in first": after_filling.predict(X[test], return_std=True),
    "rows with holes, integrated over": model.predict(gappy, return_std=True),
    "rows with holes, filled in first": after_filling.predict(imputer.transform(gappy), return_std=True),
}
fig, panels = plt.subplots(2, 2, figsize=(8.5, 8.5), layout="constrained")
for axes, (name, (mean, std)) in zip(panels.ravel(), predictions.items(), strict=True):
    draw_calibration(y[test], mean, std, axes)
    axes.set_title(f"{name}\nRMSE {np.sqrt(np.mean((mean - y[test]) ** 2)):.3f}", pad=24, fontsize="medium")
