"""Thrift's compact protocol, in which the footer of a Parquet file and the heads of its pages are written.

Every field of a struct is a byte, with its type and how far its number is from that of the field before, and then its
value. https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift has the numbers of fields.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_DEEPEST = 20  # footers have eight levels at most, with lists


class Damaged(ValueError):
    """What was read cannot be the protocol, or it ends too early."""


@dataclass
class Reader:
    """Reads structs, as dictionaries by the numbers of their fields. `place` is where the next byte is."""

    content: bytes
    place: int = 0
    depth: int = 0

    def struct(self) -> dict[int, Any]:
        """The fields up to the byte 0, which ends a struct."""
        self._descend()
        found, number = {}, 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._whole()
            kind = head & 15
            found[number] = kind == 1 if kind in (1, 2) else self._value(kind)  # a truth is its own type
        self.depth -= 1
        return found

    def _list(self) -> list[Any]:
        """Values of one type. Damage may put lists into lists, as deep as there are bytes."""
        self._descend()
        head = self._byte()
        count = head >> 4 if head >> 4 < 15 else self._varint()
        found = [self._value(head & 15) for _ in range(count)]
        self.depth -= 1
        return found

    def _descend(self) -> None:
        if self.depth == _DEEPEST:
            raise Damaged
        self.depth += 1

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
                return self._list()
            case 12:
                return self.struct()
        raise Damaged

    def _byte(self) -> int:
        if self.place >= len(self.content):
            raise Damaged
        self.place += 1
        return self.content[self.place - 1]

    def _skip(self, count: int) -> None:
        self.place += count
        if self.place > len(self.content):
            raise Damaged

    def _varint(self) -> int:
        """Seven bits in every byte, the lowest first; the eighth says whether there are more."""
        found = shift = 0
        while (byte := self._byte()) > 127:
            found |= (byte & 127) << shift
            shift += 7
            if shift > 63:
                raise Damaged
        return found | byte << shift

    def _whole(self) -> int:
        """A number with a sign: 0, -1, 1, -2 are written as 0, 1, 2, 3."""
        found = self._varint()
        return found >> 1 ^ -(found & 1)
