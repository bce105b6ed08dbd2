"""Rows over devices and processes. The oracle is one device: bound and gradient to 1e-10, and the same fit."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

WORKER = Path(__file__).with_name("spread_worker.py")


def _start(*arguments):
    command = [sys.executable, WORKER, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _result(process):
    out, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return json.loads(out.splitlines()[-1])


@pytest.fixture(scope="module")
def one_device():
    return _result(_start(1))


def _check_same(found, expected):
    """Sums in another order: 1e-10. Fifteen iterations amplify that; 1e-5 is far below what a wrong term would do."""
    assert found["bound"] == pytest.approx(expected["bound"], rel=1e-10)
    np.testing.assert_allclose(found["norms"], expected["norms"], rtol=1e-9)
    assert found["iterations"] == expected["iterations"]
    assert found["fit"] == pytest.approx(expected["fit"], rel=1e-5)
    np.testing.assert_allclose(found["mean"], expected["mean"], atol=1e-5)
    assert found["resumed"]


def test_one_device_is_the_plain_bound(one_device):
    plain = one_device["alone"]
    assert one_device["bound"] == pytest.approx(plain["bound"], rel=1e-12)
    np.testing.assert_allclose(one_device["norms"], plain["norms"], rtol=1e-10)


def test_four_devices(one_device):
    found = _result(_start(4))
    assert found["devices"] == 4
    assert "rows" in found["rows"]  # q(x) stays cut
    _check_same(found, one_device)


def test_two_processes_with_rows_of_their_own(one_device):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    found = [_result(process) for process in [_start(1, rank, 2, port) for rank in range(2)]]
    assert [each["devices"] for each in found] == [2, 2]
    assert found[0]["fit"] == found[1]["fit"]
    assert found[1]["resumed"]
    _check_same(found[0], one_device)
    # The first process has the incomplete rows, in their order, and takes those back.
    np.testing.assert_allclose(found[0]["own_rows"], one_device["own_rows"], atol=1e-5)
    assert found[1]["own_rows"] == []
