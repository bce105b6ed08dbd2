"""
Digits with twelve labels
=========================

There are three hundred images of four digits, and twelve of them have labels. All images are placed in a latent space,
and the labels spread there.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from semigp import SemiSupervisedGPClassifier
from semigp.plotting import draw_latent, draw_relevance, draw_reliability

images, digits = load_digits(n_class=4, return_X_y=True)
labels = np.full(300, -1)
labels[:12] = digits[:12]

model = SemiSupervisedGPClassifier(random_state=0).fit(images[:300], labels)

# %%
# Colours show the true digits. The model has seen only those of the twelve rows with a rim.

fig, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
draw_latent(model, axes, classes=digits[:300], labelled=np.arange(12))

# %%
# For comparison, here is a logistic regression on the twelve labelled images.

plain = LogisticRegression(max_iter=1000).fit(images[:12], digits[:12])
print(f"{model.score(images[300:], digits[300:]):.1%} of {len(images) - 300} other images right")
print(f"{plain.score(images[300:], digits[300:]):.1%} with logistic regression on the images")

# %%
# The figures show how many latent inputs were needed, and whether probabilities can be trusted.

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
draw_relevance(model, left)
draw_reliability(digits[300:], model.predict_proba(images[300:]), model.classes_, right)
