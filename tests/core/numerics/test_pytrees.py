"""Dataclasses as pytrees."""

import dataclasses

import jax
import pytest

from semigp.core.numerics.pytrees import pytree, static


@pytree
class _Pair:
    value: float
    name: str = static(default="x")


def test_static_fields_are_structure_and_the_others_leaves():
    pair = _Pair(2.0, "y")
    assert jax.tree.leaves(pair) == [2.0]
    assert jax.tree.map(lambda leaf: leaf + 1.0, pair) == _Pair(3.0, "y")
    assert jax.tree.structure(pair) != jax.tree.structure(_Pair(2.0))


def test_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'value'"):
        _Pair(1.0).value = 2.0
