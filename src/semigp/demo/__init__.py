"""Example data with holes, and a report of what becomes of them: `semigp demo`, `make demo`."""

from .files import write_examples
from .story import tell

__all__ = ["tell", "write_examples"]
