"""Tables with columns of any kind, as floats and back: numbers, booleans, categories, text and times."""

from .columns import Columns
from .kinds import Kind, Levels, Number, Time

__all__ = ["Columns", "Kind", "Levels", "Number", "Time"]
