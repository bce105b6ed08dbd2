"""The example with many rows and few labels."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC

from .. import plotting
from ..estimators import SemiSupervisedGPClassifier
from ..reports import Drawing, Report
from .examples import SEED, Labels, Scores


def classification(report: Report) -> tuple[str, tuple[str, ...], Scores]:
    """Classify the rows without a label, and add a section to the report."""
    problem = Labels()
    X, classes, labels = problem.rows(), problem.classes(), problem.labels()
    hidden = np.array([label is None for label in labels])
    model = SemiSupervisedGPClassifier(random_state=SEED).fit(X, labels)
    report.section(
        "Many rows, few labels",
        f"{len(X)} rows of {X.shape[1]} columns, {problem.n_labels} of them with a label. The task: find the "
        "classes of the others.",
    )
    found = {"semigp": model.transduction_[hidden], **_usual_ways(X, classes, hidden)}
    rows = [(name, [float(100 * np.mean(guess != classes[hidden]))]) for name, guess in found.items()]
    report.scores("Rows without a label", ["", "wrong, %"], rows, [True])
    probabilities = model.predict_proba(X)
    drawing = Drawing((6.4, 4.4))
    table = drawing.draw(plotting.draw_latent, model, labelled=np.flatnonzero(~hidden))
    told = zip(model.transduction_, probabilities.max(axis=1), strict=True)
    drawing.spots(table["x"], table["y"], [f"row {i}: {name}, {p:.0%}" for i, (name, p) in enumerate(told)])
    report.figure(
        drawing,
        "The rows in the two latent inputs that matter most; rows with a dark rim had a label.",
        "Scatter plot of the latent space, coloured by class.",
    )
    drawing = Drawing((4.8, 3.9))
    table = drawing.draw(plotting.draw_reliability, classes[hidden], probabilities[hidden], classes=model.classes_)
    points = zip(table["confidence"], table["share"], strict=True)
    drawing.spots(table["confidence"], table["share"], [f"said {said:.0%}, was {was:.0%}" for said, was in points])
    report.figure(
        drawing,
        "Calibration of the probabilities: how often predictions are right, against their confidence.",
        "Confidence against the share of right predictions.",
    )
    return f"{problem.n_labels} labels, {hidden.sum()} rows without one", ("% wrong",), rows


def _usual_ways(X: np.ndarray, classes: np.ndarray, hidden: np.ndarray) -> dict[str, np.ndarray]:
    names, numbers = np.unique(classes, return_inverse=True)
    spread = LabelSpreading(kernel="knn").fit(X, np.where(hidden, -1, numbers)).transduction_
    ways = {"logistic regression": LogisticRegression(), "SVC": SVC()}
    pipelines = {
        name: make_pipeline(StandardScaler(), way).fit(X[~hidden], classes[~hidden]) for name, way in ways.items()
    }
    return {
        "LabelSpreading": names[spread[hidden]],
        **{name: way.predict(X[hidden]) for name, way in pipelines.items()},
    }
