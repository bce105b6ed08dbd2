"""Does it pay on your own data? Our estimators beside the usual ways, on your rows with your holes."""

from .compare import compare
from .result import Comparison

__all__ = ["Comparison", "compare"]
