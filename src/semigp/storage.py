r"""Objects in files: arrays and JSON, and nothing that could run.

A file is, in this order,

    b"semigp model\n"           what it is
    8 bytes, little-endian     length of the header
    header                     JSON: format, library, the tree of objects, type, shape and place of every array
    arrays                     their bytes, one after the other
    32 bytes                   SHA-256 of all before

There is no compression, no path and no pickle in it, so there is nothing to unpack, to escape to or to execute. Objects
are names from a list of classes that the reader brings along, with their attributes.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

FORMAT = 1
_MAGIC, _LENGTH, _DIGEST = b"semigp model\n", 8, 32
_KINDS = "biufcMmUS"  # of arrays: no objects


class NotAModel(ValueError):
    """The file is not one of ours, is damaged, or is from a later version."""


class NotStorable(TypeError):
    """Something that only a pickle could hold."""


def write(path: str | os.PathLike, root: Any, classes: Iterable[type], about: dict[str, str]) -> None:
    """Store an object made of `classes`, arrays and plain values. The old file stays until the new one is complete."""
    encoder = _Encoder(classes)
    tree = encoder.encode(root, type(root).__name__)
    header = {"format": FORMAT, **about, "root": tree, "objects": encoder.objects, "arrays": encoder.described()}
    text = json.dumps(header, allow_nan=False, ensure_ascii=False).encode()
    body = b"".join(
        [_MAGIC, len(text).to_bytes(_LENGTH, "little"), text, *(array.tobytes() for array in encoder.arrays)]
    )
    _replace(Path(path), body + hashlib.sha256(body).digest())


def _replace(path: Path, content: bytes) -> None:
    name = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with name.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        name.unlink(missing_ok=True)
        raise


def read(path: str | os.PathLike, classes: Iterable[type]) -> Any:
    """The object in a file; NotAModel, saying why, for any other file."""
    header, arrays = _open(Path(path))
    try:
        return _Decoder(classes, header, arrays).root
    except (AttributeError, IndexError, KeyError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise NotAModel(f"{path} holds no model that can be put together: {error}") from error


def _open(path: Path) -> tuple[dict[str, Any], memoryview]:
    content = path.read_bytes()
    if not content.startswith(_MAGIC):
        raise NotAModel(f"{path} is not a file written by save().")
    start = len(_MAGIC) + _LENGTH
    if len(content) < start + _DIGEST or hashlib.sha256(content[:-_DIGEST]).digest() != content[-_DIGEST:]:
        raise NotAModel(f"{path} is damaged: its checksum does not fit. Was it cut off, or changed?")
    end = start + int.from_bytes(content[len(_MAGIC) : start], "little")
    try:
        header = json.loads(content[start:end])
        version = header["format"]
    except (KeyError, RecursionError, TypeError, ValueError) as error:
        raise NotAModel(f"{path} has no header that can be read: {error}") from error
    if version != FORMAT:
        raise NotAModel(f"{path} has format {version!r}; this version reads format {FORMAT}. Is there a later semigp?")
    return header, memoryview(content)[end:-_DIGEST]


class _Encoder:
    """Objects and arrays become numbers in two lists; what is met twice is kept once."""

    def __init__(self, classes: Iterable[type]) -> None:
        self.classes = set(classes)
        self.objects: list[Any] = []
        self.arrays: list[np.ndarray] = []
        self._seen: dict[int, tuple[Any, dict]] = {}  # keeps what it has seen, so that ids stay unique

    def encode(self, value: Any, where: str) -> Any:
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if isinstance(value, list | tuple):
            items = [self.encode(item, f"{where}[{i}]") for i, item in enumerate(value)]
            return {type(value).__name__: items} if type(value) in (list, tuple) else self._refuse(value, where)
        if type(value) is dict:
            return {"dict": [[self.encode(k, where), self.encode(v, f"{where}[{k!r}]")] for k, v in value.items()]}
        if isinstance(value, nw.Implementation):
            return {"library": value.value}
        if id(value) not in self._seen:
            self._seen[id(value)] = value, self._encode_object(value, where)
        return self._seen[id(value)][1]

    def _encode_object(self, value: Any, where: str) -> dict:
        if type(value) in self.classes:
            number = len(self.objects)
            self.objects.append(None)
            state = {name: self.encode(part, f"{where}.{name}") for name, part in _state(value).items()}
            self.objects[number] = [type(value).__name__, state]
            return {"object": number}
        if type(value).__module__.partition(".")[0] == "pandas":
            return {"index": self._encode_index(value, where)}
        if not hasattr(value, "__array__"):
            return self._refuse(value, where)
        array = np.asarray(value)
        if array.dtype == object:
            return {"values": [list(array.shape), [self.encode(item, where) for item in array.ravel().tolist()]]}
        if array.dtype.kind not in _KINDS:
            return self._refuse(value, where)
        self.arrays.append(np.ascontiguousarray(array).reshape(array.shape))
        return {"scalar" if isinstance(value, np.generic) else "array": len(self.arrays) - 1}

    def _encode_index(self, index: Any, where: str) -> dict:
        """A pandas index that can be told in words and numbers."""
        import pandas

        own = {"name": index.name if isinstance(index.name, str | int) else None}
        if isinstance(index, pandas.RangeIndex):
            return {**own, "range": [index.start, index.stop, index.step]}
        if isinstance(index, pandas.DatetimeIndex):
            times = index if index.tz is None else index.tz_convert("UTC").tz_localize(None)
            zone = None if index.tz is None else str(index.tz)
            return {**own, "times": self.encode(times.to_numpy(), where), "zone": zone, "frequency": index.freqstr}
        if isinstance(index, pandas.PeriodIndex):
            return {**own, "periods": self.encode(index.asi8, where), "frequency": index.freqstr}
        if type(index) is pandas.Index:
            return {**own, "entries": self.encode(np.asarray(index), where)}
        return self._refuse(index, where)

    def _refuse(self, value: Any, where: str) -> Any:
        raise NotStorable(f"{where} is a {type(value).__name__}, which cannot be saved without pickle.")

    def described(self) -> list[list[Any]]:
        """Type, shape and first byte of the arrays."""
        places = np.cumsum([0] + [array.nbytes for array in self.arrays]).tolist()
        return [[a.dtype.str, list(a.shape), place] for a, place in zip(self.arrays, places, strict=False)]


def _state(value: Any) -> dict[str, Any]:
    """Attributes, or what a class would rather have stored."""
    return value._stored() if hasattr(value, "_stored") else vars(value)


class _Decoder:
    """The way back. Classes are those given and no others, made without calling anything of theirs."""

    def __init__(self, classes: Iterable[type], header: dict[str, Any], content: memoryview) -> None:
        self._classes = {each.__name__: each for each in classes}
        self._arrays = [self._array(*entry, content) for entry in header["arrays"]]
        self._objects = [object.__new__(self._class(name)) for name, _ in header["objects"]]
        for made, (_, state) in zip(self._objects, header["objects"], strict=True):
            made.__dict__.update({name: self._decode(part) for name, part in state.items()})
        self.root = self._decode(header["root"])

    def _class(self, name: str) -> type:
        if name not in self._classes:
            raise NotAModel(f"it holds a {name!r}, which this version does not know")
        return self._classes[name]

    def _array(self, kind: str, shape: list[int], place: int, content: memoryview) -> np.ndarray:
        dtype = np.dtype(kind)
        if dtype.kind not in _KINDS or dtype.hasobject or min([place, *shape]) < 0:
            raise NotAModel(f"an array of type {kind!r} and shape {shape}")
        count = math.prod(shape)
        return np.frombuffer(content, dtype, count, place).reshape(shape).copy() if count else np.zeros(shape, dtype)

    def _decode(self, value: Any) -> Any:
        if not isinstance(value, dict):
            if isinstance(value, list):
                raise NotAModel("a list without a kind")
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

        name = told["name"]
        if "range" in told:
            return pandas.RangeIndex(*told["range"], name=name)
        if "times" in told:
            times = pandas.DatetimeIndex(self._decode(told["times"]), name=name)
            if told["zone"] is not None:
                times = times.tz_localize("UTC").tz_convert(told["zone"])
            times.freq = told["frequency"]
            return times
        if "periods" in told:
            return pandas.PeriodIndex.from_ordinals(self._decode(told["periods"]), freq=told["frequency"], name=name)
        return pandas.Index(self._decode(told["entries"]), name=name)


_READERS = {
    "float": "_float", "list": "_list", "tuple": "_tuple", "dict": "_dict", "library": "_library",
    "object": "_object", "array": "_numbered", "scalar": "_scalar", "values": "_values", "index": "_index",
}  # fmt: skip
