"""
A map of what is missing
========================

Look at a table before you fit anything. Which entries are observed, which have error bars, which are missing, and is
there a pattern?
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from semigp.datasets import mask_at_random, mask_blocks, mask_columns
from semigp.plotting import draw_missingness

# %%
# Values are lost in different ways: anywhere, during outages, or by sensors that are worse than others.
# `semigp.datasets` has a mask for each, so that you can try out what such losses do to a model. Dark entries are
# missing.

shape = (80, 6)
masks = {
    "anywhere": mask_at_random(shape, 0.25, random_state=0),
    "outages": mask_blocks(shape, 0.25, length=12, random_state=0),
    "bad sensors": mask_columns(shape, [0, 0.05, 0.1, 0.2, 0.4, 0.75], random_state=0),
}
values = np.random.default_rng(0).normal(size=shape)
fig, panels = plt.subplots(1, 3, figsize=(10, 4), layout="constrained")
for axes, (name, mask) in zip(panels, masks.items(), strict=True):
    draw_missingness(np.where(mask, np.nan, values), axes)
    axes.set_title(name, pad=26)
    axes.get_legend().remove()

# %%
# Here the columns have names and error bars. What was drawn comes back as a table, so that entries can be counted.

sensors = pd.DataFrame(
    np.where(masks["outages"], np.nan, values), columns=["inlet", "outlet", "flow", "power", "wind", "rain"]
)
error = np.zeros(shape)
error[:, 2] = 0.3  # the flow meter is a coarse one
fig, axes = plt.subplots(figsize=(6.5, 4), layout="constrained")
_, data = draw_missingness(sensors, axes, X_std=error, return_data=True)
drawn = pd.DataFrame(data)
print(drawn.groupby("column", sort=False)["state"].value_counts().unstack(fill_value=0))
