"""
A series with gaps, and its future
==================================

The series is the carbon dioxide over Mauna Loa, week by week from 1958 on, with the gaps that the record has. The
time of the year is given as covariates. Gaps are inferred together with the dynamics, and are drawn several times.
"""

import matplotlib.pyplot as plt
import numpy as np
from statsmodels.datasets import co2

from semigp import GPForecaster
from semigp.plotting import draw_fan, draw_relevance

series = co2.load_pandas().data["co2"].asfreq("W-SAT")[:364]
past, future = series[:312], series[312:]
print(f"{past.isna().sum()} of {len(past)} weeks are missing.")

angle = 2 * np.pi * np.arange(364) / 52.18
season = np.column_stack([np.sin(angle), np.cos(angle), np.sin(2 * angle), np.cos(2 * angle)])
forecaster = GPForecaster(window=4, random_state=0).fit(past, covariates=season[:312])
forecast = forecaster.forecast(52, covariates=season[312:])
print({name: round(score, 3) for name, score in forecast.score(future).items()})

# %%
# The fan holds 50, 80 and 95 % of the paths. The dashed line is what came. The last weeks before the forecast are
# missing, which is why the fan is wide from the beginning.

fig, axes = plt.subplots(figsize=(10, 3.5), layout="constrained")
draw_fan(forecast, axes, truth=future, history=312)

# %%
# On the left is what the model believes of the gaps. On the right is which lags matter.

filled, std = forecaster.impute(return_std=True)
fig, (left, right) = plt.subplots(1, 2, figsize=(11, 3.2), layout="constrained", width_ratios=[2, 1])
left.plot(past.index, filled, lw=1, color="#D55E00", label="believed")
left.fill_between(past.index, filled - 2 * std, filled + 2 * std, color="#D55E00", alpha=0.3, lw=0)
left.plot(past.index, past, "k.", ms=2.5, label="recorded")
left.set(ylabel="ppm")
left.legend(frameon=False)
draw_relevance(forecaster, right)

# %%
# As a table, the forecast continues the time index.

print(forecast.to_frame().head(4).round(2).to_string())
