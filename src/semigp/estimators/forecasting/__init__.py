"""Forecasts of time series, which may have gaps."""
