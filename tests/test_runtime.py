"""The compilation cache leaves no trace in JAX's configuration, and works across processes; programs leave room."""

import subprocess
import sys

import jax
import numpy as np
import pytest

from semigp import SemiDescribedGPRegressor, runtime
from semigp.runtime import _Programs, cache_folder, compilation_cache

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


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """A process that may have 100 memory maps: `programs.maps(count)` says how many it has, `cleared` how often."""
    found, cleared = _Programs(), []
    monkeypatch.setattr(jax, "clear_caches", lambda: cleared.append(1))
    for name, text in (("MAPS", ""), ("MAX_MAPS", "100\n")):
        (tmp_path / name).write_text(text)
        setattr(found, name, tmp_path / name)
    found.SECONDS, found.cleared = 0.0, cleared
    found.maps = lambda count: (tmp_path / "MAPS").write_text("7f00-7f01 r-xp\n" * count)
    return found


def test_programs_are_forgotten_before_they_fill_the_process(programs):
    """From half of the maps on; not again and again if something else than programs has taken them, but at the end."""
    for count, times in ((50, 0), (51, 1), (51, 1), (71, 1), (72, 2), (90, 2), (91, 3)):
        programs.maps(count)
        programs.make_room()
        assert (count, len(programs.cleared)) == (count, times)


def test_a_process_that_may_have_many_maps_has_no_more_programs(programs):
    """Its memory would be full first: as if it had 65530."""
    programs.MAX_MAPS.write_text("1048576\n")
    for count, times in ((32_765, 0), (32_766, 1)):
        programs.maps(count)
        programs.make_room()
        assert len(programs.cleared) == times


def test_maps_are_counted_once_in_a_while_and_by_one_thread(programs):
    programs.maps(99)
    with programs._lock:
        programs.make_room()
    assert not programs.cleared
    programs.SECONDS = 3600.0
    for _ in range(3):
        programs.make_room()
    assert len(programs.cleared) == 1


def test_systems_that_do_not_tell(programs, tmp_path):
    programs.maps(99)
    programs.MAX_MAPS = tmp_path / "no"
    programs.make_room()
    assert not programs.cleared


@pytest.mark.skipif(not _Programs.MAPS.exists(), reason="counts memory maps as Linux tells them")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_forgotten_programs_leave_their_maps(monkeypatch):
    """The second of two fits, inside of a computation, finds too many programs of the first, and those are gone."""
    random, programs = np.random.default_rng(0), runtime._programs
    before = programs.count()
    monkeypatch.setattr(programs, "SECONDS", 0.0)
    monkeypatch.setattr(programs, "SHARE", (before + 200) / programs.MOST)
    monkeypatch.setattr(programs, "_kept", -np.inf)
    counts = []
    with runtime.computing():
        for n in (60, 61):
            X = np.where(random.random((n, 2)) < 0.2, np.nan, random.normal(size=(n, 2)))
            SemiDescribedGPRegressor(4, posterior="gaussian", max_iter=1).fit(X, np.arange(n))
            counts.append(programs.count())
    assert counts[0] > before + 200
    assert 0 < programs._kept < counts[0] - 100
