"""Checkpoints: the state of a long fit in a folder, so that a fit that was killed can be resumed.

A fit is a sequence of optimisations. Each process keeps, in files of its own,

    part-0003-00000040.1-of-2.checkpoint    the two latest states of the current optimisation
    part-0002-finished.1-of-2.checkpoint    the result of an optimisation that has ended
    fold-1.1-of-2.checkpoint                notes of what has been done

A file appears as a whole or not at all, and has a checksum. When a fit is resumed, all processes agree on the latest
state that every one of them has.
"""

from __future__ import annotations

import collections
import hashlib
import os
import re
import time
import warnings
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

import jax
import numpy as np
from sklearn.utils import check_random_state

from ... import storage
from ...core.devices.processes import Processes
from ...version import __version__
from ..common.saving import NOT_STORED

# Seconds between two states of an optimisation. If writing a state is slow, this many times the seconds that it took.
EVERY_SECONDS, _TIMES_WRITING = 10.0, 10.0
_FINISHED = 2**62  # stands for the number of iterations of an optimisation that has ended
_KEPT = 2
_PART = re.compile(r"part-(\d+)-(\d+|finished)\.")
Place = tuple[int, int]  # the number of an optimisation, and how many of its iterations are done


class Checkpoint:
    """The folder of one fit, as one of its processes sees it."""

    def __init__(self, folder: str | os.PathLike, fingerprint: str, processes: Processes) -> None:
        self._folder, self._fingerprint, self._processes = Path(folder), fingerprint, processes
        self._suffix = f".{processes.rank}-of-{processes.count}.checkpoint"
        self._folder.mkdir(parents=True, exist_ok=True)
        self._refuse_other_fits()
        self.begin: Place | None = self._agree(self._places())
        self._remove(path for place, path in self._places().items() if self.begin is None or place > self.begin)
        self._parts = 0

    def next_part(self) -> KeptSearch:
        """Begin the next optimisation. A resumed fit runs the same optimisations in the same order."""
        self._parts += 1
        return KeptSearch(self, self._parts)

    def get(self, name: str) -> Any:
        """The note of this name, or None."""
        return self._read(self._folder / f"{name}{self._suffix}")

    def put(self, name: str, value: Any) -> None:
        """Keep a note under this name."""
        self._write(self._folder / f"{name}{self._suffix}", value)

    def clear(self) -> None:
        """Remove all files, once all processes have finished."""
        self._processes.any(False)
        # The latest state first, and notes last. If a kill meets this, what is left is an earlier state with its seed.
        files = self._folder.glob(f"*{self._suffix}")
        self._remove(sorted(files, key=lambda path: (path.name.startswith("part-"), path.name), reverse=True))

    def load(self, part: int) -> Any:
        """The state from which an optimisation is resumed, its result if it has ended, or None."""
        if self.begin is None or part > self.begin[0]:
            return None
        return self._read(self._path(self.begin if part == self.begin[0] else (part, _FINISHED)))

    def store(self, place: Place, state: Any) -> None:
        """Keep a state. When a process writes one, all processes have already written the state before it."""
        self._write(self._path(place), state)
        running = sorted(place for place in self._places() if place[1] != _FINISHED)
        self._remove(self._path(place) for place in running[:-_KEPT])

    def _path(self, place: Place) -> Path:
        part, done = place
        return self._folder / f"part-{part:04d}-{'finished' if done == _FINISHED else f'{done:08d}'}{self._suffix}"

    def _places(self) -> dict[Place, Path]:
        """The files of this process, by place. Their contents are not looked at."""
        found = {}
        for path in self._folder.glob(f"part-*{self._suffix}"):
            match = _PART.match(path.name)
            if match is not None:
                part, done = match.groups()
                found[int(part), _FINISHED if done == "finished" else int(done)] = path
        return found

    def _agree(self, places: dict[Place, Path]) -> Place | None:
        """The latest place from which all processes can resume. Every optimisation before it has ended."""
        sound = sorted(place for place, path in places.items() if self._read(path) is not None)
        ended = {part for part, done in sound if done == _FINISHED}
        own = [place for place in sound if ended.issuperset(range(1, place[0]))]
        everyones = self._processes.gather_rows(np.array(own, int).reshape(-1, 2))
        counts = collections.Counter(map(tuple, everyones.tolist()))
        return max((place for place, count in counts.items() if count == self._processes.count), default=None)

    def _refuse_other_fits(self) -> None:
        """Raise ValueError, in all processes, if a file in the folder belongs to another fit."""
        self._remove(self._folder.glob(f".*{self._suffix[:8]}*"))  # left by a process that was killed while it wrote
        is_other = False
        for path in self._folder.glob("*.checkpoint"):
            is_other |= not path.name.endswith(f"-of-{self._processes.count}.checkpoint")
            if path.name.endswith(self._suffix):
                is_other |= self._content(path).get("fingerprint", self._fingerprint) != self._fingerprint
        if self._processes.any(is_other)[0]:
            raise ValueError(
                f"The folder {self._folder} holds the checkpoint of another fit: one with other data, parameters, "
                "versions, devices or number of processes. Give another folder, or delete this one to start again."
            )

    def _read(self, path: Path) -> Any:
        return self._content(path).get("content")

    def _content(self, path: Path) -> dict[str, Any]:
        """The content of a file. It is empty if there is no such file, or if the file is damaged."""
        try:
            return storage.read(path, {})
        except FileNotFoundError:
            return {}
        except storage.NotAModel as error:
            warnings.warn(f"{error} The fit goes on from an earlier state.", stacklevel=2)
            self._remove([path])
            return {}

    def _write(self, path: Path, content: Any) -> None:
        storage.write(path, {"fingerprint": self._fingerprint, "content": content}, {}, {"kind": "checkpoint"})

    def _remove(self, paths: Any) -> None:
        for path in list(paths):
            path.unlink(missing_ok=True)


