"""Dataclasses as pytrees."""

import dataclasses

import jax
import pytest

from semigp.core import RBF, Bias, Matern32, White
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


@pytree
class _Circle:
    size: float
    name: str = static()


@pytree
class _Square:
    size: float
    name: str = static()


def test_classes_with_the_same_fields_have_different_structures():
    """Else a program that is compiled for one may be run for the other, where their hashes meet."""
    circle, square = (jax.tree.structure(each(1.0, "one")) for each in (_Circle, _Square))
    assert circle != square
    assert circle == jax.tree.structure(_Circle(2.0, "one"))
    assert circle != jax.tree.structure(_Circle(1.0, "two"))
    assert jax.tree.structure(RBF(1.0, 1.0)) != jax.tree.structure(Matern32(1.0, 1.0))
    assert jax.tree.structure(RBF(1.0, 1.0) + Bias(1.0)) != jax.tree.structure(RBF(1.0, 1.0) + White(1.0))
