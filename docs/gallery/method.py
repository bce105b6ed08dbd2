"""
The method in three pictures
============================

The figures of :doc:`the method page </method>`.
"""

import matplotlib.pyplot as plt
import numpy as np

from semigp import GPForecaster, SemiDescribedGPRegressor
from semigp.datasets import make_mackey_glass
from semigp.plotting import draw_fan

# %%
# Beliefs
# -------
# One input and two outputs. Of two rows one came with an error bar and one without any reading.

random = np.random.default_rng(0)
truth = random.normal(size=(60, 1))
y = np.column_stack([np.sin(1.5 * truth[:, 0]), truth[:, 0] ** 2 / 2]) + 0.15 * random.normal(size=(60, 2))
X, X_std = truth.copy(), np.zeros((60, 1))
X[0], X_std[1] = np.nan, 0.4
X[1] += 0.45

model = SemiDescribedGPRegressor(n_inducing=20, posterior="gaussian", random_state=0).fit(X, y, X_std=X_std)
found, found_std = model.impute(return_std=True)


def density(x, mean, std):
    return np.exp(-0.5 * ((x - mean) / std) ** 2) / (std * np.sqrt(2 * np.pi))


grid = np.linspace(-3, 3, 400)
priors = {"missing": (np.nanmean(X), np.nanstd(X)), "uncertain": (X[1, 0], X_std[1, 0]), "observed": None}
fig, panels = plt.subplots(1, 3, figsize=(10, 2.6), sharex=True, layout="constrained")
for axes, row, name in zip(panels, (2, 1, 0), ("observed", "uncertain", "missing"), strict=True):
    if priors[name] is not None:
        axes.plot(grid, density(grid, *priors[name]), "--", color="0.5", label="before")
        axes.plot(grid, density(grid, found[row, 0], found_std[row, 0]), color="#0072B2", lw=2, label="after")
        axes.legend(frameon=False)
    else:
        axes.annotate("", (X[row, 0], 1), (X[row, 0], 0), arrowprops={"color": "#0072B2", "width": 1.5, "headwidth": 7})
    axes.axvline(truth[row, 0], color="black", lw=0.8, ls=":")
    axes.set(title=name, yticks=[], xlabel="input")
    axes.set_ylim(bottom=0)

# %%
# Two forms of q(X)
# -----------------
# On the left, three independent inputs and outputs that pin them down; on the right, six inputs made of two causes and noisy outputs.


def independent(random):
    inputs = random.normal(size=(60, 3))
    a, b, c = inputs.T
    outputs = np.column_stack([np.sin(a) + b, a - np.cos(b) + c, b - np.sin(c), a + b + c])
    return inputs, outputs + 0.05 * random.normal(size=outputs.shape)


def correlated(random):
    causes = random.normal(size=(60, 2))
    inputs = np.tanh(causes @ random.normal(size=(2, 6))) + 0.03 * random.normal(size=(60, 6))
    outputs = np.sin(causes) + 0.5 * random.normal(size=causes.shape)
    return inputs, outputs


fig, panels = plt.subplots(2, 2, figsize=(8, 7), layout="constrained")
for column, (make, title) in enumerate([(independent, "independent inputs"), (correlated, "correlated inputs")]):
    inputs, outputs = make(np.random.default_rng(1))
    holes = np.random.default_rng(2).random(inputs.shape) < 0.2
    recorded = np.where(holes, np.nan, inputs)
    for axes, form in zip(panels[:, column], ("mixture", "gaussian"), strict=True):
        model = SemiDescribedGPRegressor(n_inducing=30, posterior=form, n_draws=5, random_state=0)
        mean, std = (part[holes] for part in model.fit(recorded, outputs).impute(return_std=True))
        axes.errorbar(inputs[holes], mean, 2 * std, fmt="o", ms=3.5, lw=0.9, alpha=0.8, color="#0072B2")
        axes.axline((0, 0), slope=1, color="black", lw=0.8, ls="--")
        error = np.sqrt(np.mean((mean - inputs[holes]) ** 2))
        axes.set_title(f"{title}, {form}: RMSE {error:.2f}", fontsize="medium")
        axes.set(xlabel="true input", ylabel="believed")

# %%
# How uncertainty is carried on
# -----------------------------
# One model of the Mackey-Glass series, and its forecast in four ways.

series = make_mackey_glass(1000)[300:]
forecaster = GPForecaster(window=18, random_state=0).fit(series[:90])
fig, panels = plt.subplots(4, 1, figsize=(9, 7), sharex=True, layout="constrained")
for axes, propagation in zip(panels, ("sample", "full", "diagonal", "none"), strict=True):
    forecast = forecaster.forecast(400, propagation)
    draw_fan(forecast, axes, truth=series[90:490], history=40)
    axes.set(ylabel=propagation, ylim=(0, 1.6))
for axes in panels[1:]:
    axes.get_legend().remove()
