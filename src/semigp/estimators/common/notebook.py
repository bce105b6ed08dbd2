"""A fitted estimator in a notebook: what was fitted and how it ended, below scikit-learn's own diagram."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

_MOST_INPUTS = 8


class ShownInNotebooks(BaseEstimator):
    """Adds a short table to the HTML of a fitted estimator."""

    def _html_repr(self) -> str:
        return super()._html_repr() + summary_html(self)  # type: ignore[misc]


def summary_html(estimator: Any) -> str:
    """Facts of a fit as an HTML table; nothing before the fit."""
    if getattr(estimator, "fit_report_", None) is None:
        return ""
    rows = "".join(
        f'<tr><th style="text-align: left">{escape(name)}</th><td style="text-align: left">{escape(value)}</td></tr>'
        for name, value in _facts(estimator).items()
    )
    return f"<table>{rows}</table>"


def _facts(estimator: Any) -> dict[str, str]:
    report = estimator.fit_report_
    facts = {"fit": f"{report.status}. {report.message}", "seconds": f"{report.seconds:.1f}"}
    columns = getattr(estimator, "_columns", None)
    if columns is not None and columns.left_out:
        facts["left out"] = "; ".join(f"{name}: {reason}" for name, reason in columns.left_out.items())
    relevance = getattr(estimator, "relevance_", None)
    if relevance is not None and np.ndim(relevance) == 1 and not hasattr(estimator, "embedding_"):
        facts["relevance"] = _told(_names(estimator, len(relevance)), np.asarray(relevance))
    return facts


def _names(estimator: Any, count: int) -> list[str]:
    columns = getattr(estimator, "_columns", None)
    named = getattr(estimator, "feature_names_in_", range(count)) if columns is None else columns.names_of_used
    return [str(name) for name in named]


def _told(names: list[str], relevance: np.ndarray) -> str:
    order = np.argsort(-relevance, kind="stable")
    shown = [f"{names[j]} {relevance[j]:.2f}" for j in order[:_MOST_INPUTS]]
    return ", ".join(shown) + (f" and {len(order) - _MOST_INPUTS} more" if len(order) > _MOST_INPUTS else "")
