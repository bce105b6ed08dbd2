"""Real data sets: read from $SEMIGP_DATA if it is set, else downloaded once, checked and cached by pooch."""

from __future__ import annotations

import gzip
import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io

BASE = "https://raw.githubusercontent.com/"
_GPMAT = "SheffieldML/GPmat/4b5914a38ecbad9fb7a13a3392970bfc28c9d911/datasets/data/"
_UCI = "treforevans/uci_datasets/f0737523712fe66a1640e4b980b927e8490b58eb/uci_datasets/"
_SEABORN = "mwaskom/seaborn-data/71e2436a092d714350de0fc409ca8a8714e7e78f/"
_SYSID = "RomanFoell/DRGP-VSS/457f35ffd321cdfe9359d1df707fde9a32041c9c/matlab/data_raw/"
_GRAPH = "marionmari/Graph_stuff/e0c81e89cb88c882ffa9f688834d8fbce3204b4d/usps_digit_data/"
# Name in $SEMIGP_DATA → address and sha256.
_FILES = {
    "mocap35/cmu35WalkJog.mat": (
        BASE + _GPMAT + "cmu35WalkJog.mat",
        "50db534501bdfb1611153e3b5d122fc08b0c42ea159e875d5656ec13fa11a353",
    ),
    "oil/3Class.mat": (
        BASE + _GPMAT + "3Class.mat",
        "438abaf3c12f16e6181caddfb96020bdc4a1947e078471d36e48cb9253a0bd7a",
    ),
    "usps/usps_all.mat": (
        BASE + _GRAPH + "usps_all.mat",
        "da2c8d6e8bd743da00c67020f444e0f28250dfbd16c55d8135c50ffa7719a5f9",
    ),
}
_UCI_HASHES = {
    "airfoil": "1cce82516ac9e564fba52f55d817eb147fc39085f5d7b958ad15b92f4207f23e",
    "concrete": "542c5d9a0d301bdb47550280398dcbbe2fb8404631fc945de1ea6df9ade741c6",
    "energy": "431b6df04243db782bbcd45e408373a654334496ebe5d9c9985ab2e826a39f51",
    "kin40k": "9bee7f2a9f39aa61a015f239378368601fb3978c5bb9a96433e88a55d40883ba",
    "machine": "aae8f76a052a874dc45b363124515a5192d6ff7dafad04752e87683199babca4",
    "stock": "d196f315d7c19634f0f549edba569c6c0413e1602837344879dd4b5340470982",
    "yacht": "88ec8ea1a979ab0628a54392822c60b3699ea22541e912e83246f7d49f5adad1",
}
_MIXED_HASHES = {
    "mpg": "c14b8b855ea7ee86cb9736bf8caaf281c4685ca08826f3eb2acaccaaf40f0d5a",
    "penguins": "e07636bd8af74260099ea2f8678e2eabbf35def579940cc76f67061ee16c06c1",
    "tips": "e54cc4d2ce1bff65d32ca60b3e4b802e06bde1d7e7caf6f796f6bf7370e863b0",
}
_SYSID_HASHES = {
    "actuator": "fbd54f88e40cba7ed5049f658888c6063ffadebeb1d7567d68ea79fc1a573eb3",
    "ballbeam": "7f09e85204b5ab615cc865e311f9d95fb4ed2bc384eead949cce8b7f89a46c6c",
    "drive": "47d0825678d854d8a1bbcfb0ad1188026b853f69beb2067ea00cfd88d13dc4ca",
    "dryer": "4f580b4759575a485ec7e6ef2c493ee431bb868d0f6adeb8710bc9d2899c7537",
}
_FILES |= {f"uci/{name}.csv.gz": (f"{BASE}{_UCI}{name}/data.csv.gz", hash_) for name, hash_ in _UCI_HASHES.items()}
_FILES |= {f"mixed/{name}.csv": (f"{BASE}{_SEABORN}{name}.csv", hash_) for name, hash_ in _MIXED_HASHES.items()}
_FILES |= {f"sysid/{name}.mat": (f"{BASE}{_SYSID}{name}.mat", hash_) for name, hash_ in _SYSID_HASHES.items()}

# What there is to load, and what is predicted in each table with text columns.
UCI_TABLES, SYSTEMS = tuple(_UCI_HASHES), tuple(_SYSID_HASHES)
MIXED_TARGETS = {"penguins": "body_mass_g", "tips": "tip", "mpg": "mpg"}


def checked_path(name: str) -> Path:
    """The path of a file whose checksum has been verified."""
    address, digest = _FILES[name]
    return local_path(name, digest, address) if os.environ.get("SEMIGP_DATA") else downloaded(address, digest)


def local_path(name: str, digest: str, address: str) -> Path:
    """The path of a file in $SEMIGP_DATA, if it has this sha256."""
    folder = os.environ["SEMIGP_DATA"]
    path = Path(folder) / name
    if not path.is_file():
        raise FileNotFoundError(f"SEMIGP_DATA is {folder}, but {path} does not exist.")
    if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
        raise ValueError(f"{path} is not the expected file: its sha256 differs. Download it again from {address}.")
    return path


