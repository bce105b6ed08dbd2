"""q(x) of single rows, q(U) given."""
