"""Frozen dataclasses as JAX pytrees, without checks in the constructor (vmap and grad build them with anything)."""

import dataclasses
from typing import Any, TypeVar, dataclass_transform

import jax

T = TypeVar("T")


def static(**kwargs: Any) -> Any:
    """A field that is part of the structure: hashable, never traced."""
    return dataclasses.field(metadata={"static": True}, **kwargs)


@dataclass_transform(frozen_default=True, field_specifiers=(static, dataclasses.field))
def pytree(cls: type[T]) -> type[T]:
    """Make `cls` a frozen dataclass whose fields are pytree leaves, `static()` ones its structure.

    The class itself is part of the structure too. `jax.tree_util.register_dataclass` of JAX 0.10 leaves it out when it
    compares structures, so that an RBF and a Matérn kernel count as equal. Where their hashes happen to meet, in about
    one process of fifty, the program that was compiled for the one would then be run for the other.
    """
    made = dataclasses.dataclass(frozen=True)(cls)
    fields = dataclasses.fields(made)  # type: ignore[arg-type]
    meta = [field.name for field in fields if field.metadata.get("static")]
    data = [field.name for field in fields if field.name not in meta]
    keys = [jax.tree_util.GetAttrKey(name) for name in data]

    def flatten(tree: Any) -> tuple[tuple, tuple]:
        return tuple(getattr(tree, name) for name in data), (made, *(getattr(tree, name) for name in meta))

    def flatten_with_keys(tree: Any) -> tuple[tuple, tuple]:
        leaves, structure = flatten(tree)
        return tuple(zip(keys, leaves, strict=True)), structure

    def unflatten(structure: tuple, leaves: Any) -> Any:
        tree = object.__new__(made)
        tree.__dict__.update(zip(data, leaves, strict=True))
        tree.__dict__.update(zip(meta, structure[1:], strict=True))
        return tree

    jax.tree_util.register_pytree_with_keys(made, flatten_with_keys, unflatten, flatten)
    return made
