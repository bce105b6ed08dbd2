"""The example of a regression whose inputs have missing values and error bars."""

from __future__ import annotations

import numpy as np
import polars as pl
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

from .. import plotting
from ..baselines import CompleteRowsGP, ImputedGP
from ..estimators import SemiDescribedGPRegressor
from ..reports import Drawing, Report
from ..scores import ALL
from .examples import SEED, Regression, Scores


def regression(report: Report) -> tuple[str, tuple[str, ...], Scores]:
    """Fit, predict, and add a section with all figures to the report."""
    problem = Regression()
    X, std, y = problem.train()
    X_new, std_new, y_new = problem.test()
    holes = np.isnan(X)
    model = SemiDescribedGPRegressor(random_state=SEED).fit(_frame(X), y, std)
    mean, spread = model.predict(_frame(X_new), return_std=True, X_std=std_new)
    report.section(
        "A regression with missing inputs",
        f"{len(y)} rows of three inputs a, b and c and an output y; {holes.mean():.0%} of the inputs are missing, and "
        f"half of the values of a have an error bar of 0.15. The task: predict y for {len(y_new)} new rows, which have "
        "missing inputs and error bars as well, and estimate the missing inputs.",
    )
    drawing = Drawing((6.4, 2.6))
    drawing.draw(plotting.draw_missingness, _frame(X), X_std=std)
    report.figure(drawing, "The inputs as recorded.", f"Map of {X.size} cells, {holes.sum()} of them missing.")
    found = [("semigp", mean, spread), *_usual_ways(X, y, X_new)]
    rows = [(name, [float(ALL[s](y_new, *moments)) for s in ("MSE", "NLPD", "coverage")]) for name, *moments in found]
    report.scores("New rows, with missing inputs", ["", "MSE", "NLPD", "inside 95 %"], rows, [True, True, None])
    _draw_beliefs(report, model, y, problem.truth())
    _draw_calibration(report, y_new, mean, spread)
    _draw_fit(report, model)
    return f"Regression, {holes.mean():.0%} of the inputs missing", ("MSE", "NLPD"), rows


def _frame(X: np.ndarray) -> pl.DataFrame:
    return pl.DataFrame(X, schema=list(Regression.names))


def _usual_ways(X: np.ndarray, y: np.ndarray, X_new: np.ndarray) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Predictions of GPs after imputation. The same imputer, fitted to the training inputs, fills in the new rows."""
    imputers = {
        "IterativeImputer + GP": IterativeImputer(random_state=SEED, max_iter=100),
        "KNNImputer + GP": KNNImputer(),
        "mean filled in + GP": SimpleImputer(),
    }
    filled = {name: imputer.fit(X).transform(X_new) for name, imputer in imputers.items()}
    ways = {name: ImputedGP(imputer) for name, imputer in imputers.items()}
    ways["complete rows + GP"] = CompleteRowsGP()  # new rows still have to be filled in
    filled["complete rows + GP"] = filled["IterativeImputer + GP"]
    return [(name, *way.fit(X, y).predict(filled[name], return_std=True)) for name, way in ways.items()]


def _draw_beliefs(report: Report, model: SemiDescribedGPRegressor, y: np.ndarray, truth: np.ndarray) -> None:
    drawing = Drawing()
    table = drawing.draw(plotting.draw_prediction, model, y=y)
    rows = table["part"] == "row"
    x, x_std, outputs = (table[key][rows] for key in ("x", "x_std", "y"))
    texts = [f"{x:.2f} ± {1.96 * s:.2f}, y {y:.2f}" for x, s, y in zip(x, x_std, outputs, strict=True)]
    drawing.spots(x, outputs, texts)
    report.figure(
        drawing,
        "Prediction along the most relevant input, with the others integrated out. Training rows have error bars in "
        "both directions.",
        "A curve with a band, and the training rows around it with horizontal and vertical error bars.",
    )
    drawing = Drawing((4.8, 4.2))
    table = drawing.draw(plotting.draw_imputed, model, truth=truth)
    columns = (table[key] for key in ("row", "column", "mean", "std", "truth"))
    texts = [f"row {i}, {k}: {m:.2f} ± {1.96 * s:.2f}, was {t:.2f}" for i, k, m, s, t in zip(*columns, strict=True)]
    drawing.spots(table["x"], table["y"], texts)
    report.figure(
        drawing,
        "Missing and uncertain inputs: estimates with 95 % intervals, against the true values.",
        "Imputed against true values, around the diagonal.",
    )
    drawing = Drawing((5.4, 1.6))
    drawing.draw(plotting.draw_relevance, model)
    report.figure(drawing, "Which inputs matter.", "Bars of the relevance of the inputs.")


def _draw_calibration(report: Report, truth: np.ndarray, mean: np.ndarray, std: np.ndarray) -> None:
    drawing = Drawing((4.8, 4.2))
    table = drawing.draw(plotting.draw_calibration, truth, mean, std)
    points = list(zip(table["level"], table["share"], strict=True))
    drawing.spots(
        table["level"], table["share"], [f"{level:.0%} intervals hold {share:.1%}" for level, share in points]
    )
    report.figure(
        drawing,
        "Calibration: the share of new rows inside intervals, against the level of the intervals.",
        "Share of true values inside intervals, against their level.",
    )


def _draw_fit(report: Report, model: SemiDescribedGPRegressor) -> None:
    drawing = Drawing((6.4, 2.8))
    table = drawing.draw(plotting.draw_bound, model)
    drawing.spots(table["iteration"], table["bound"], [f"{bound:.2f}" for bound in table["bound"]])
    report.figure(
        drawing, f"The bound during the fit: {model.fit_report_.status}.", "The bound rises and then levels off."
    )
