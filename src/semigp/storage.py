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

import contextlib
import errno
import hashlib
import json
import math
import os
import re
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

FORMAT = 1
_MAGIC, _LENGTH, _DIGEST = b"semigp model\n", 8, 32
_ABANDONED = 3600.0  # seconds after which nobody is writing a file any more
_KINDS = "biufcMmUS"  # of arrays: no objects
# Eight digits, for with nine the size of text in bytes overflows in NumPy 2.0, and is below zero.
_TYPE = re.compile(rf"[<>|=]?[{_KINDS}]\d{{1,8}}(\[\w+\])?")


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
    """Links are followed, rights kept; a device or a pipe is not replaced by a file."""
    path = Path(os.path.realpath(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such folder", str(path.parent))
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "Not a file that can be replaced", str(path))
    name = path.parent / f".{path.name[:40]}.{secrets.token_hex(6)}"
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        if path.exists():
            os.chmod(name, stat.S_IMODE(path.stat().st_mode))
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        name.unlink(missing_ok=True)
        raise
    with contextlib.suppress(OSError):  # the model is there; what follows is for a crash, and for tidiness
        _sync_folder(path.parent)
        _remove_leftovers(path)


def _sync_folder(folder: Path) -> None:
    """The new name survives a crash of the machine, too. Windows has no way to ask for it."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _remove_leftovers(path: Path) -> None:
    """What killed processes were writing. Younger files may belong to one that is still at it."""
    pattern, now = re.compile(re.escape(f".{path.name[:40]}.") + "[0-9a-f]{12}"), path.stat().st_mtime
    with os.scandir(path.parent) as entries:
        for entry in entries:
            if pattern.fullmatch(entry.name) and now - entry.stat().st_mtime > _ABANDONED:
                os.unlink(entry)


def read(path: str | os.PathLike, classes: Iterable[type]) -> Any:
    """The object in a file; NotAModel, saying why, for any other file."""
    header, arrays = _open(Path(path))
    try:
        return _Decoder(classes, header, arrays).root
    except (AttributeError, IndexError, KeyError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise NotAModel(f"{path} holds no model that can be put together: {error}") from error


def _open(path: Path) -> tuple[dict[str, Any], memoryview]:
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:  # whatever it is, it may be large
            raise NotAModel(f"{path} is not a file written by save().")
        content = memoryview(file.read())
    digest = hashlib.sha256(_MAGIC)
    digest.update(content[:-_DIGEST])
    if len(content) < _LENGTH + _DIGEST or digest.digest() != content[-_DIGEST:]:
        raise NotAModel(f"{path} is damaged: its checksum does not fit. Was it cut off, or changed?")
    end = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
    try:
        header = json.loads(bytes(content[_LENGTH:end]).decode())  # UTF-8 and nothing that JSON might guess
        version = header["format"]
    except (KeyError, RecursionError, TypeError, ValueError) as error:
        raise NotAModel(f"{path} has no header that can be read: {error}") from error
    if version != FORMAT:
        raise NotAModel(f"{path} has format {version!r}; this version reads format {FORMAT}. Is there a later semigp?")
    return header, content[end:-_DIGEST]


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

        if not isinstance(index, pandas.Index):
            return self._refuse(index, where)
        if isinstance(index, pandas.MultiIndex):
            levels = [self.encode(index.get_level_values(i), where) for i in range(index.nlevels)]
            return {"name": None, "levels": levels}
        own = {"name": self.encode(index.name, f"{where}.name")}
        if isinstance(index, pandas.RangeIndex):
            return {**own, "range": [index.start, index.stop, index.step]}
        if isinstance(index, pandas.DatetimeIndex):
            times = index if index.tz is None else index.tz_convert("UTC").tz_localize(None)
            zone = None if index.tz is None else str(index.tz)
            if not _comes_back(index, times.to_numpy(), zone):
                raise NotStorable(
                    f"{where} has the frequency {index.freqstr} and the time zone {zone}; one cannot be saved. "
                    'Use those that have a name, such as "MS" and "Europe/Paris", or none.'
                )
            return {**own, "times": self.encode(times.to_numpy(), where), "zone": zone, "frequency": index.freqstr}
        if isinstance(index, pandas.TimedeltaIndex):
            return {**own, "spans": self.encode(index.to_numpy(), where), "frequency": index.freqstr}
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


def _times(times: np.ndarray, zone: str | None, frequency: str | None, name: Any) -> Any:
    """An index of times that were in UTC."""
    import pandas

    index = pandas.DatetimeIndex(times, name=name)
    if zone is not None:
        if not isinstance(zone, str) or zone.startswith("dateutil"):  # which would open any file
            raise ValueError(f"no time zone is called {zone!r}")
        index = index.tz_localize("UTC").tz_convert(zone)
    index.freq = frequency
    return index


def _comes_back(index: Any, times: np.ndarray, zone: str | None) -> bool:
    """Whether the names of its zone and frequency are enough to make an index again."""
    try:
        again = _times(times, zone, index.freqstr, index.name)
    except (KeyError, TypeError, ValueError):
        return False
    return again.dtype == index.dtype and again.freq == index.freq and again.equals(index)


class _Decoder:
    """The way back. Classes are those given and no others, made without calling anything of theirs."""

    def __init__(self, classes: Iterable[type], header: dict[str, Any], content: memoryview) -> None:
        self._classes = {each.__name__: each for each in classes}
        self._arrays: list[np.ndarray] = []
        end = 0
        for kind, shape, place in header["arrays"]:
            if place != end:  # else a small file could ask for any amount of memory
                raise NotAModel(f"an array of type {kind!r} at {place}, where the last one ends at {end}")
            self._arrays.append(self._array(kind, shape, place, content))
            end += self._arrays[-1].nbytes
        self._objects = [object.__new__(self._class(name)) for name, _ in header["objects"]]
        for made, (_, state) in zip(self._objects, header["objects"], strict=True):
            for name in state:
                if name.startswith("__") or callable(getattr(type(made), name, None)):
                    raise NotAModel(f"its {type(made).__name__} has an attribute {name!r}, which is none")
            made.__dict__.update({name: self._decode(part) for name, part in state.items()})
        self.root = self._decode(header["root"])

    def _class(self, name: str) -> type:
        if name not in self._classes:
            raise NotAModel(f"it holds a {name!r}, which this version does not know")
        return self._classes[name]

    def _array(self, kind: str, shape: list[int], place: int, content: memoryview) -> np.ndarray:
        if not _TYPE.fullmatch(kind) or min([place, *shape]) < 0:
            raise NotAModel(f"an array of type {kind!r} and shape {shape}")
        dtype = np.dtype(kind)
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

        if "levels" in told:
            return pandas.MultiIndex.from_arrays([self._decode(level) for level in told["levels"]])
        name = self._decode(told["name"])
        if "range" in told:
            return pandas.RangeIndex(*told["range"], name=name)
        if "times" in told:
            return _times(self._decode(told["times"]), told["zone"], told["frequency"], name)
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
