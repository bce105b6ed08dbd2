"""Parameters by path, such as "kernel.lengthscale", and which of them a pattern holds fixed."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from typing import Any

import jax

from .types import Array


def by_path(parameters: Any) -> list[tuple[str, Array]]:
    """Path and value of every leaf."""
    leaves = jax.tree_util.tree_leaves_with_path(parameters)
    return [(jax.tree_util.keystr(path, simple=True, separator="."), leaf) for path, leaf in leaves]


def parameter_paths(parameters: Any) -> list[str]:
    """The path of every leaf, in the order of the leaves."""
    return [path for path, _ in by_path(parameters)]


def matches(path: str, patterns: Sequence[str]) -> bool:
    """Whether the path matches any of the patterns, in which * stands for any text."""
    return any(fnmatch.fnmatch(path, pattern) for pattern in patterns)


def is_held(parameters: Any, patterns: Sequence[str]) -> list[bool]:
    """For every leaf, whether a pattern matches its path, so that it is held fixed."""
    return [matches(path, patterns) for path in parameter_paths(parameters)]
