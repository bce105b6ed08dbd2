"""Load files that someone has tampered with: models.py COUNT SEED FILE...

Every file must be refused with NotAModel or give an estimator, within a second, half a gigabyte, and without running,
opening or connecting to anything. Mutations know the format: most get a length and a checksum that fit, so that the
reader itself is reached. Prints how many files were refused and how many loaded.
"""

import copy
import hashlib
import json
import sys
import warnings
from pathlib import Path

from running import change_bytes, try_files

import semigp
from semigp.storage import files as storage

START = len(storage._MAGIC) + 8
ATOMS = [
    None, True, False, -1, 0, 1, 2**31, 2**63, -(2**63), 10**12, 10**400, 1e308, -0.0, "", "nan", "inf", "x" * 1000,
    "__class__", "__dict__", "fit", "predict", "object", "array", "GPImputer", "RBF", "../../etc/passwd", "Etc/UTC",
    "dateutil//etc/passwd", "1000000000D", "|O8", "<f8", "<U999999999", "|S0", "|V8", "<M8[ns]", "<m8", "i4,(", [], {},
    [[]], {"object": 0}, {"object": -1}, {"object": 10**9}, {"array": 0}, {"scalar": 0}, {"array": -1},
    {"float": "nan"}, {"float": "1" * 5000}, {"list": []}, {"tuple": [1]}, {"dict": [[1, 2]]},
    {"dict": [[{"list": []}, 2]]},
    {"library": "pandas"}, {"values": [[10**9], [1]]}, {"values": [[-1], [1, 2]]},
    {"index": {"name": None, "range": [0, 2**62, 1]}}, {"index": {"name": {"list": []}, "entries": {"list": [1]}}},
    {"index": {"name": None, "times": {"array": 0}, "zone": "../../../etc/localtime", "frequency": "D"}},
    {"index": {"name": None, "periods": {"array": 0}, "frequency": "Q"}},
    {"index": {"name": None, "spans": {"array": 0}, "frequency": "h"}}, {"index": {"levels": [{"array": 0}]}},
]  # fmt: skip


def nodes(tree, found):
    """Every container of a JSON tree with every key in it."""
    for key in tree.keys() if isinstance(tree, dict) else range(len(tree)):
        found.append((tree, key))
        if isinstance(tree[key], dict | list):
            nodes(tree[key], found)
    return found


def change_header(header, dice):
    """A few entries replaced, removed, doubled, renamed, or exchanged for others."""
    for _ in range(dice.choice([1, 1, 2, 5])):
        places = nodes(header, [])
        tree, key = dice.choice(places)
        how = dice.randrange(5)
        if how == 0:
            del tree[key]
        elif how == 1 and isinstance(tree, list):
            tree.append(copy.deepcopy(tree[key]))
        elif how == 2 and isinstance(tree, dict):
            tree[str(dice.choice(ATOMS))] = tree.pop(key)
        elif how == 3:
            other, place = dice.choice(places)
            tree[key] = copy.deepcopy(other[place]) if place in other or isinstance(other, list) else None
        else:
            tree[key] = copy.deepcopy(dice.choice(ATOMS))
        if not header:
            return


def mutate(content, header, end, dice):
    if dice.random() < 0.1:  # as damage does it: the checksum does not fit
        return change_bytes(content, dice)
    text, arrays = json.dumps(header).encode(), content[end:-32]
    if dice.random() < 0.7:
        changed = copy.deepcopy(header)
        change_header(changed, dice)
        text = json.dumps(changed).encode()
    else:
        text = change_bytes(text, dice)
    if dice.random() < 0.2 and arrays:
        arrays = change_bytes(arrays, dice)
    length = len(text) if dice.random() < 0.95 else dice.choice([0, 1, len(text) - 1, 2**63, 2**64 - 1])
    body = storage._MAGIC + length.to_bytes(8, "little") + text + arrays
    return body + hashlib.sha256(body).digest()


def load(path):
    try:
        semigp.load(path)
    except storage.NotAModel:
        return False
    return True


def main(count, seed, *files):
    originals = []
    for file in files:
        semigp.load(file)  # whatever is imported late is imported now
        content = Path(file).read_bytes()
        end = START + int.from_bytes(content[START - 8 : START], "little")
        originals.append((content, json.loads(content[START:end]), end))
    print(*try_files(count, seed, lambda dice: ("model.semigp", mutate(*dice.choice(originals), dice)), load))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
