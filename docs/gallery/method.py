"""
The method in three pictures
============================

The figures of :doc:`the method page </method/method>`.
"""

import matplotlib.pyplot as plt
import numpy as np

from semigp import GPForecaster, SemiDescribedGPRegressor, scores
from semigp.datasets import make_mackey_glass, make_semi_described, mask_at_random
from semigp.plotting import draw_fan

# %%
# Beliefs
# -------
# There are one input and two outputs. One row came with an error bar, and another one without any reading.

random = np.random.default_rng(0)
truth = random.normal(size=(60, 1))
y = np.column_stack([np.sin(1.5 * truth[:, 0]), truth[:, 0] ** 2 / 2]) + 0.3 * random.normal(size=(60, 2))
X, X_std = truth.copy(), np.zeros((60, 1))
X[0], X_std[1] = np.nan, 0.4
X[1] += 0.45

model = SemiDescribedGPRegressor(n_inducing=20, posterior="gaussian", random_state=0).fit(X, y, X_std=X_std)
found, found_std = model.impute(return_std=True)


def normal(x, mean, std):
    return np.exp(-0.5 * ((x - mean) / std) ** 2) / (std * np.sqrt(2 * np.pi))


grid = np.linspace(-3, 3, 400)
priors = {"missing": (np.nanmean(X), np.nanstd(X)), "uncertain": (X[1, 0], X_std[1, 0]), "observed": None}
fig, panels = plt.subplots(1, 3, figsize=(10, 2.6), sharex=True, layout="constrained")
for axes, row, name in zip(panels, (2, 1, 0), ("observed", "uncertain", "missing"), strict=True):
    if priors[name] is not None:
        axes.plot(grid, normal(grid, *priors[name]), "--", color="0.5", label="before")
        axes.plot(grid, normal(grid, found[row, 0], found_std[row, 0]), color="#0072B2", lw=2, label="after")
        axes.legend(frameon=False)
    else:
        axes.annotate("", (X[row, 0], 1), (X[row, 0], 0), arrowprops={"color": "#0072B2", "width": 1.5, "headwidth": 7})
    axes.axvline(truth[row, 0], color="black", lw=0.8, ls=":")
    axes.set(title=name, yticks=[], xlabel="input")
    axes.set_ylim(bottom=0)

# %%
# Forms of q(X)
# -------------
# On the left, there are two independent inputs that the outputs determine, and a fifth of the entries is missing. On
# the right, there are eight inputs that move together. A third of the rows is complete, and the others have lost half
# of their entries. Three forms of q(X) predict the outputs of new rows.


def independent(random, n_rows):
    inputs = random.normal(size=(n_rows, 2))
    a, b = inputs.T
    outputs = np.column_stack([np.sin(1.5 * a) + b, np.cos(1.5 * a) - b])
    return inputs, outputs + 0.05 * random.normal(size=outputs.shape)


inputs, outputs = independent(np.random.default_rng(0), 360)
holes = np.random.default_rng(2).random((60, 2)) < 0.2
curves, curve_outputs = make_semi_described(n_rows=200, n_inputs=8, n_outputs=3, random_state=0)
order = np.random.default_rng(0).permutation(200)
curve_holes = np.zeros((90, 8), bool)
curve_holes[30:] = mask_at_random((60, 8), 0.5, random_state=0)
problems = {
    "independent inputs": (inputs, outputs, holes),
    "inputs that move together": (curves[order], curve_outputs[order], curve_holes),
}

fig, panels = plt.subplots(3, 2, figsize=(8, 11), layout="constrained")
for column, (title, (x, outputs, holes)) in zip(panels.T, problems.items(), strict=True):
    n = len(holes)
    for axes, form in zip(column, ("particles", "mixture", "gaussian"), strict=True):
        model = SemiDescribedGPRegressor(n_inducing=45, posterior=form, n_draws=6, random_state=0)
        model.fit(np.where(holes, np.nan, x[:n]), outputs[:n])
        mean, std = model.predict(x[n:], return_std=True)
        truth, scale = outputs[n:], outputs[n:].std()
        axes.errorbar(truth.ravel(), mean.ravel(), 2 * std.ravel(), fmt=".", ms=3, lw=0.5, alpha=0.5, color="#0072B2")
        axes.axline((0, 0), slope=1, color="black", lw=0.8, ls="--")
        axes.set(xlabel="new output", ylabel="prediction ± 2 std")
        density = scores.negative_log_density(truth, mean, std)
        axes.set_title(f"{title}, {form}\nnegative log density {density:.2f}", fontsize="medium")
        error = (model.impute() - x[:n])[holes]
        print(f"{title}, {form}: RMSE of outputs {np.sqrt(np.mean((mean - truth) ** 2)):.3f}, ", end="")
        print(f"of the missing inputs {np.sqrt(np.mean(error**2)):.3f}")

# %%
# A Gaussian q(x) is in one place. Where the outputs allow for two places, it may be in the wrong one. On the left its
# predictions are better than those of the mixture, although it finds the missing inputs less well. Particles, the
# default, can be in several places.

# %%
# How uncertainty is carried forward
# ----------------------------------
# This is one model of the Mackey-Glass series, with the paper's 72 windows of 18 values. It is simulated freely for a
# thousand steps, in four ways.

series = make_mackey_glass(1100)
forecaster = GPForecaster(window=18, random_state=0).fit(series[:90])
fig, panels = plt.subplots(4, 1, figsize=(9, 7), sharex=True, layout="constrained")
for axes, propagation in zip(panels, ("sample", "full", "diagonal", "none"), strict=True):
    forecast = forecaster.forecast(1000, propagation)
    draw_fan(forecast, axes, truth=series[90:1090], history=90)
    axes.set(ylabel=propagation, ylim=(0, 1.6))
for axes in panels[1:]:
    axes.get_legend().remove()
