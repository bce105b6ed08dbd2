"""How far a job is, and what it is doing: shown by a bar in the terminal and in a notebook."""

from .watching import portion, showing, steps, told, watched

__all__ = ["portion", "showing", "steps", "told", "watched"]
