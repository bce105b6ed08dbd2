"""The example of a table with missing entries."""

from __future__ import annotations

import numpy as np
import polars as pl
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

from .. import plotting
from ..estimators import GPImputer
from ..reports import Drawing, Report
from .examples import SEED, Scores, Table


def imputation(report: Report) -> tuple[str, tuple[str, ...], Scores]:
    """Fill in the missing entries, and add a section to the report."""
    problem = Table()
    truth, recorded = problem.truth(), problem.recorded()
    holes, scale = np.isnan(recorded), truth.std(axis=0)
    model = GPImputer(random_state=SEED).fit(pl.DataFrame(recorded, schema=list(problem.names)))
    mean, std = (part.to_numpy() for part in model.impute(return_std=True))
    report.section(
        "A table with missing entries",
        f"{len(truth)} rows of {', '.join(problem.names)}; {holes.sum()} of {holes.size} entries are missing. The "
        "task: estimate them. Errors are in standard deviations of their column.",
    )
    ways = {
        "IterativeImputer": IterativeImputer(random_state=SEED, max_iter=100),
        "KNNImputer": KNNImputer(),
        "column means": SimpleImputer(),
    }
    filled = {"semigp": mean, **{name: way.fit_transform(recorded) for name, way in ways.items()}}
    rows = [(name, [_rmse(((each - truth) / scale)[holes])]) for name, each in filled.items()]
    report.scores("Missing entries", ["", "RMSE"], rows, [True])
    inside = np.mean(np.abs((mean - truth)[holes]) < 1.96 * std[holes])
    report.text(f"The other methods give no error bars. {inside:.0%} of the 95 % intervals of semigp hold the truth.")
    drawing = Drawing((6.4, 3.4))
    table = drawing.draw(plotting.draw_imputed, model)
    columns = (table[key] for key in ("row", "column", "mean", "std"))
    texts = [f"row {i}, {k}: {m:.2f} ± {1.96 * s:.2f}" for i, k, m, s in zip(*columns, strict=True)]
    drawing.spots(table["x"], table["y"], texts)
    report.figure(
        drawing,
        "Known values, and imputed values with 95 % intervals.",
        "Columns of dots, with imputed values and their error bars among them.",
    )
    return f"Table, {holes.mean():.0%} of it missing", ("RMSE",), rows


def _rmse(error: np.ndarray) -> float:
    return float(np.sqrt(np.mean(error**2)))
