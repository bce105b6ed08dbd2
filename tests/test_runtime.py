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
from semigp.core.sparse.fit import fit
from semigp.core.sparse.model import make_data, start
x = np.random.default_rng(0).normal(size=(20, 2))
data = make_data(x, x)
with compilation_cache():
    fit(start(data, RBF(1.0, np.ones(2)), x[:5], 0.1), data, [Stage("all", 1)])
print(len(hits))
"""


@pytest.fixture(autouse=True)
def no_cache_of_a_user(monkeypatch):
    """The tests have a cache of their own (tests/conftest.py), which the library would leave alone."""
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    before = flags()
    for flag, value in zip(FLAGS, (None, 1.0), strict=True):  # JAX's own defaults
        jax.config.update(flag, value)
    yield
    for flag, value in zip(FLAGS, before, strict=True):
        jax.config.update(flag, value)


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


def test_a_cache_of_the_user_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMIGP_CACHE", str(tmp_path / "ours"))
    jax.config.update("jax_compilation_cache_dir", str(tmp_path / "theirs"))
    with compilation_cache():
        assert flags() == (str(tmp_path / "theirs"), 1.0)
    assert flags() == (str(tmp_path / "theirs"), 1.0)


def test_off(monkeypatch):
    monkeypatch.setenv("SEMIGP_CACHE", "off")
    assert cache_folder() is None
    before = flags()
    with compilation_cache():
        assert flags() == before


def test_a_second_process_compiles_nothing_big(tmp_path, monkeypatch):
    """With programs optimised as for users: what compiles in less than .2 s is not kept."""
    monkeypatch.setenv("SEMIGP_CACHE", str(tmp_path))
    monkeypatch.setenv("XLA_FLAGS", "")
    command = [sys.executable, "-c", SCRIPT]
    first, second = (int(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(2))
    assert first == 0
    assert second >= 1
