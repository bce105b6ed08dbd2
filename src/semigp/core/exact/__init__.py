"""Exact GPs at certain inputs, for time series: windows of lags, free simulation, and gaps."""
