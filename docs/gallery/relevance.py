"""
Which inputs matter
===================

Ten inputs, of which the function uses two. A tenth of the entries is missing.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from semigp import SemiDescribedGPRegressor
from semigp.plotting import draw_bound, draw_relevance

random = np.random.default_rng(0)
values = random.normal(size=(120, 10))
y = np.sin(2 * values[:, 0]) + values[:, 1] ** 2 + 0.1 * random.normal(size=120)
values[random.random(values.shape) < 0.1] = np.nan
X = pd.DataFrame(values, columns=[f"x{i}" for i in range(10)])

model = SemiDescribedGPRegressor(n_inducing=40, posterior="mixture", n_draws=5, random_state=0).fit(X, y)

# %%
# Left, the prior variance of the function's slope along each input, the largest being 1. Right, the bound after every
# iteration, of the first draw.

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
draw_relevance(model, left)
draw_bound(model, right)
