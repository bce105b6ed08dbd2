"""Reading a time series, its timeline, and forecasts of it."""

from .forecast import Forecast
from .reading import fill_gaps, in_order, read_next, read_series
from .timeline import Timeline

__all__ = ["Forecast", "Timeline", "fill_gaps", "in_order", "read_next", "read_series"]
