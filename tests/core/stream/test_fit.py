"""How long a fit in batches takes, and why it ends; nothing is compiled."""

import numpy as np
import pytest

from semigp.core.stream.fit import Schedule, _status


def test_rates_rise_and_fall():
    """Half a cosine from 0.03 to 0, after a twentieth of the steps in a straight line."""
    schedule = Schedule(n_steps=200, n_ascents=0, seen_before=0.0, share=0.01)
    assert schedule.rate(0) == 0.0
    assert schedule.rate(5) == pytest.approx(0.5 * 0.015 * (1 + np.cos(np.pi * 5 / 200)))
    assert schedule.rate(100) == pytest.approx(0.015)
    assert schedule.rate(200) == pytest.approx(0.0, abs=1e-12)


def test_natural_steps_have_a_floor():
    """(1 + t₀ + t)^-0.6, at least a batch's share of the rows, or a tenth."""
    assert Schedule(9, 0, 3.0, 0.01).natural_step(4) == pytest.approx(8.0**-0.6)
    assert Schedule(9, 0, 0.0, 0.05).natural_step(10**6) == 0.05
    assert Schedule(9, 0, 0.0, 0.5).natural_step(10**6) == 0.1


@pytest.mark.parametrize(
    ("trace", "status"),
    [
        ([], "interrupted"),
        (list(range(19)), "iteration limit"),  # too short to tell
        (list(range(-100, 0)), "iteration limit"),  # still rising
        ([-5.0] * 100, "converged"),
        ([-5.0, -4.9] * 50, "converged"),  # flat but for its own spread
    ],
)
def test_status(trace, status):
    assert _status([float(value) for value in trace]) == status
