"""Shared fixtures. Warnings are errors (pyproject.toml); the caller's JAX flag stays at float32 throughout."""

import os
from pathlib import Path

import jax
import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("ci", max_examples=25, deadline=None, derandomize=True)
settings.register_profile("nightly", max_examples=500, deadline=None)
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
