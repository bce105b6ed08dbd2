"""
Completing a table
==================

Thirteen measurements were made of 178 wines, and a fifth of the values is lost. A Bayesian GP-LVM completes the table
and says how sure it is. So does a chain of Gaussian processes.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.impute import KNNImputer

from semigp import BayesianGPLVM, GPImputer
from semigp.datasets import mask_at_random
from semigp.plotting import draw_calibration, draw_imputed

truth = load_wine().data
holes = mask_at_random(truth.shape, 0.2, random_state=0)
table = np.where(holes, np.nan, truth)

lvm = BayesianGPLVM(n_components=5, scaling="columns", output_noise="per-output", random_state=0).fit(table)
filled, std = lvm.impute(return_std=True)
print(f"{lvm.n_relevant_} of 5 latent inputs are needed.")

# %%
# These are errors in units of each column's standard deviation:

unit = truth.std(axis=0)
others = {"GP-LVM": filled, "GPImputer": GPImputer(n_draws=5, random_state=0).fit(table).impute()}
others["5 nearest rows"] = KNNImputer().fit_transform(table / unit) * unit
others["column means"] = np.where(holes, np.nanmean(table, axis=0), table)
for name, found in others.items():
    print(f"{name}: RMSE {np.sqrt(np.mean(((found - truth) / unit)[holes] ** 2)):.3f}")

# %%
# On the left are means and 95 % intervals against the values that were lost. On the right is how many intervals held
# them.

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
draw_imputed(lvm, left, truth=truth)
draw_calibration(truth[holes], filled[holes], std[holes], right)
