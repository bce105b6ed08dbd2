"""What can be wrong with a file, or with what should go into one."""

from __future__ import annotations


class NotAModel(ValueError):
    """The file is not one of ours, is damaged, or is from a later version."""


class NotStorable(TypeError):
    """Something that only a pickle could hold."""
