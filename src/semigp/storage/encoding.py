"""From objects to JSON and arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np

from .errors import NotStorable
from .times import comes_back

KINDS = "biufcMmUS"  # the kinds of arrays that can be stored: all but arrays of objects


class Encoder:
    """Replaces objects and arrays by their numbers in two lists. An object that occurs twice is stored once."""

    def __init__(self, classes: Mapping[str, type]) -> None:
        self.names = {each: name for name, each in classes.items()}
        self.objects: list[Any] = []
        self.arrays: list[np.ndarray] = []
        self._seen: dict[int, tuple[Any, dict]] = {}  # keeps a reference to each value, so that ids stay unique

    def encode(self, value: Any, where: str) -> Any:
        """The JSON of a value. Error messages call the value `where`."""
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
        if type(value) in self.names:
            number = len(self.objects)
            self.objects.append(None)
            state = {name: self.encode(part, f"{where}.{name}") for name, part in _state(value).items()}
            self.objects[number] = [self.names[type(value)], state]
            return {"object": number}
        if type(value).__module__.partition(".")[0] == "pandas":
            return {"index": self._encode_index(value, where)}
        if not hasattr(value, "__array__"):
            return self._refuse(value, where)
        array = np.asarray(value)
        if array.dtype == object:
            return {"values": [list(array.shape), [self.encode(item, where) for item in array.ravel().tolist()]]}
        if array.dtype.kind not in KINDS:
            return self._refuse(value, where)
        self.arrays.append(np.ascontiguousarray(array).reshape(array.shape))
        return {"scalar" if isinstance(value, np.generic) else "array": len(self.arrays) - 1}

    def _encode_index(self, index: Any, where: str) -> dict:
        """The JSON of a pandas index."""
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
            if not comes_back(index, times.to_numpy(), zone):
                raise NotStorable(
                    f"{where} has the frequency {index.freqstr} and the time zone {zone}; one of them cannot be saved. "
                    'Use a frequency and a time zone that have a name, such as "MS" and "Europe/Paris", or none.'
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
        """Type, shape and position of the first byte of every array."""
        places = np.cumsum([0] + [array.nbytes for array in self.arrays]).tolist()
        return [[a.dtype.str, list(a.shape), place] for a, place in zip(self.arrays, places, strict=False)]


def _state(value: Any) -> dict[str, Any]:
    """The attributes of an object, or what its `_stored` method returns."""
    return value._stored() if hasattr(value, "_stored") else vars(value)
