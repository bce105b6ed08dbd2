"""Exact GPs at certain inputs, for series: windows, free simulation, gaps."""
