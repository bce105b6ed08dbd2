"""Reading time series, their timelines and calendars, and forecasts of them."""

from .calendar import cycles, phases
from .forecast import Forecast
from .panel import Panel, read_panel, read_wide
from .panel_forecast import PanelForecast
from .reading import fill_gaps, in_order, read_next, read_series
from .timeline import Timeline

__all__ = [
    "Forecast",
    "Panel",
    "PanelForecast",
    "Timeline",
    "cycles",
    "fill_gaps",
    "in_order",
    "phases",
    "read_next",
    "read_panel",
    "read_series",
    "read_wide",
]
