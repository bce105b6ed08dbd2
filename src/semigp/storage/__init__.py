"""Saving objects in files of arrays and JSON, which contain nothing that could be executed."""

from .errors import NotAModel, NotStorable
from .files import FORMAT, read, write

__all__ = ["FORMAT", "NotAModel", "NotStorable", "read", "write"]
