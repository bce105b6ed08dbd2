"""Draws of missing entries from chained GPs: every column is predicted from all the others by a GP."""
