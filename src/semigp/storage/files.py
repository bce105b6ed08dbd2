r"""Saving objects in files of arrays and JSON, which contain nothing that could be executed.

A file has these parts, in this order:

    b"semigp model\n"           marks the kind of file
    8 bytes, little-endian     length of the header
    header                     JSON: format, library, the tree of objects, type, shape and place of every array
    arrays                     their bytes, one after the other
    32 bytes                   SHA-256 of everything before

A file contains no compressed data, no path and no pickle, so there is nothing to unpack, to escape to or to execute.
An object is stored as the name of its class and its attributes. The reader supplies the list of allowed classes.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .decoding import Decoder
from .encoding import Encoder
from .errors import NotAModel

FORMAT = 1
_MAGIC, _LENGTH, _DIGEST = b"semigp model\n", 8, 32
# What pandas, NumPy and the decoder raise where the parts of a file do not fit together.
_UNFIT = (
    AttributeError, IndexError, KeyError, NotImplementedError, OverflowError, RecursionError, TypeError, ValueError,
)  # fmt: skip
_ABANDONED = 3600.0  # seconds after which an unfinished file counts as abandoned


def write(path: str | os.PathLike, root: Any, classes: Mapping[str, type], about: dict[str, str]) -> None:
    """Store an object made of `classes`, arrays and plain values. The old file stays until the new one is complete."""
    encoder = Encoder(classes)
    tree = encoder.encode(root, type(root).__name__)
    header = {"format": FORMAT, **about, "root": tree, "objects": encoder.objects, "arrays": encoder.described()}
    text = json.dumps(header, allow_nan=False, ensure_ascii=False).encode()
    body = b"".join(
        [_MAGIC, len(text).to_bytes(_LENGTH, "little"), text, *(array.tobytes() for array in encoder.arrays)]
    )
    _replace(Path(path), body + hashlib.sha256(body).digest())


def _replace(path: Path, content: bytes) -> None:
    """Replace a file in one step. Links are followed and permissions kept; devices and pipes are refused."""
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
    with contextlib.suppress(OSError):  # the model is saved; the rest guards against a crash, and tidies up
        _sync_folder(path.parent)
        _remove_leftovers(path)


def _sync_folder(folder: Path) -> None:
    """Make sure that the new name survives a crash of the machine. Windows has no way to ask for this."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _remove_leftovers(path: Path) -> None:
    """Remove the unfinished files of killed processes. Younger files may belong to a process that is still writing."""
    pattern, now = re.compile(re.escape(f".{path.name[:40]}.") + "[0-9a-f]{12}"), path.stat().st_mtime
    with os.scandir(path.parent) as entries:
        for entry in entries:
            if pattern.fullmatch(entry.name) and now - entry.stat().st_mtime > _ABANDONED:
                os.unlink(entry)


def read(path: str | os.PathLike, classes: Mapping[str, type]) -> Any:
    """The object in a file. Raises NotAModel, saying why, if the file is not a saved model."""
    header, arrays = _open(Path(path))
    try:
        return Decoder(classes, header, arrays).root
    except _UNFIT as error:
        raise NotAModel(f"{path} does not hold a model that can be restored: {error}") from error


def _open(path: Path) -> tuple[dict[str, Any], memoryview]:
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:  # checked before the rest is read: other files may be large
            raise NotAModel(f"{path} is not a file written by save().")
        content = memoryview(file.read())
    digest = hashlib.sha256(_MAGIC)
    digest.update(content[:-_DIGEST])
    if len(content) < _LENGTH + _DIGEST or digest.digest() != content[-_DIGEST:]:
        raise NotAModel(f"{path} is damaged: its checksum does not match. Was it cut off, or changed?")
    end = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
    try:
        header = json.loads(bytes(content[_LENGTH:end]).decode())  # UTF-8, so that JSON does not guess the encoding
        version = header["format"]
    except (KeyError, RecursionError, TypeError, ValueError) as error:
        raise NotAModel(f"{path} has no readable header: {error}") from error
    if version != FORMAT:
        raise NotAModel(f"{path} has format {version!r}; this version reads format {FORMAT}. Try a later semigp.")
    return header, content[end:-_DIGEST]