def downloaded(address: str, digest: str | None) -> Path:
    """The path of a file in the cache of pooch. Without a digest, what is in it has to be checked afterwards."""
    try:
        import pooch
    except ImportError as error:
        raise ImportError(
            'Downloading data sets needs pooch: pip install "semigp[data]". Or set SEMIGP_DATA to a folder that holds '
            f"them, among them {address.rpartition('/')[2]}."
        ) from error
    known = f"sha256:{digest}" if digest else None
    return Path(pooch.retrieve(address, known, path=pooch.os_cache("semigp"), progressbar=False))


def load_oil() -> tuple[np.ndarray, np.ndarray]:
    """Three-phase oil flow (Bishop & James 1993): measurements (1000, 12) and the flow regime 0, 1 or 2 (1000,)."""
    file = scipy.io.loadmat(checked_path("oil/3Class.mat"))
    return file["DataTrn"].astype(float), np.argmax(file["DataTrnLbls"].astype(float), axis=1)


def load_usps(digits: tuple[int, ...] = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)) -> tuple[np.ndarray, np.ndarray]:
    """USPS digits (Hull 1994): images (n, 256) with values from 0 to 1, upright and row by row, and the digits (n,)."""
    images = scipy.io.loadmat(checked_path("usps/usps_all.mat"))[
        "data"
    ]  # (256, 1100, 10), digits in the order 1, …, 9, 0
    stacks = [images[:, :, (digit - 1) % 10] for digit in digits]
    upright = [stack.T.reshape(-1, 16, 16).transpose(0, 2, 1).reshape(-1, 256) for stack in stacks]
    labels = np.repeat(digits, [len(stack) for stack in upright])
    return np.concatenate(upright) / 255.0, labels


_ANGLES = np.r_[6:38, 40:47, 48:50, 52:59, 60:62]


def load_mocap() -> tuple[np.ndarray, np.ndarray]:
    """CMU motion capture, subject 35, walks and runs: the paper's features (2613, 59) and the sequence numbers (2613,).

    The data were obtained from mocap.cs.cmu.edu; the database was created with funding from NSF EIA-0196217.
    """
    file = scipy.io.loadmat(checked_path("mocap35/cmu35WalkJog.mat"))
    channels, sequence = file["Y"].astype(float), np.argmax(file["lbls"], axis=1)
    parts = [_mocap_features(channels[sequence == s]) for s in range(sequence.max() + 1)]
    return np.concatenate(parts), np.repeat(np.arange(len(parts)), [len(part) for part in parts])


def load_mocap_test() -> tuple[np.ndarray, np.ndarray]:
    """Motions 18, a run, and 29, a walk, of the same subject: features (167, 59) and the number of the motion (167,).

    They are no part of `load_mocap`. In both, columns 0–6 are the left leg, 7–13 the right leg, 14–31 the trunk from
    the lower back to the head, 32–40 the left arm, 41–49 the right arm, all in radians, and 50–58 how the root moves.
    """
    file = scipy.io.loadmat(checked_path("mocap35/cmu35WalkJog.mat"))
    channels, motion = file["Ytest"].astype(float), np.argmax(file["lblstest"], axis=1)
    parts = [_mocap_features(channels[motion == each]) for each in range(2)]
    return np.concatenate(parts), np.repeat([18, 29], [len(part) for part in parts])


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


def load_uci(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A regression table of the UCI collection: inputs (n, q) and the output (n,), centred. There are seven.

    They are airfoil, concrete, energy, kin40k, machine, stock and yacht.
    """
    if name not in UCI_TABLES:
        raise ValueError(f"there is no table {name!r}; there are {', '.join(UCI_TABLES)}.")
    # Unpacked here, because a file in the cache of pooch need not end in .gz.
    with gzip.open(checked_path(f"uci/{name}.csv.gz"), "rt") as file:
        table = np.loadtxt(file, delimiter=",")
    return table[:, :-1], table[:, -1]


def load_mixed(name: str, all_rows: bool = False) -> tuple[Any, Any]:
    """A table with numbers, text and real holes: a pandas frame of inputs and the output. There are three.

    They are penguins (output: body mass), tips (the tip) and mpg (miles per gallon). Rows without an output are left
    out, or with `all_rows` kept: their output is NaN. Needs pandas.
    """
    if name not in MIXED_TARGETS:
        raise ValueError(f"there is no table {name!r}; there are {', '.join(MIXED_TARGETS)}.")
    try:
        import pandas
    except ImportError as error:
        raise ImportError("Tables with text columns are pandas frames: pip install pandas.") from error
    frame = pandas.read_csv(checked_path(f"mixed/{name}.csv"))
    if not all_rows:
        frame = frame.dropna(subset=[MIXED_TARGETS[name]]).reset_index(drop=True)
    return frame.drop(columns=MIXED_TARGETS[name]), frame[MIXED_TARGETS[name]]
