"""Options for the compiler, for programs that run once and for those that run a thousand times."""

from __future__ import annotations

# For programs that run once a fit: optimising them costs more than it saves.
QUICK_TO_COMPILE = {"xla_backend_optimization_level": 0}
# XLA prefers 256-bit vectors even where the machine has wider ones; ψ2's exponentials gain a tenth of the whole.
WIDE_VECTORS = {"xla_cpu_prefer_vector_width": 512}
