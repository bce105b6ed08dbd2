"""How much a Parquet file holds, from its footer and the heads of its pages, before anything is unpacked.

A file of some kilobytes may hold a billion equal numbers, and a damaged one may ask for more memory than there is,
which ends the process inside polars. Column chunks say how many values they have, and so does the head of every page.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any, BinaryIO

from .thrift import Damaged, Reader

_BYTES_PER_CELL = 8  # of a number in memory; footers tell the bytes of the encoded column, which may be far fewer
# Numbers of fields: of the footer, of a column chunk, and of the head of a page.
_ROW_GROUPS, _COLUMNS, _ABOUT = 4, 1, 3
_VALUES, _BYTES, _FIRST_PAGE, _DICTIONARY = 5, 6, 9, 11
_KIND, _PAGE_BYTES, _PACKED_BYTES = 1, 2, 3
_VALUES_OF_PAGE = {0: 5, 3: 8}  # by kind of page: the field that tells, first of all, how many values it has
_LONGEST_HEAD = 2**24  # bytes: heads have the smallest and the largest value, which may be long texts
_CONTAINER = Path("/sys/fs/cgroup/memory.max")


def unpacked_bytes(path: Path) -> int:
    """About how many bytes the columns of a file have in memory. Raises ValueError if the file cannot be read."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if size < 12:
            raise ValueError("The file is too short.")
        file.seek(size - 8)
        length = int.from_bytes(file.read(4), "little")
        if length > size - 8:
            raise ValueError("The footer is damaged.")
        file.seek(size - 8 - length)
        content = file.read(length)
        try:
            groups = Reader(content).struct()[_ROW_GROUPS]
            chunks = [column[_ABOUT] for group in groups for column in group[_COLUMNS]]
            return sum(_bytes_of_chunk(file, chunk) for chunk in chunks)
        # Damage may put any type at the place of another one.
        except (Damaged, LookupError, TypeError, AttributeError, OverflowError) as error:
            raise ValueError("The footer, or the head of a page, is damaged.") from error


def _bytes_of_chunk(file: BinaryIO, chunk: dict[int, Any]) -> int:
    """The bytes of a column chunk in memory, as its pages and the footer say, whichever is more."""
    left, held = chunk[_VALUES], 0
    place = min(chunk[_FIRST_PAGE], chunk.get(_DICTIONARY) or chunk[_FIRST_PAGE])
    while left > 0:
        head, place = _head_of_page(file, place)
        values = head[_VALUES_OF_PAGE[head[_KIND]]][1] if head[_KIND] in _VALUES_OF_PAGE else 0
        if not 0 <= values <= left or min(head[_PAGE_BYTES], head[_PACKED_BYTES]) < 0:
            raise Damaged
        left, held, place = left - values, held + head[_PAGE_BYTES], place + head[_PACKED_BYTES]
    return max(held, chunk[_BYTES], _BYTES_PER_CELL * chunk[_VALUES])


def _head_of_page(file: BinaryIO, place: int) -> tuple[dict[int, Any], int]:
    """The head of the page that begins at a place of the file, and where it ends. More is read if it is long."""
    length = 2**9
    while place >= 0:
        file.seek(place)
        content = file.read(length)
        reader = Reader(content)
        try:
            return reader.struct(), place + reader.place
        except Damaged:
            if len(content) < length or length > _LONGEST_HEAD:
                raise
            length *= 8
    raise Damaged


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
