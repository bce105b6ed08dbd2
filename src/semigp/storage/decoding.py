"""From JSON and arrays to objects. Only objects of the given classes are made."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np

from .encoding import KINDS
from .errors import NotAModel
from .times import times_from_utc

# At most eight digits: with nine, the size of text in bytes overflows in NumPy 2.0 and becomes negative.
_TYPE = re.compile(rf"[<>|=]?[{KINDS}]\d{{1,8}}(\[\w+\])?")


class Decoder:
    """Makes objects from JSON and arrays. Only the given classes are made, and none of their code is called."""

    def __init__(self, classes: Mapping[str, type], header: dict[str, Any], content: memoryview) -> None:
        self._classes = classes
        self._arrays: list[np.ndarray] = []
        end = 0
        for kind, shape, place in header["arrays"]:
            if place != end:  # otherwise a small file could ask for any amount of memory
                raise NotAModel(f"an array of type {kind!r} begins at {place}, but the one before it ends at {end}")
            self._arrays.append(self._array(kind, shape, place, content))
            end += self._arrays[-1].nbytes
        self._objects = [object.__new__(self._class(name)) for name, _ in header["objects"]]
        for made, (_, state) in zip(self._objects, header["objects"], strict=True):
            for name in state:
                if name.startswith("__") or callable(getattr(type(made), name, None)):
                    raise NotAModel(f"its {type(made).__name__} has a value for {name!r}, which is not an attribute")
            made.__dict__.update({name: self._decode(part) for name, part in state.items()})
        self.root = self._decode(header["root"])

    def _class(self, name: str) -> type:
        if name not in self._classes:
            raise NotAModel(f"it holds a {name!r}, which this version does not know")
        return self._classes[name]

    def _array(self, kind: str, shape: list[int], place: int, content: memoryview) -> np.ndarray:
        if not _TYPE.fullmatch(kind) or min([place, *shape]) < 0:
            raise NotAModel(f"an array of type {kind!r} and shape {shape} is not allowed")
        dtype = np.dtype(kind)
        count = math.prod(shape)
        return np.frombuffer(content, dtype, count, place).reshape(shape).copy() if count else np.zeros(shape, dtype)

    def _decode(self, value: Any) -> Any:
        if not isinstance(value, dict):
            if isinstance(value, list):
                raise NotAModel("it holds a list without a kind")
            return value
        ((kind, content),) = value.items()
        return getattr(self, _READERS[kind])(content)

    def _float(self, text: str) -> float:
        return float(text)

    def _list(self, items: list[Any]) -> list[Any]:
        return [self._decode(item) for item in items]

    def _tuple(self, items: list[Any]) -> tuple[Any, ...]:
        return tuple(self._list(items))

    def _dict(self, pairs: list[list[Any]]) -> dict[Any, Any]:
        return {self._decode(key): self._decode(part) for key, part in pairs}

    def _library(self, name: str) -> nw.Implementation:
        return nw.Implementation(name)

    def _object(self, number: int) -> Any:
        return self._objects[number]

    def _numbered(self, number: int) -> np.ndarray:
        return self._arrays[number]

    def _scalar(self, number: int) -> Any:
        return self._arrays[number][()]

    def _values(self, content: list[Any]) -> np.ndarray:
        shape, items = content
        array = np.empty(len(items), object)
        array[:] = self._list(items)
        return array.reshape(shape)

    def _index(self, told: dict[str, Any]) -> Any:
        import pandas

        if "levels" in told:
            return pandas.MultiIndex.from_arrays([self._decode(level) for level in told["levels"]])
        name = self._decode(told["name"])
        if "range" in told:
            return pandas.RangeIndex(*told["range"], name=name)
        if "times" in told:
            return times_from_utc(self._decode(told["times"]), told["zone"], told["frequency"], name)
        if "spans" in told:
            spans = pandas.TimedeltaIndex(self._decode(told["spans"]), name=name)
            spans.freq = told["frequency"]
            return spans
        if "periods" in told:
            return pandas.PeriodIndex.from_ordinals(self._decode(told["periods"]), freq=told["frequency"], name=name)
        return pandas.Index(self._decode(told["entries"]), name=name)


_READERS = {
    "float": "_float", "list": "_list", "tuple": "_tuple", "dict": "_dict", "library": "_library",
    "object": "_object", "array": "_numbered", "scalar": "_scalar", "values": "_values", "index": "_index",
}  # fmt: skip