@dataclass
class KeptSearch:
    """Keeps the state of one optimisation in the checkpoint."""

    checkpoint: Checkpoint
    number: int

    def __post_init__(self) -> None:
        self._next = time.monotonic() + EVERY_SECONDS

    def load(self) -> Any:
        """The state from which the optimisation is resumed, or None."""
        return self.checkpoint.load(self.number)

    def is_due(self) -> bool:
        """Whether it is time to keep the state."""
        return time.monotonic() >= self._next

    def store(self, state: dict[str, Any], is_finished: bool) -> None:
        """Keep a state, or the result if the optimisation has ended."""
        began = time.monotonic()
        self.checkpoint.store((self.number, _FINISHED if is_finished else len(state["trace"])), state)
        now = time.monotonic()
        self._next = now + max(EVERY_SECONDS, _TIMES_WRITING * (now - began) * bool(EVERY_SECONDS))


def fingerprint(arrays: list[np.ndarray], *facts: Any) -> str:
    """A hash of this process's data and of all else that decides the course of a fit. Other fits have other hashes."""
    digest = hashlib.sha256(repr(facts).encode())
    for array in arrays:
        digest.update(repr(array.shape).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def open_checkpoint(estimator: Any, processes: Processes, *arrays: np.ndarray) -> Checkpoint:
    """Open the checkpoint in the estimator's folder, for a fit to these arrays with the estimator's parameters."""
    parameters = {name: value for name, value in estimator.get_params().items() if name not in NOT_STORED}
    if not isinstance(estimator.random_state, Integral):
        parameters["random_state"] = None
    versions = __version__, jax.__version__, processes.mesh.devices.shape, jax.default_backend()
    about = fingerprint(list(arrays), sorted(parameters.items()), *versions)
    return Checkpoint(estimator.checkpoint, about, processes)


def choose_seed(random_state: Any, processes: Processes, checkpoint: Checkpoint | None) -> int:
    """The seed of all random numbers, which is the same in all processes and in a resumed fit."""
    seed = None if checkpoint is None else checkpoint.get("seed")
    if seed is None:
        seed = int(check_random_state(random_state).randint(2**31 - 1))
        if checkpoint is not None:
            checkpoint.put("seed", seed)
    return int(processes.first(np.array(seed)))
