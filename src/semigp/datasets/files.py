"""Real data sets: read from $SEMIGP_DATA if it is set, else downloaded once, checked and cached by pooch."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np
import scipy.io

_BASE = "https://raw.githubusercontent.com/"
_GPMAT = "SheffieldML/GPmat/4b5914a38ecbad9fb7a13a3392970bfc28c9d911/datasets/data/"
_GRAPH = "marionmari/Graph_stuff/e0c81e89cb88c882ffa9f688834d8fbce3204b4d/usps_digit_data/"
# Name in $SEMIGP_DATA → address and sha256.
_FILES = {
    "mocap35/cmu35WalkJog.mat": (
        _BASE + _GPMAT + "cmu35WalkJog.mat",
        "50db534501bdfb1611153e3b5d122fc08b0c42ea159e875d5656ec13fa11a353",
    ),
    "oil/3Class.mat": (
        _BASE + _GPMAT + "3Class.mat",
        "438abaf3c12f16e6181caddfb96020bdc4a1947e078471d36e48cb9253a0bd7a",
    ),
    "usps/usps_all.mat": (
        _BASE + _GRAPH + "usps_all.mat",
        "da2c8d6e8bd743da00c67020f444e0f28250dfbd16c55d8135c50ffa7719a5f9",
    ),
}


def _path(name: str) -> Path:
    """The path of a file whose checksum has been verified."""
    address, digest = _FILES[name]
    folder = os.environ.get("SEMIGP_DATA")
    if not folder:
        try:
            import pooch
        except ImportError as error:
            raise ImportError(
                'Downloading data sets needs pooch: pip install "semigp[data]". Or set SEMIGP_DATA to a folder that '
                f"holds {name}."
            ) from error
        return Path(pooch.retrieve(address, f"sha256:{digest}", path=pooch.os_cache("semigp"), progressbar=False))
    path = Path(folder) / name
    if not path.is_file():
        raise FileNotFoundError(f"SEMIGP_DATA is {folder}, but {path} does not exist.")
    if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
        raise ValueError(f"{path} is not the expected file: its sha256 differs. Download it again from {address}.")
    return path


def load_oil() -> tuple[np.ndarray, np.ndarray]:
    """Three-phase oil flow (Bishop & James 1993): measurements (1000, 12) and the flow regime 0, 1 or 2 (1000,)."""
    file = scipy.io.loadmat(_path("oil/3Class.mat"))
    return file["DataTrn"].astype(float), np.argmax(file["DataTrnLbls"].astype(float), axis=1)


def load_usps(digits: tuple[int, ...] = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)) -> tuple[np.ndarray, np.ndarray]:
    """USPS digits (Hull 1994): images (n, 256) with values from 0 to 1, upright and row by row, and the digits (n,)."""
    images = scipy.io.loadmat(_path("usps/usps_all.mat"))["data"]  # (256, 1100, 10), digits in the order 1, …, 9, 0
    stacks = [images[:, :, (digit - 1) % 10] for digit in digits]
    upright = [stack.T.reshape(-1, 16, 16).transpose(0, 2, 1).reshape(-1, 256) for stack in stacks]
    labels = np.repeat(digits, [len(stack) for stack in upright])
    return np.concatenate(upright) / 255.0, labels


_ANGLES = np.r_[6:38, 40:47, 48:50, 52:59, 60:62]


def load_mocap() -> tuple[np.ndarray, np.ndarray]:
    """CMU motion capture, subject 35, walks and runs: the paper's features (2613, 59) and the sequence numbers (2613,).

    The data were obtained from mocap.cs.cmu.edu; the database was created with funding from NSF EIA-0196217.
    """
    file = scipy.io.loadmat(_path("mocap35/cmu35WalkJog.mat"))
    channels, sequence = file["Y"].astype(float), np.argmax(file["lbls"], axis=1)
    parts = [_mocap_features(channels[sequence == s]) for s in range(sequence.max() + 1)]
    return np.concatenate(parts), np.repeat(np.arange(len(parts)), [len(part) for part in parts])


def _mocap_features(frames: np.ndarray) -> np.ndarray:
    """The joint angles folded into ±90°, and the movement of the root from each frame to the next."""
    before, now = frames[:-1], frames[1:]
    radians_before, radians = np.deg2rad(before), np.deg2rad(now)
    angles = np.arcsin(np.sin(radians[:, _ANGLES]))
    steps = before[:, [0, 2]] - now[:, [0, 2]]
    root = [
        np.sin(radians[:, [3, 5]]), np.sin(radians_before[:, [4]]) - np.sin(radians[:, [4]]),
        np.cos(radians[:, [3, 5]]), np.cos(radians_before[:, [4]]) - np.cos(radians[:, [4]]),
    ]  # fmt: skip
    return np.concatenate([angles, steps, now[:, [1]], *root], axis=1)
