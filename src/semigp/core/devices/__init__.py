"""Rows over devices and processes."""
