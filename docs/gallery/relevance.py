"""
Which inputs matter
===================

There are ten inputs, and the function uses two of them. A tenth of the entries is missing.
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
# On the left is how much the function changes along each input, with 1 for the largest. On the right is the bound of
# the first draw after every iteration.

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
draw_relevance(model, left)
draw_bound(model, right)
