"""Filling the holes of a table."""
