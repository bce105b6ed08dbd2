"""How much a Parquet file holds, from its footer, before anything is unpacked.

A file of some kilobytes may hold a billion equal numbers. Its footer says so, in Thrift's compact protocol: every
field of a struct is a byte, with its type and how far its number is from that of the field before, and then its value.
https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift has the numbers of the fields.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_BYTES_PER_CELL = 8  # of a number in memory; footers tell the bytes of the encoded column, which may be far fewer
_DEEPEST = 20  # footers have seven levels
_ROW_GROUPS, _COLUMNS, _ABOUT, _VALUES, _BYTES = 4, 1, 3, 5, 6  # numbers of fields
_CONTAINER = Path("/sys/fs/cgroup/memory.max")


def unpacked_bytes(path: Path) -> int:
    """About how many bytes the columns of a file have in memory. Raises ValueError if there is no footer to read."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if size < 12:
            raise ValueError("The file is too short.")
        file.seek(size - 8)
        length = int.from_bytes(file.read(4), "little")
        file.seek(max(0, size - 8 - length))
        content = file.read(length)
    try:
        groups = _Footer(content).struct()[_ROW_GROUPS]
        chunks = [column[_ABOUT] for group in groups for column in group[_COLUMNS]]
        return sum(max(chunk[_BYTES], _BYTES_PER_CELL * chunk[_VALUES]) for chunk in chunks)
    except (IndexError, KeyError, TypeError) as error:
        raise ValueError("The footer is damaged.") from error


def memory_bytes() -> int | None:
    """How much memory a table may have: that of the machine, of its container, or below its limit. None: unknown."""
    try:
        import resource
    except ImportError:  # Windows has other ways
        return None
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY:
        found.append(limit - _addresses())
    with contextlib.suppress(OSError, ValueError):  # there is no container, or it says "max"
        found.append(int(_CONTAINER.read_text()))
    return min(found)


def _addresses() -> int:
    """How much of its limit of addresses this process has taken. It is far more than the memory that it uses."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:  # only Linux tells
        return 0


@dataclass
class _Footer:
    """Thrift's compact protocol, read from the beginning. Structs are dictionaries by the numbers of their fields."""

    content: bytes
    place: int = 0
    depth: int = 0

    def struct(self) -> dict[int, Any]:
        """The fields up to the byte 0, which ends a struct."""
        if self.depth == _DEEPEST:
            raise ValueError("The footer is damaged.")
        self.depth += 1
        found, number = {}, 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._whole()
            kind = head & 15
            found[number] = kind == 1 if kind in (1, 2) else self._value(kind)  # a truth is its own type
        self.depth -= 1
        return found

    def _value(self, kind: int) -> Any:
        match kind:
            case 1 | 2 | 3:
                return self._byte()
            case 4 | 5 | 6:
                return self._whole()
            case 7:
                return self._skip(8)
            case 8:
                return self._skip(self._varint())
            case 9 | 10:
                head = self._byte()
                count = head >> 4 if head >> 4 < 15 else self._varint()
                return [self._value(head & 15) for _ in range(count)]
            case 12:
                return self.struct()
        raise ValueError("The footer is damaged.")

    def _byte(self) -> int:
        self.place += 1
        return self.content[self.place - 1]

    def _skip(self, count: int) -> None:
        self.place += count
        if self.place > len(self.content):
            raise ValueError("The footer is damaged.")

    def _varint(self) -> int:
        """Seven bits in every byte, the lowest first; the eighth says whether there are more."""
        found = shift = 0
        while (byte := self._byte()) > 127:
            found |= (byte & 127) << shift
            shift += 7
            if shift > 63:
                raise ValueError("The footer is damaged.")
        return found | byte << shift

    def _whole(self) -> int:
        """A number with a sign: 0, -1, 1, -2 are written as 0, 1, 2, 3."""
        found = self._varint()
        return found >> 1 ^ -(found & 1)
