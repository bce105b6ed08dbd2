"""What `models` and `tables` share: damage to bytes, and the limits under which every file is read."""

import random
import resource
import signal
import sys
import tempfile
from pathlib import Path

FORBIDDEN = ("os.system", "os.exec", "os.posix_spawn", "os.fork", "subprocess", "socket", "pickle", "marshal", "ctypes")
# Zones of times, and what tells how much memory there is.
ALLOWED = ("zoneinfo", "tzdata", "/proc/self/statm", "/sys/fs/cgroup/memory.max")
allowed_file = None
seen = []


def watch(event, arguments):
    """What Python reports that it is about to do."""
    file = str(arguments[0]) if event == "open" else allowed_file
    if event.startswith(FORBIDDEN) or (file != allowed_file and not any(name in file for name in ALLOWED)):
        seen.append((event, str(arguments)[:200]))


def change_bytes(content, dice, signs=b'\x00\xff[]{}",:0-9e'):
    """Some bytes changed, cut out, or put in twice."""
    changed = bytearray(content)
    for _ in range(dice.choice([1, 3, 20])):
        place = dice.randrange(len(changed))
        how = dice.randrange(4)
        if how == 0:
            changed[place] ^= 1 << dice.randrange(8)
        elif how == 1:
            changed[place] = dice.choice(signs)
        elif how == 2:
            del changed[place : place + dice.choice([1, 8, 100])]
        else:
            changed[place:place] = changed[place : place + dice.choice([1, 8, 100])]
        if not changed:
            return b""
    return bytes(changed)


def read_files(make, read, count, seed, first=0):
    """Try files after fifty others, with which whatever is loaded late, polars's threads too, is loaded."""
    dice = random.Random(-1)
    with tempfile.TemporaryDirectory() as folder:
        for name, content in (make(dice) for _ in range(50)):
            (Path(folder) / name).write_bytes(content)
            read(Path(folder) / name)
    print(*try_files(count, seed, make, read, 3.0, first))


def try_files(count, seed, make, read, seconds=1.0, first=0):
    """How many of `count` files `read` refused (False) and took (True), each in some seconds and half a gigabyte.

    Seconds of computing, and thirty times as many by the clock, since others may use the machine. A file that takes
    longer ends the process, and stays in the temporary folder.

    `make` gives a file's name and content, by dice. Whatever `read` loads late must be loaded already.
    """
    global allowed_file
    dice = random.Random(seed)
    sys.addaudithook(watch)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 2**29, resource.RLIM_INFINITY))
    taken = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            name, content = make(dice)
            if number < first:  # to come back to a file quickly
                continue
            path = Path(folder) / name
            path.write_bytes(content)
            allowed_file = str(path)
            seen.clear()
            signal.setitimer(signal.ITIMER_PROF, seconds)
            signal.setitimer(signal.ITIMER_REAL, 30 * seconds)
            try:
                taken += read(path)
            except BaseException as error:
                raise AssertionError(f"file {number} of seed {seed}: {type(error).__name__}: {error}") from error
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            assert not seen, f"file {number} of seed {seed}: {seen}"
    return count - taken, taken
