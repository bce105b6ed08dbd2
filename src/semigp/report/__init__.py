"""Reports: one HTML file with everything in it, to look at on a screen, a phone or paper."""

from .figures import Drawing
from .page import Report

__all__ = ["Drawing", "Report"]
