"""Sections that several kinds of reports have."""
