"""Series of the M4 competition, and measured systems with an input: read or downloaded like the other files."""

from __future__ import annotations

import csv
import gzip
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.io

from .files import BASE, SYSTEMS, checked_path, downloaded, local_path

Series = list[tuple[str, np.ndarray, np.ndarray]]

_M4 = BASE + "Mcompetitions/M4-methods/6c1067e5a57161249b17289a565178dc7a3fb3ca/Dataset/"
_LONGEST = 1000  # of a longer series, these last values are kept
# The sha256 of the cut file in $SEMIGP_DATA, and of the names and values in it, however they were obtained.
_M4_HASHES = {
    "weekly": (
        "92a5e1c904674ebf538ab5b7c7b45fcf8e3aaaa3c2e7442fbee1ca524612dc9f",
        "8be43fe09cb75770b6902e7ab6aeac9d9e06b1428e9ca43f7265bff9cbbfb27d",
    ),
    "hourly": (
        "7aa530567cc21c21f1ed2c6e4a7b171e9c05393bfff454fd005aa4f8dc065d44",
        "b44393941b1bce8746c0a0a925a4a933061a605a06390c7233f4ff0b9167227b",
    ),
}
_M4_NUMBERS = {
    "weekly": "14 18 29 33 38 48 59 64 72 78 79 83 86 90 98 103 111 114 118 125 128 132 137 139 140 167 172 176 181 "
    "186 199 202 209 218 221 225 228 237 241 245 246 248 249 250 268 274 288 302 306 307 308 309 317 321 324 329 339 "
    "341 343 359",
    "hourly": "18 22 36 42 61 74 78 80 89 98 104 109 113 121 128 157 162 171 172 173 219 224 231 257 259 269 272 280 "
    "298 309 312 313 342 355 380 383 396 407 410 411",
}


def load_m4(frequency: str) -> Series:
    """Series of the M4 competition (Makridakis et al. 2020): for each its name, its past and its next values.

    There are 60 "weekly" series, of which the next 13 values are asked for, and 40 "hourly" ones with 48. Longer pasts
    than 1000 values are cut. Without `SEMIGP_DATA`, the files of the competition are downloaded and cut.
    """
    if frequency not in _M4_HASHES:
        raise ValueError(f"there are no {frequency!r} series; there are {', '.join(_M4_HASHES)}.")
    file_hash, content_hash = _M4_HASHES[frequency]
    if os.environ.get("SEMIGP_DATA"):
        return _read_cut(local_path(f"m4/{frequency}.csv.gz", file_hash, _M4))
    series = _cut_originals(frequency)
    if _content_hash(series) != content_hash:
        raise ValueError(f"the {frequency} series under {_M4} are not the expected ones: their sha256 differs.")
    return series


def _read_cut(path: Path) -> Series:
    """Series from a file with a row for each value: series, part (train or test), step, value."""
    found: dict[str, dict[str, list[float]]] = {}
    with gzip.open(path, "rt", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["series"], {"train": [], "test": []})[row["part"]].append(float(row["value"]))
    return [(name, np.array(parts["train"]), np.array(parts["test"])) for name, parts in found.items()]


def _cut_originals(frequency: str) -> Series:
    """The same series from the files of the competition, which have a row for each series."""
    title = frequency.title()
    names = [title[0] + number for number in _M4_NUMBERS[frequency].split()]
    past, future = (
        dict(_rows(downloaded(f"{_M4}{part}/{title}-{part.lower()}.csv", None), set(names)))
        for part in ("Train", "Test")
    )
    return [(name, past[name][-_LONGEST:], future[name]) for name in names]


def _rows(path: Path, names: set[str]) -> Iterator[tuple[str, np.ndarray]]:
    """Name and values of the rows with these names; short rows end in empty cells."""
    with path.open(newline="") as file:
        for name, *values in csv.reader(file):
            if name in names:
                yield name, np.array([float(value) for value in values if value not in ("", "NA")])


def _content_hash(series: Series) -> str:
    digest = hashlib.sha256()
    for name, past, future in series:
        digest.update(name.encode())
        digest.update(past.astype("<f8").tobytes() + future.astype("<f8").tobytes())
    return digest.hexdigest()


def load_sysid(name: str) -> tuple[np.ndarray, np.ndarray, int]:
    """A measured system: its input (T,), its output (T,), and the number of steps that are for training.

    They are actuator (valve and oil pressure of a hydraulic arm), ballbeam (angle of a beam and place of a ball on it),
    drive (voltage and speed of two motors on a belt) and dryer (heating and temperature of an air stream). The first
    half is for training.
    """
    if name not in SYSTEMS:
        raise ValueError(f"there is no system {name!r}; there are {', '.join(SYSTEMS)}.")
    file = scipy.io.loadmat(checked_path(f"sysid/{name}.mat"))
    inputs, outputs = (file["u1"], file["z1"]) if name == "drive" else (file["X"][0], file["y"])
    inputs, outputs = inputs.astype(float).ravel(), outputs.astype(float).ravel()
    return inputs, outputs, len(outputs) // 2
