"""In a real terminal: a bar with bound and time left; Ctrl-C keeps the best model so far and says so."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

import semigp
from semigp.cli.problems import INTERRUPTED


class Terminal:
    """A command whose standard error is a terminal."""

    def __init__(self, folder, *words):
        self.master, slave = pty.openpty()
        environment = os.environ | {"TERM": "xterm", "COLUMNS": "160"}
        command = [sys.executable, "-c", "from semigp.cli import main; main()", *words]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=slave, cwd=folder, env=environment)
        os.close(slave)
        self.text = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.master)
        self.process.kill()
        self.process.wait()

    def read_until(self, pattern, seconds=120):
        end = time.monotonic() + seconds
        while not re.search(pattern, self.text):
            assert time.monotonic() < end, self.text
            if select.select([self.master], [], [], 0.2)[0]:
                try:
                    self.text += os.read(self.master, 65536).decode()
                except OSError:
                    break
            elif self.process.poll() is not None:
                break
        assert re.search(pattern, self.text), self.text


@pytest.fixture
def many_rows(tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 6))
    y = np.sin(X @ random.normal(size=6)) + 0.1 * random.normal(size=600)
    X[random.random(X.shape) < 0.02] = np.nan
    pl.DataFrame(np.column_stack([X, y]), schema=[*"abcdef", "y"]).fill_nan(None).write_csv(tmp_path / "many.csv")
    return tmp_path


def test_bar_and_interrupt(many_rows):
    words = ("regress", "many.csv", "--target", "y", "--save", "m.semigp", "--predict", "many.csv", "-o", "out.csv")
    with Terminal(many_rows, *words) as terminal:
        terminal.read_until(r"regress: (fit|trial).*bound -?[\d.]+.*about \d+ (s|min) left")
        terminal.process.send_signal(signal.SIGINT)
        terminal.read_until("Stopping at the next iteration")
        terminal.read_until("Written: m.semigp")
        assert terminal.process.wait(60) == INTERRUPTED
    assert "Interrupted: this is the best model so far." in terminal.text
    assert semigp.load(many_rows / "m.semigp").fit_report_.status == "interrupted"
    assert len(pl.read_csv(many_rows / "out.csv")) == 600


def test_second_interrupt_gives_up(many_rows):
    with Terminal(many_rows, "regress", "many.csv", "--target", "y", "--save", "m.semigp") as terminal:
        terminal.read_until("regress: ")
        terminal.process.send_signal(signal.SIGINT)
        terminal.read_until("Stopping at the next iteration")
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.process.wait(60) == INTERRUPTED


def test_a_bar_while_many_rows_are_imputed(many_rows):
    """A saved model, and 30,000 new rows: the share that is done, and the time left."""
    table = pl.read_csv(many_rows / "many.csv")
    semigp.GPImputer(2, max_iter=2, random_state=0).fit(table[:100]).save(many_rows / "m.semigp")
    new = np.tile(table.to_numpy(), (50, 1))
    new[::2, 0] = new[::3, 1] = new[::5, 2] = np.nan
    pl.DataFrame(new, schema=table.columns).fill_nan(None).write_csv(many_rows / "new.csv")
    with Terminal(many_rows, "impute", "new.csv", "--model", "m.semigp", "-o", "out.csv") as terminal:
        terminal.read_until(r"impute: missing entries.*\d+% about \d+ (s|min) left")
        terminal.read_until("Written: out.csv")
        assert terminal.process.wait(60) == 0
    assert not pl.read_csv(many_rows / "out.csv")["a"].has_nulls()


def test_an_interrupt_keeps_the_draws_of_an_imputer(many_rows):
    with Terminal(many_rows, "impute", "many.csv", "--draws", "500", "--save", "m.semigp", "-o", "out.csv") as terminal:
        terminal.read_until(r"impute: fit .*\d+% bound -?[\d.]+ about \d+ (s|min) left")
        terminal.process.send_signal(signal.SIGINT)
        terminal.read_until("Written: m.semigp")
        assert terminal.process.wait(60) == INTERRUPTED
    assert semigp.load(many_rows / "m.semigp").fit_report_.status == "interrupted"
