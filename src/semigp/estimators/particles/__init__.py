"""Missing inputs as particles: tables in which every hole is filled with a draw, given the outputs."""
