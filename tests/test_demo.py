"""The demo does what it says: it recovers entries, beats filling with the mean, and writes what it found."""

import numpy as np

from semigp import demo


def test_demo(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    demo.main()
    printed = capsys.readouterr().out
    assert str(demo.OUTPUT) in printed
    table = np.genfromtxt(tmp_path / demo.OUTPUT, delimiter=",", names=True)
    error = table["recovered_mean"] - table["hidden_value"]
    assert np.sqrt(np.mean(error**2)) < 0.5 * np.sqrt(np.mean(table["hidden_value"] ** 2))
    assert np.all(table["recovered_std"] > 0)
