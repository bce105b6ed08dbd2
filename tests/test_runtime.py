"""The compilation cache leaves no trace in JAX's configuration, and works across processes."""

import subprocess
import sys

import jax
import pytest

from semigp.runtime import cache_folder, compilation_cache

FLAGS = ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs")

SCRIPT = """
import jax, numpy as np
hits = []
jax.monitoring.register_event_listener(lambda name, **_: hits.append(name) if "cache_hits" in name else None)
from semigp.runtime import compilation_cache
from semigp.core import RBF
from semigp.core.search.stages import Stage
from semigp.core.sparse.model import make_data, start
from semigp.core.sparse.fit import fit
x = np.random.default_rng(0).normal(size=(20, 2))
data = make_data(x, x)
with compilation_cache():
    fit(start(data, RBF(1.0, np.ones(2)), x[:5], 0.1), data, [Stage("all", 1)])
print(len(hits))
"""


def flags():
    return tuple(getattr(jax.config, flag) for flag in FLAGS)


def test_flags_are_put_back(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMIGP_CACHE", str(tmp_path))
    before = flags()
    with compilation_cache():
        assert flags()[0] == str(tmp_path / "jax")
        with compilation_cache():
            pass
        assert flags()[0] == str(tmp_path / "jax")
    assert flags() == before


def test_an_exception_inside_changes_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMIGP_CACHE", str(tmp_path))
    before = flags()
    with pytest.raises(RuntimeError, match="inside"), compilation_cache():
        raise RuntimeError("inside")
    assert flags() == before


def test_off(monkeypatch):
    monkeypatch.setenv("SEMIGP_CACHE", "off")
    assert cache_folder() is None
    before = flags()
    with compilation_cache():
        assert flags() == before


def test_a_second_process_compiles_nothing_big(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMIGP_CACHE", str(tmp_path))
    command = [sys.executable, "-c", SCRIPT]
    first, second = (int(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(2))
    assert first == 0
    assert second >= 1
