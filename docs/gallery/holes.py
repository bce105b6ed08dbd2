"""
Inputs with holes
=================

A function of two inputs, and a table in which a third of the inputs was lost. Rows with a hole are used all the same,
and what is not known of them shows.
"""

import matplotlib.pyplot as plt
import numpy as np

from semigp import SemiDescribedGPRegressor
from semigp.plotting import draw_imputed, draw_prediction

random = np.random.default_rng(0)
truth = random.normal(size=(70, 2))
a, b = truth.T
y = np.column_stack([np.sin(1.5 * a) + b, np.cos(1.5 * a) - b]) + 0.05 * random.normal(size=(70, 2))
X = truth.copy()
X[random.random(X.shape) < 0.3] = np.nan

model = SemiDescribedGPRegressor(n_inducing=35, random_state=0).fit(X, y)
print(f"q(X) is {model.posterior_}. {model.fit_report_.message}")

# %%
# The first output along the first input, the second input integrated out. Rows whose first input was lost have horizontal
# error bars: that is where the model believes they are.

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
draw_prediction(model, left, y=y, input=0)
draw_imputed(model, right, truth=truth)

# %%
# A GP that drops the incomplete rows has less to learn from.

complete = ~np.isnan(X).any(axis=1)
fewer = SemiDescribedGPRegressor(n_inducing=35, random_state=0).fit(X[complete], y[complete])

new = random.normal(size=(300, 2))
expected = np.column_stack([np.sin(1.5 * new[:, 0]) + new[:, 1], np.cos(1.5 * new[:, 0]) - new[:, 1]])
for name, each in {"all rows": model, f"{complete.sum()} complete rows": fewer}.items():
    print(f"{name}: RMSE {np.sqrt(np.mean((each.predict(new) - expected) ** 2)):.3f}")
