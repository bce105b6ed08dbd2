"""Reports: a single HTML file that contains everything, for a screen, a phone or paper."""

from .figures import Drawing
from .page import Report
from .report import report

__all__ = ["Drawing", "Report", "report"]
