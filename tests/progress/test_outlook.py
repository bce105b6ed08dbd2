"""The iterations left. Oracle: gains that shrink by a known factor."""

import numpy as np

from semigp.core.search.report import Progress
from semigp.progress.outlook import Outlook


def test_outlook():
    """Gains that halve every ten iterations: the iterations left are right to a third once ten are seen."""
    outlook, bound, errors = Outlook(), -1000.0, []
    for iteration in range(1, 200):
        gain = 10 * 0.5 ** (iteration / 10)
        bound += gain
        left = outlook(Progress("all", iteration, 2000, bound, 0.0))
        truth = 10 * np.log2(gain / (1e-7 * abs(bound)))
        if iteration > 20 and truth > 10:
            errors.append(left / truth)
    assert min(errors) > 0.67
    assert max(errors) < 1.5


def test_a_chain_has_a_fixed_length():
    """Its evidence goes up and down, and says nothing about its end."""
    outlook = Outlook()
    for sweep in range(1, 31):
        told = Progress("sweeps", sweep, 30, float(-sweep % 3), 0.0, has_fixed_length=True)
        assert outlook(told) == 30 - sweep
