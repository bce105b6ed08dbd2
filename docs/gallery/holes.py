"""
Inputs with holes
=================

This is one seed of the paper's simulated experiment. There are 15 inputs that move together, and 5 outputs. 40 rows are
complete, and 60 others have lost half of their inputs.
"""

import matplotlib.pyplot as plt
import numpy as np

from semigp import SemiDescribedGPRegressor
from semigp.datasets import make_semi_described, mask_at_random
from semigp.plotting import draw_imputed, draw_prediction

X, y = make_semi_described(n_rows=200, n_inputs=15, n_outputs=5, random_state=0)
order = np.random.default_rng(0).permutation(200)
train, test = order[:100], order[100:]
recorded = X[train].copy()
recorded[40:][mask_at_random((60, 15), 0.5, random_state=0)] = np.nan

model = SemiDescribedGPRegressor(n_draws=6, random_state=0).fit(recorded, y[train])
print(f"The form of q(X): {model.posterior_}. {model.fit_report_.message}")

# %%
# On the left is the first output along the input that matters most, averaged over the other inputs. On the right is
# what the model believes of the entries that were lost, against what they were.

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
draw_prediction(model, left, y=y[train])
draw_imputed(model, right, truth=X[train])

# %%
# A GP that drops the incomplete rows has less to learn from. Here that matters. With two inputs and as many complete
# rows it would not (:doc:`/howto/when-not`).

complete = ~np.isnan(recorded).any(axis=1)
fewer = SemiDescribedGPRegressor(n_inducing=50, random_state=0).fit(recorded[complete], y[train][complete])

fig, panels = plt.subplots(1, 2, figsize=(9, 4), sharex=True, sharey=True, layout="constrained")
for axes, each, name in zip(panels, (model, fewer), ("all rows", "complete rows only"), strict=True):
    mean, std = each.predict(X[test], return_std=True)
    axes.errorbar(y[test].ravel(), mean.ravel(), 2 * std.ravel(), fmt=".", ms=4, lw=0.6, alpha=0.6, color="#0072B2")
    axes.axline((0, 0), slope=1, color="black", lw=0.8, ls="--")
    axes.set(xlabel="what came", ylabel="prediction ± 2 standard deviations")
    axes.set_title(f"{name}: RMSE {np.sqrt(np.mean((mean - y[test]) ** 2)):.3f}", fontsize="medium")
