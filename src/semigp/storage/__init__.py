"""Objects in files: arrays and JSON, and nothing that could run."""

from .errors import NotAModel, NotStorable
from .files import FORMAT, read, write

__all__ = ["FORMAT", "NotAModel", "NotStorable", "read", "write"]
