"""The picture of the README: `make picture`. Three of the demo's problems, drawn by semigp.plotting."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

from semigp import GPForecaster, SemiDescribedGPRegressor, SemiSupervisedGPClassifier
from semigp.demo.examples import SEED, Labels, Regression, Series
from semigp.plotting import STYLE, draw_fan, draw_imputed, draw_latent

OUTPUT = Path(__file__).parent / "_static" / "picture.png"


def main() -> None:
    """Fit and draw."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, 3, figsize=(14, 3.9), width_ratios=[1, 1.4, 1.1], layout="constrained")
    regression, series, labels = Regression(), Series(), Labels()
    X, std, y = regression.train()
    model = SemiDescribedGPRegressor(random_state=SEED).fit(pl.DataFrame(X, schema=list(regression.names)), y, std)
    draw_imputed(model, axes[0], truth=regression.truth())
    draw_fan(
        GPForecaster(18, random_state=SEED).fit(series.past()).forecast(series.n_ahead), axes[1], series.future(), 120
    )
    known = labels.labels()
    classifier = SemiSupervisedGPClassifier(random_state=SEED).fit(labels.rows(), known)
    draw_latent(classifier, axes[2], labelled=np.flatnonzero([label is not None for label in known]))
    titles = ("inputs that were missing or uncertain", "a forecast after a gap", "300 rows, 12 labels")
    for panel, title in zip(axes, titles, strict=True):
        panel.set_title("")
        panel.set_title(title, loc="left", fontweight="bold", pad=24)
        panel.get_legend().set_in_layout(False)
    axes[0].get_legend().set_loc("upper left")
    axes[2].get_legend().set_loc("lower right")
    for panel in (axes[0], axes[2]):
        panel.get_legend().set_bbox_to_anchor(None)
    figure.savefig(OUTPUT, dpi=110)


if __name__ == "__main__":
    main()
