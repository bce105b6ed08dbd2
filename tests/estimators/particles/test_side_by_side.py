"""Chains in threads. Oracles: what each returns by itself, and who was told what."""

import threading

import pytest

from semigp.estimators.particles.side_by_side import map_side_by_side, run_chains


def _chain(number, sweeps=3):
    def run(tell):
        for sweep in range(sweeps):
            if tell(sweep, 10.0 * number + sweep):
                return number, sweep
        return number, sweeps

    return run


def _never(chain, sweep, evidence):
    return False


def test_values_come_in_the_order_of_the_items():
    assert map_side_by_side(lambda item: item**2, range(50)) == [item**2 for item in range(50)]
    assert map_side_by_side(str, []) == []


def test_every_chain_is_run_and_every_sweep_is_told_here():
    told = []

    def is_stopped(*sweep):
        told.append((*sweep, threading.current_thread() is threading.main_thread()))
        return False

    found, was_stopped = run_chains([_chain(number) for number in range(5)], is_stopped)
    assert found == [(number, 3) for number in range(5)]
    assert not was_stopped
    assert sorted(told) == [(number, sweep, 10.0 * number + sweep, True) for number in range(5) for sweep in range(3)]


@pytest.mark.parametrize("by", ["answer", "Ctrl-C"])
def test_a_stop_reaches_all_chains(by):
    """They end by themselves, long before their last sweep; the caller gets what they have."""

    def is_stopped(chain, sweep, evidence):
        if by == "Ctrl-C":
            raise KeyboardInterrupt
        return True

    found, was_stopped = run_chains([_waiting, _waiting], is_stopped)
    assert was_stopped
    assert found == ["told", "told"]


def _waiting(tell):
    for sweep in range(10_000):
        threading.Event().wait(0.001)
        if tell(sweep, 0.0):
            return "told"
    return "never told"


def test_errors_come_through():
    def broken(tell):
        raise ArithmeticError("seven")

    with pytest.raises(ArithmeticError, match="seven"):
        run_chains([broken, _waiting], _never)

    def is_stopped(chain, sweep, evidence):
        raise ValueError("of the callback")

    with pytest.raises(ValueError, match="of the callback"):
        run_chains([_waiting], is_stopped)
