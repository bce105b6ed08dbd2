"""Errors of reading and of writing a file."""

from __future__ import annotations


class NotAModel(ValueError):
    """The file was not written by `save`, is damaged, or is from a later version."""


class NotStorable(TypeError):
    """The object holds something that only a pickle could store."""
