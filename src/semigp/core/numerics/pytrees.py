"""Frozen dataclasses as JAX pytrees. Constructors check nothing: vmap and grad fill the fields with any object."""

import dataclasses
from typing import Any, TypeVar, dataclass_transform

import jax

T = TypeVar("T")


def static(**kwargs: Any) -> Any:
    """A field that is part of the tree's structure: it must be hashable and is never traced."""
    return dataclasses.field(metadata={"static": True}, **kwargs)


@dataclass_transform(frozen_default=True, field_specifiers=(static, dataclasses.field))
def pytree(cls: type[T]) -> type[T]:
    """Make `cls` a frozen dataclass whose fields are pytree leaves; `static()` fields belong to the structure."""
    cls = dataclasses.dataclass(frozen=True)(cls)
    fields = dataclasses.fields(cls)  # type: ignore[arg-type]
    meta = [field.name for field in fields if field.metadata.get("static")]
    data = [field.name for field in fields if field.name not in meta]
    return jax.tree_util.register_dataclass(cls, data_fields=data, meta_fields=meta)
