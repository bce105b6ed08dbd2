"""The version, in a file of its own: everything may read it."""

__version__ = "0.1.0"
