"""Whether a model is right about rows that it has not seen."""

from __future__ import annotations

import numpy as np

from ... import plotting, scores
from ...words import told_number, told_share
from ..figures import Drawing
from ..held_back import HeldBack
from ..page import Report

STRANGE, MOST_STRANGE = 3.0, 10
Z95 = 1.959963984540054


def in_short(found: HeldBack, name: str, output: int = 0) -> str:
    """How good predictions of held-back rows are, in two sentences."""
    truth, mean, std, guess = (part[:, output] for part in (found.truth, found.mean, found.std, found.guess))
    rmse, plain = (np.sqrt(np.nanmean((truth - each) ** 2)) for each in (mean, guess))
    share = scores.coverage(truth, mean, std)
    told = f"Predictions of {name} for rows that were held back are off by {told_number(rmse)} (root mean square)"
    better = f"; the mean of the column is off by {told_number(plain)}. "
    return f"{told}{better}Of the 95 % intervals, {told_share(share)} hold the true value."


def add_checks(page: Report, found: HeldBack, names: list[str]) -> None:
    """Calibration, residuals and strange rows, of the first output in pictures and of all outputs in a table."""
    page.section(
        "Does it hold?",
        f"{len(found.rows)} rows were held back in turn, and predicted by a model that had learned from other rows. "
        "So this is what to expect on new rows of the same kind.",
    )
    rows = []
    for j, name in enumerate(names):
        truth, mean, std, guess = (part[:, j] for part in (found.truth, found.mean, found.std, found.guess))
        rmse, plain = (float(np.sqrt(np.nanmean((truth - each) ** 2))) for each in (mean, guess))
        rows.append([name, told_number(rmse, 4), told_number(plain, 4), told_share(scores.coverage(truth, mean, std))])
    page.table("Held-back rows.", ["output", "RMSE", "RMSE of a constant", "inside 95 %"], rows)
    _draw(page, found, names[0], f" of {names[0]}" if len(names) > 1 else "")
    _add_strange(page, found, names)


def _draw(page: Report, found: HeldBack, name: str, of: str) -> None:
    moments = [part[:, 0] for part in (found.truth, found.mean, found.std)]
    drawing = Drawing((4.8, 3.9))
    table = drawing.draw(plotting.draw_calibration, *moments)
    told = [f"{a:.0%} intervals hold {b:.1%}" for a, b in zip(table["level"], table["share"], strict=True)]
    drawing.spots(table["level"], table["share"], told)
    page.figure(
        drawing,
        f"Calibration{of}: the share of true values inside intervals, against the level of the intervals. On the "
        "diagonal, intervals hold what they promise; below it they are too narrow, and above it too wide.",
        "Share of true values inside intervals, against their level.",
    )
    drawing = Drawing((6.4, 3.2))
    table = drawing.draw(plotting.draw_residuals, *moments)
    at = found.rows[table["row"]]
    dots = zip(at, table["mean"], table["residual"], strict=True)
    texts = [f"row {i + 1}: {told_number(m, 4)}, off by {r:.1f} std" for i, m, r in dots]
    drawing.spots(table["mean"], table["residual"], texts)
    page.figure(
        drawing,
        f"Residuals of {name}, in units of the predicted standard deviation. A trend, or a funnel, would show what the "
        "model has missed.",
        "Standardised residuals against the predictions.",
    )


def _add_strange(page: Report, found: HeldBack, names: list[str]) -> None:
    page.section(
        "Rows that the model finds strange",
        f"Held-back rows that are more than {STRANGE:g} standard deviations from their prediction. They may be errors, "
        "or the most interesting rows of the table. Rows are counted from 1.",
    )
    residuals = np.nan_to_num(found.residuals)
    places = [tuple(map(int, place)) for place in np.argwhere(np.abs(residuals) > STRANGE)]
    places.sort(key=lambda place: -abs(residuals[place]))
    expected = residuals.size * 0.0027  # beyond 3 standard deviations of a normal distribution
    if not places:
        page.text("There are none.")
        return
    rows = [
        [str(found.rows[i] + 1), names[j], told_number(found.truth[i, j], 4), told_number(found.mean[i, j], 4),
         told_number(found.std[i, j], 2), f"{residuals[i, j]:+.1f}"]
        for i, j in places[:MOST_STRANGE]
    ]  # fmt: skip
    told = f"{len(places)} of {residuals.size}; about {max(1, round(expected))} would be there by chance."
    page.table(told, ["row", "output", "value", "predicted", "std", "off by (std)"], rows)
