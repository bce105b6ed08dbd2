"""`semigp.report`: a fitted model, or a comparison, as a page to look at."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from .kinds.base import Subject, Tell

# The kind of report of every class, by the name of its module in `kinds`.
_KINDS = {
    "SemiDescribedGPRegressor": "regression",
    "DeepGPRegressor": "regression",
    "StreamingGPRegressor": "regression",
    "GPImputer": "imputation",
    "GPForecaster": "forecast",
    "SemiSupervisedGPClassifier": "classification",
    "Comparison": "comparison",
}


def report(model: Any, path: Any, X: Any = None, y: Any = None, *, X_std: Any = None, forecast: Any = None) -> Path:
    """Write a page about a fitted model, or about a comparison, as one HTML file that needs nothing else.

    Parameters
    ----------
    model : fitted estimator, or Comparison
        A regressor, `GPImputer`, `GPForecaster` or `SemiSupervisedGPClassifier`, or what `semigp.compare` returned.
    path : path
        The file to write. Its name should end in .html.
    X, y : optional
        What the model was fitted to. They are needed to show what is missing, and to hold rows back: the model is
        fitted again without them, at most four times and for about 20 seconds. A forecaster knows its series.
    X_std : optional
        The error bars of X, if there were any in the fit.
    forecast : Forecast or PanelForecast, optional
        The forecast to draw. By default, a tenth of the length of the series, and at most 24 steps.

    Returns
    -------
    Path
        The file that was written.
    """
    return write(Subject(model, X, y, X_std, forecast), path)


def write(subject: Subject, path: Any) -> Path:
    """Write the page of a subject, and return its path."""
    name = type(subject.model).__name__
    if name not in _KINDS:
        raise TypeError(f"There is no report on a {name}. There are reports on {', '.join(_KINDS)}.")
    if hasattr(subject.model, "fit"):
        check_is_fitted(subject.model)
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError('Reports need matplotlib: pip install "semigp[plot]".') from error
    tell: Tell = import_module(f".kinds.{_KINDS[name]}", __package__).tell
    return tell(subject).write(Path(path))
