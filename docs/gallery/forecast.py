"""
A series with a gap, and its future
===================================

Monthly values with a gap of half a year. The gap is inferred with the dynamics and drawn several times; functions drawn
from the posterior are rolled forward.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from semigp import GPForecaster
from semigp.plotting import draw_fan, draw_relevance

random = np.random.default_rng(0)
steps = np.arange(180)
values = np.sin(steps / 4) + 0.6 * np.sin(steps / 7.3) + 0.1 * random.normal(size=180)
series = pd.Series(values, pd.date_range("2010-01-01", periods=180, freq="MS"), name="level")
past, future = series[:140].copy(), series[140:]
past.iloc[100:106] = np.nan

forecaster = GPForecaster(window=12, random_state=0).fit(past)
forecast = forecaster.forecast(40)
print({name: round(score, 3) for name, score in forecast.score(future).items()})

# %%
# The fan holds 50, 80 and 95 % of the paths. The dashed line is what came.

fig, axes = plt.subplots(figsize=(10, 3.5), layout="constrained")
draw_fan(forecast, axes, truth=future, history=80)

# %%
# What the gap held, and which lags matter.

filled, std = forecaster.impute(return_std=True)
fig, (left, right) = plt.subplots(1, 2, figsize=(11, 3.2), layout="constrained")
window = slice(92, 114)
left.plot(steps[window], values[window], "k.", ms=5, label="what was there")
left.plot(steps[window], filled[window], lw=1.2, label="believed")
left.fill_between(steps[window], (filled - 2 * std)[window], (filled + 2 * std)[window], alpha=0.25, lw=0)
left.set(xlabel="step", ylabel="level")
left.legend(frameon=False)
draw_relevance(forecaster, right)

# %%
# The forecast as a table continues the index.

print(forecast.to_frame().head(4).round(2).to_string())
