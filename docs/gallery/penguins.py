"""
Penguins, as they were recorded
===============================

This is a real table with real holes: 344 penguins of three species, on three islands. Nobody wrote down the sex of
eleven of them, and two of these were not measured at all. Three columns are text. Nothing is encoded, scaled or filled
in beforehand. The data are downloaded when they are first used, or read from the folder that ``SEMIGP_DATA`` names.
"""

# sphinx_gallery_thumbnail_number = 2

import matplotlib.pyplot as plt
import numpy as np

from semigp import GPImputer, SemiDescribedGPRegressor
from semigp.datasets import load_mixed
from semigp.plotting import draw_relevance
from semigp.scores import coverage

X, mass = load_mixed("penguins", all_rows=True)
birds = X.assign(body_mass_g=mass)
gaps = birds.isna().any(axis=1)
print(birds[gaps].drop(columns="island").to_string())

# %%
# Which sex were the eleven? ``GPImputer`` predicts every column from all the others. For text it gives probabilities.
# Of the two birds without measurements it can say little: their bars are near the middle.

imputer = GPImputer(random_state=0).fit(birds)
male = imputer.impute_proba()["sex"][gaps, 1]  # levels are in the order of their names
names = [
    f"{bird.species}, " + ("not measured" if np.isnan(bird.body_mass_g) else f"{bird.body_mass_g:.0f} g")
    for bird in birds[gaps].itertuples()
]
fig, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
axes.barh(range(len(male)), male - 0.5, left=0.5, color=np.where(male > 0.5, "#0072B2", "#D55E00"))
axes.axvline(0.5, color="black", lw=0.8)
axes.set(xlim=(0, 1), xlabel="probability of male", yticks=range(len(male)), yticklabels=names)
axes.invert_yaxis()

# %%
# Can that be believed? Hide sixty sexes that are known, and see how many are found. If the mean probability is about
# the share that is right, the imputer knows how sure it may be.

random = np.random.default_rng(0)
hidden = random.choice(np.flatnonzero(birds["sex"].notna()), 60, replace=False)
masked = birds.copy()
masked.loc[hidden, "sex"] = None
probabilities = GPImputer(random_state=0).fit(masked).impute_proba()["sex"][hidden]
is_right = (probabilities[:, 1] > 0.5) == (birds["sex"][hidden] == "MALE")
print(f"{is_right.sum()} of 60 are right. Their mean probability was {probabilities.max(axis=1).mean():.2f}.")

# %%
# Now a regression: how heavy is a bird? A hundred birds are held back. They are predicted twice: as they were
# recorded, and as if their sex were not known. Without the sex the intervals are wider, and they still hold. The
# figure has every fourth of these birds, the lightest first.

order = random.permutation(np.flatnonzero(mass.notna()))
train, test = order[100:], order[:100]
model = SemiDescribedGPRegressor(n_draws=6, random_state=0).fit(X.loc[train], mass[train])

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained", width_ratios=[1.6, 1])
shown = np.argsort(mass[test].to_numpy())[::4]
places = np.arange(len(shown))
for shift, (name, colour, rows) in enumerate(
    [("as recorded", "#0072B2", X.loc[test]), ("sex not known", "#D55E00", X.loc[test].assign(sex=None))]
):
    mean, std = model.predict(rows, return_std=True)
    print(
        f"{name}: RMSE {np.sqrt(np.mean((mean - mass[test]) ** 2)):.0f} g, mean half width {1.96 * std.mean():.0f} g, "
        f"inside the 95 % intervals {coverage(mass[test].to_numpy(), mean, std):.0%}"
    )
    left.errorbar(places + 0.35 * shift, mean[shown], 1.96 * std[shown], fmt=".", lw=1.2, color=colour, label=name)
left.plot(places + 0.175, mass[test].to_numpy()[shown], "k_", ms=9, mew=2, label="what it was")
left.set(xlabel="bird", ylabel="body mass and 95 % interval [g]", xticks=[])
left.legend(frameon=False)
draw_relevance(model, right)

# %%
# And the two birds without measurements? Their species and their island are known, and the intervals say how little
# that is.

mean, std = model.predict(X[mass.isna()], return_std=True)
for bird, centre, width in zip(X[mass.isna()].itertuples(), mean, 1.96 * std, strict=True):
    print(f"{bird.species} of {bird.island}: {centre:.0f} ± {width:.0f} g")
