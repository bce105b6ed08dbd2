"""Example data with missing values, and a report on models of them: `semigp demo`, `make demo`."""

from .files import write_examples
from .story import tell

__all__ = ["tell", "write_examples"]
