"""Where `semigp reproduce` and `semigp bench` write, with the experiments and the benchmarks replaced by stand-ins."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from semigp.benchmarks.measuring import Unmeasured
from semigp.cli import app as commands


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs a line in an empty folder; `run.folders` are the folders that the stand-ins were given."""
    monkeypatch.chdir(tmp_path)
    folders = []

    def reproduce(profile, folder, n_jobs):
        folders.append(folder)
        return []

    stand_in = SimpleNamespace(run=reproduce, main=folders.append)
    for module in (*commands.EXPERIMENTS.values(), *commands.BENCHMARKS.values()):
        monkeypatch.setitem(sys.modules, module, stand_in)

    def run(line):
        return CliRunner().invoke(commands.app, line.split())

    run.folders, run.stand_in = folders, stand_in
    return run


@pytest.mark.parametrize(
    ("line", "folder"),
    [
        ("reproduce calibration", "results/experiments"),
        ("reproduce calibration --quick", "build/quick"),
        ("reproduce calibration -o elsewhere", "elsewhere"),
        ("bench engine", "results/benchmarks"),
        ("bench engine -o elsewhere", "elsewhere"),
    ],
)
def test_tables_have_a_folder(run, line, folder):
    assert run(line).exit_code == 0
    assert run.folders == [Path(folder)]


def test_what_cannot_be_measured_is_told_and_the_others_go_on(run):
    def main(folder):
        raise Unmeasured("There is no GPU here.")

    run.stand_in.main = main
    one, every = run("bench gpu"), run("bench all")
    assert one.exit_code != 0
    assert "There is no GPU here." in one.stderr
    assert every.exit_code == 0
    assert "gpu: There is no GPU here." in every.stdout


def test_a_table_that_is_not_there_cannot_be_checked(run):
    done = run("reproduce calibration --check 2")
    assert done.exit_code == 2
    assert "There is no table results/experiments/calibration.csv that could be checked." in done.stderr


def test_a_table_that_does_not_hold_fails(run, tmp_path):
    """Stand-in cells return their own number, of which the table has another one for the second."""
    run.stand_in.cells = lambda profile: [(1,), (2,)]
    run.stand_in.run_cell = _cell
    (tmp_path / "calibration.csv").write_text("seed,way,score\n1,ours,1\n2,ours,2\n")
    assert run("reproduce calibration --check 2 -o .").exit_code == 0
    (tmp_path / "calibration.csv").write_text("seed,way,score\n1,ours,1\n2,ours,2.5\n")
    done = run("reproduce calibration --check 2 -o .")
    assert done.exit_code == 3
    assert done.stderr.splitlines()[-1].startswith("semigp: Tables and code differ by more than 0.1 %")
    told = "1 of 2 numbers are the same (cells: 2); the largest difference is 20 %, of score (2, ours)."
    assert told in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["calibration.csv"]


def _cell(number):
    return [{"seed": number, "way": "ours", "score": float(number)}]
