"""Shared fixtures. Warnings are errors (pyproject.toml); the caller's JAX flag stays at float32 throughout."""

import os
from importlib.metadata import version
from pathlib import Path

# Nearly all the time of the tests went into compiling. Here programs are compiled quickly, each function of XLA's by
# itself and hardly optimised, and kept in build/compiled for other modules, processes and runs. Both before JAX is
# imported, and for child processes too; who sets these variables decides: `XLA_FLAGS= make test` optimises as users do.
QUICK = (
    "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true "
    "--xla_cpu_parallel_codegen_split_count=1"
)
# XLA ends the process where it does not know a flag, and from JAX 0.11 on it does not know this one.
if tuple(int(part) for part in version("jaxlib").split(".")[:2]) < (0, 11):
    QUICK += " --xla_cpu_use_fusion_emitters=false"
os.environ.setdefault("XLA_FLAGS", QUICK)
if os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(__file__).parents[1] / "build" / "compiled")):
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")

import jax  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

settings.register_profile("ci", max_examples=25, deadline=None, derandomize=True)
# In parts, on other machines too: SEMIGP_TABLES=50, and `--hypothesis-seed=N` with another N for every part.
settings.register_profile("nightly", max_examples=int(os.environ.get("SEMIGP_TABLES", "500")), deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

SHARED = Path(__file__).parents[2] / "shared"


@pytest.fixture(autouse=True, scope="module")
def _forget_compiled_programs():
    """Every program holds memory maps, of which a process may have 65530."""
    yield
    jax.clear_caches()


@pytest.fixture
def shared() -> Path:
    """The folder of reference numbers and data beside the checkout."""
    if not SHARED.is_dir():
        if os.environ.get("SEMIGP_SHARED_REQUIRED"):
            pytest.fail(f"{SHARED} must be there in CI")
        pytest.skip(f"needs reference numbers in {SHARED}, which is not there")
    return SHARED


@pytest.fixture
def x64():
    """For tests that call kernels directly, below the functions that switch to float64 themselves."""
    with jax.enable_x64(True):
        yield


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(0)
