"""Compiler options: one set for programs that run once, one for programs that run a thousand times."""

from __future__ import annotations

# For programs that run once per fit: optimising them costs more time than it saves.
QUICK_TO_COMPILE = {"xla_backend_optimization_level": 0}
# XLA prefers 256-bit vectors even where the machine has wider ones. Wider vectors for the exponentials of ψ2 save a
# tenth of the total time.
WIDE_VECTORS = {"xla_cpu_prefer_vector_width": 512}
