"""q(x) of single rows, given q(U)."""
