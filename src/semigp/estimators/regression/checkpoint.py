"""Long fits in a folder, so that one that was killed goes on where it was.

A fit is a sequence of optimisations. Each process keeps, in files of its own,

    part-0003-00000040.1-of-2.checkpoint    the state of the optimisation that runs, the two latest of them
    part-0002-finished.1-of-2.checkpoint    the result of one that has ended
    fold-1.1-of-2.checkpoint                notes, such as how a contest went

A file appears as a whole or not at all, and has a checksum. Where a fit is taken up, all processes agree on the latest
state that all of them have.
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

# Seconds between two states of an optimisation; or so many times what writing the last one took, if that is more.
EVERY_SECONDS, _TIMES_WRITING = 10.0, 10.0
_FINISHED = 2**62  # iterations, of an optimisation that has ended
_KEPT = 2
_PART = re.compile(r"part-(\d+)-(\d+|finished)\.")
Place = tuple[int, int]  # an optimisation, and how many iterations of it are done


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
        """The next optimisation of the fit; always the same ones, in the same order."""
        self._parts += 1
        return KeptSearch(self, self._parts)

    def get(self, name: str) -> Any:
        """A note."""
        return self._read(self._folder / f"{name}{self._suffix}")

    def put(self, name: str, value: Any) -> None:
        """Make a note."""
        self._write(self._folder / f"{name}{self._suffix}", value)

    def clear(self) -> None:
        """Remove everything, once all processes have come that far."""
        self._processes.any(False)
        self._remove(self._folder.glob(f"*{self._suffix}"))

    def load(self, part: int) -> Any:
        """The state of an optimisation to go on from: its result, if the fit was taken up after it."""
        if self.begin is None or part > self.begin[0]:
            return None
        return self._read(self._path(self.begin if part == self.begin[0] else (part, _FINISHED)))

    def store(self, place: Place, state: Any) -> None:
        """Keep a state. All processes have kept the one before when any begins with this one."""
        self._write(self._path(place), state)
        running = sorted(place for place in self._places() if place[1] != _FINISHED)
        self._remove(self._path(place) for place in running[:-_KEPT])

    def _path(self, place: Place) -> Path:
        part, done = place
        return self._folder / f"part-{part:04d}-{'finished' if done == _FINISHED else f'{done:08d}'}{self._suffix}"

    def _places(self) -> dict[Place, Path]:
        """What there are files of, whatever is in them."""
        found = {}
        for path in self._folder.glob(f"part-*{self._suffix}"):
            match = _PART.match(path.name)
            if match is not None:
                part, done = match.groups()
                found[int(part), _FINISHED if done == "finished" else int(done)] = path
        return found

    def _agree(self, places: dict[Place, Path]) -> Place | None:
        """The latest place that all processes can go on from: every optimisation before it has ended."""
        sound = sorted(place for place, path in places.items() if self._read(path) is not None)
        ended = {part for part, done in sound if done == _FINISHED}
        own = [place for place in sound if ended.issuperset(range(1, place[0]))]
        everyones = self._processes.gather_rows(np.array(own, int).reshape(-1, 2))
        counts = collections.Counter(map(tuple, everyones.tolist()))
        return max((place for place, count in counts.items() if count == self._processes.count), default=None)

    def _refuse_other_fits(self) -> None:
        """Raise ValueError, in all processes, where a file is not of this fit."""
        self._remove(self._folder.glob(f".*{self._suffix[:8]}*"))  # what a killed process was writing
        is_other = False
        for path in self._folder.glob("*.checkpoint"):
            is_other |= not path.name.endswith(f"-of-{self._processes.count}.checkpoint")
            if path.name.endswith(self._suffix):
                is_other |= self._content(path).get("fingerprint", self._fingerprint) != self._fingerprint
        if self._processes.any(is_other)[0]:
            raise ValueError(
                f"The folder {self._folder} holds the checkpoint of another fit: of other data, parameters, versions, "
                "devices or number of processes. Give another folder, or delete that one to begin anew."
            )

    def _read(self, path: Path) -> Any:
        return self._content(path).get("content")

    def _content(self, path: Path) -> dict[str, Any]:
        """What is in a file; nothing, if there is none or it is damaged."""
        try:
            return storage.read(path, {})
        except FileNotFoundError:
            return {}
        except storage.NotAModel as error:
            warnings.warn(f"{error} The fit goes on from what was kept before.", stacklevel=2)
            self._remove([path])
            return {}

    def _write(self, path: Path, content: Any) -> None:
        storage.write(path, {"fingerprint": self._fingerprint, "content": content}, {}, {"kind": "checkpoint"})

    def _remove(self, paths: Any) -> None:
        for path in list(paths):
            path.unlink(missing_ok=True)


@dataclass
class KeptSearch:
    """The keeper of one optimisation."""

    checkpoint: Checkpoint
    number: int

    def __post_init__(self) -> None:
        self._next = time.monotonic() + EVERY_SECONDS

    def load(self) -> Any:
        """The state to go on from, if there is one."""
        return self.checkpoint.load(self.number)

    def is_due(self) -> bool:
        """Whether it is time to keep the state."""
        return time.monotonic() >= self._next

    def store(self, state: dict[str, Any], is_finished: bool) -> None:
        """Keep a state, or the result."""
        began = time.monotonic()
        self.checkpoint.store((self.number, _FINISHED if is_finished else len(state["trace"])), state)
        now = time.monotonic()
        self._next = now + max(EVERY_SECONDS, _TIMES_WRITING * (now - began) * bool(EVERY_SECONDS))


def fingerprint(arrays: list[np.ndarray], *facts: Any) -> str:
    """A number that another fit will not have, from the data of this process and whatever else decides its course."""
    digest = hashlib.sha256(repr(facts).encode())
    for array in arrays:
        digest.update(repr(array.shape).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def open_checkpoint(estimator: Any, processes: Processes, *arrays: np.ndarray) -> Checkpoint:
    """The folder that an estimator asks for, for a fit to these arrays and with its parameters."""
    parameters = {name: value for name, value in estimator.get_params().items() if name not in NOT_STORED}
    if not isinstance(estimator.random_state, Integral):
        parameters["random_state"] = None
    versions = __version__, jax.__version__, processes.mesh.devices.shape, jax.default_backend()
    about = fingerprint(list(arrays), sorted(parameters.items()), *versions)
    return Checkpoint(estimator.checkpoint, about, processes)


def choose_seed(random_state: Any, processes: Processes, checkpoint: Checkpoint | None) -> int:
    """Of all random numbers: the same in all processes, and in a fit that goes on."""
    seed = None if checkpoint is None else checkpoint.get("seed")
    if seed is None:
        seed = int(check_random_state(random_state).randint(2**31 - 1))
        if checkpoint is not None:
            checkpoint.put("seed", seed)
    return int(processes.first(np.array(seed)))
