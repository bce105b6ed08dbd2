"""A fit that is killed, however often, ends with the digits of one that is not."""

import random
import time

import numpy as np
import pytest

import semigp
from semigp.core.processes import Processes
from semigp.estimators import checkpoint
from semigp.estimators.checkpoint import Checkpoint, Part

from .test_spreading import finish, start

FITS = {
    "gaussian": {"posterior": "gaussian", "max_iter": 60},
    "mixture": {"posterior": "mixture", "n_draws": 3, "max_iter": 60},
    "auto": {"n_draws": 3, "max_iter": 60},
}


def _killed_again_and_again(tmp_path, options, kills, seed):
    """What a fit finds that is killed (SIGKILL) at random moments, and how often it was."""
    calm, out, folder = tmp_path / "calm.json", tmp_path / "found.json", tmp_path / "checkpoint"
    process = start(calm, options=options, checkpoint=str(tmp_path / "other"))
    process.stdout.readline()
    began = time.monotonic()
    expected = finish(process, calm)
    lasted = time.monotonic() - began
    moments, killed, resumed = random.Random(seed), 0, 0
    while killed < kills or not out.exists():
        out.unlink(missing_ok=True)
        resumed += folder.exists() and any(folder.glob("part-*"))
        process = start(out, options=options, checkpoint=str(folder))
        process.stdout.readline()
        time.sleep(moments.uniform(0, lasted) if killed < kills else 0)
        if killed < kills:
            process.kill()
            process.communicate()
            killed += 1
        else:
            finish(process, out)
    print(f"{killed} kills within {lasted:.1f} s each, {resumed} starts from a checkpoint")
    assert not list(folder.iterdir())
    return finish(process, out) if process.poll() is None else __import__("json").loads(out.read_text()), expected
