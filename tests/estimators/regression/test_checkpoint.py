"""A fit that is killed, however often, ends with the digits of one that is not."""

import json
import random
import subprocess
import time

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import semigp
from semigp import storage
from semigp.core.devices.processes import Processes
from semigp.estimators.regression import checkpoint as module
from semigp.estimators.regression.checkpoint import Checkpoint, KeptSearch

from .test_across_processes import finish, start

GAUSSIAN = {"posterior": "gaussian", "max_iter": 200}
AUTO = {"n_draws": 3, "max_iter": 200}  # a mixture of three components


class _Kills:
    """A fit that is killed (SIGKILL) again and again, and started again, with a look at its folder after every kill.

    A quarter of the kills meets imports, the others the fit: compiling, iterations, and writes, one after every
    iteration. Where a fit ends before it is killed, the next one begins anew.
    """

    def __init__(self, tmp_path, options, pause):
        self.told, self.dice = {"options": options, "pause": pause}, random.Random(0)
        self.folder, self.out = tmp_path / "checkpoint", tmp_path / "found.json"
        self.ends = self.resumed = self.writing = 0
        self.reached = ""  # the name of the latest state of the fit that is under way
        began = time.monotonic()
        process = start(self.out, **self.told, checkpoint=str(tmp_path / "other"))
        process.stdout.readline()
        self.importing = time.monotonic() - began
        self.expected = finish(process, self.out)
        self.lasted = time.monotonic() - began - self.importing

    def kill(self):
        """Start the fit, and kill it at a random moment, unless it ends before; whether it was killed."""
        process = start(self.out, **self.told, checkpoint=str(self.folder))
        seconds = self.dice.uniform(0, self.importing)
        if self.dice.random() < 0.75:
            process.stdout.readline()
            self.resumed += self.reached != ""
            seconds = self.dice.uniform(0, self.lasted)
        try:
            _, errors = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            self.look(is_clearing="clearing" in process.communicate()[0])
            return True
        self.check_end(process, errors)
        return False

    def look(self, is_clearing):
        """Every file in the folder is whole, and nothing that was reached is lost, unless the fit had ended."""
        for path in self.folder.glob("*.checkpoint"):
            storage.read(path, {})  # raises if the file is damaged
        self.writing += any(self.folder.glob(".*"))
        latest = max((path.name for path in self.folder.glob("part-*")), default="")  # "finished" is after all digits
        assert is_clearing or latest >= self.reached
        self.reached = latest

    def check_end(self, process, errors):
        """The same digits as those of the fit that nobody killed, and an empty folder."""
        assert process.returncode == 0, errors
        assert json.loads(self.out.read_text()) == self.expected
        assert not list(self.folder.iterdir())
        self.ends, self.reached = self.ends + 1, ""


def _check_kills(tmp_path, options, kills, pause=0.005):
    """The oracle is the fit that nobody kills: all numbers are the very same, so there is no tolerance."""
    fit = _Kills(tmp_path, options, pause)
    began, killed = time.monotonic(), 0
    while killed < kills:
        killed += fit.kill()
    process = start(fit.out, **fit.told, checkpoint=str(fit.folder))
    fit.check_end(process, process.communicate(timeout=300)[1])
    print(
        f"{killed} kills in {time.monotonic() - began:.0f} s, within {fit.importing:.1f} s of imports or "
        f"{fit.lasted:.1f} s of the fit; {fit.resumed} starts from a state that was kept, {fit.writing} kills while a "
        f"file was written, {fit.ends} fits that ended"
    )
    assert fit.resumed or kills < 10


def test_killed_a_few_times(tmp_path):
    """See `_check_kills`."""
    _check_kills(tmp_path, GAUSSIAN, kills=3)


@pytest.mark.slow
@pytest.mark.parametrize(("options", "kills"), [(GAUSSIAN, 200), (AUTO, 20)], ids=["gaussian", "auto"])
def test_killed_many_times(tmp_path, options, kills):
    """See `_check_kills`."""
    _check_kills(tmp_path, options, kills)


# ---- in this process, stopped by a callback, which leaves the files as a kill would


@pytest.fixture
def problem():
    numbers = np.random.default_rng(0)
    X = numbers.normal(size=(50, 2))
    y = np.sin(X[:, 0]) + X[:, 1] + 0.3 * numbers.normal(size=50)
    X[::5, 0] = np.nan
    return X, y


@pytest.fixture
def stopped(problem, tmp_path, monkeypatch):
    """A fit that was stopped after 14 iterations, with all states kept; the folder; what it would have found."""
    monkeypatch.setattr(module, "EVERY_SECONDS", 0.0)
    options = {"n_inducing": 8, "posterior": "gaussian", "random_state": 0, "checkpoint": tmp_path / "folder"}
    calm = semigp.SemiDescribedGPRegressor(**options).fit(*problem)
    seen = []
    stopped = semigp.SemiDescribedGPRegressor(callback=lambda progress: seen.append(1) or len(seen) == 14, **options)
    stopped.fit(*problem)
    assert stopped.fit_report_.status == "interrupted"
    return stopped.set_params(callback=None), tmp_path / "folder", calm


def _check_same(found, expected):
    np.testing.assert_array_equal(found.fit_report_.trace, expected.fit_report_.trace)
    np.testing.assert_array_equal(found.impute(), expected.impute())


def test_taken_up_where_it_was(stopped, problem):
    model, folder, calm = stopped
    assert len(list(folder.glob("part-0001-*"))) == 2  # the two latest
    seen = []
    model.set_params(callback=lambda progress: seen.append(1) and False).fit(*problem)
    _check_same(model, calm)
    assert len(seen) == len(calm.fit_report_.trace) - 14
    assert not list(folder.iterdir())


def test_files_are_removed_so_that_a_kill_leaves_a_state(tmp_path, monkeypatch):
    """Latest states first, the seed last: what is left between two removals is what an earlier kill would have left."""
    kept = Checkpoint(tmp_path, "", Processes(semigp.row_mesh()))
    kept.put("seed", 7)
    first, second = kept.next_part(), kept.next_part()
    first.store({"trace": np.zeros(5)}, is_finished=False)
    first.store({"trace": np.zeros(9)}, is_finished=True)
    second.store({"trace": np.zeros(3)}, is_finished=False)
    second.store({"trace": np.zeros(4)}, is_finished=True)
    removed = []
    monkeypatch.setattr(Checkpoint, "_remove", lambda self, paths: removed.extend(path.name[:18] for path in paths))
    kept.clear()
    states = ["part-0002-finished", "part-0002-00000003", "part-0001-finished", "part-0001-00000005"]
    assert removed == [*states, "seed.0-of-1.checkp"]


@pytest.mark.parametrize("harm", ["cut", "changed"])
def test_damaged_file_is_left_out(stopped, problem, harm):
    model, folder, calm = stopped
    latest = max(folder.glob("part-*"))
    content = latest.read_bytes()
    latest.write_bytes(content[: len(content) // 2] if harm == "cut" else content[:-50] + bytes(50))
    with pytest.warns(UserWarning, match="is damaged.* goes on from an earlier state"):
        model.fit(*problem)
    _check_same(model, calm)


def test_half_written_file_is_removed(stopped, problem):
    model, folder, calm = stopped
    (folder / ".part-0001-00000015.0-of-1.checkpoint.ab12").write_bytes(b"semigp")
    model.fit(*problem)
    _check_same(model, calm)
    assert not list(folder.iterdir())


@pytest.mark.parametrize("change", ["data", "parameter", "processes"])
def test_another_fit_is_refused(stopped, problem, change):
    model, folder, _ = stopped
    X, y = problem
    if change == "data":
        y = y + 1e-12
    elif change == "parameter":
        model.set_params(n_inducing=9)
    else:
        latest = max(folder.glob("part-*"))
        latest.rename(folder / latest.name.replace("0-of-1", "0-of-2"))
    with pytest.raises(
        ValueError, match=r"folder holds the checkpoint of another fit.* Give another folder, or delete"
    ):
        model.fit(X, y)


def test_random_state_of_nobody_is_kept(problem, tmp_path, monkeypatch):
    """Without a number to start from, a fit that goes on has that of the one before."""
    monkeypatch.setattr(module, "EVERY_SECONDS", 0.0)
    model = semigp.SemiDescribedGPRegressor(
        8, posterior="mixture", n_draws=2, checkpoint=tmp_path, callback=lambda progress: progress.part == 2
    )
    model.fit(*problem)
    first = model.fit_report_.trace
    model.set_params(callback=None).fit(*problem)
    np.testing.assert_array_equal(model.fit_report_.trace, first)


def test_without_a_checkpoint_the_same_optimum(problem, tmp_path):
    plain = semigp.SemiDescribedGPRegressor(8, posterior="gaussian", random_state=0).fit(*problem)
    kept = semigp.SemiDescribedGPRegressor(8, posterior="gaussian", random_state=0, checkpoint=tmp_path).fit(*problem)
    assert kept.bound_ == pytest.approx(plain.bound_, abs=0.3)


def test_iteration_limit_is_told(problem, tmp_path):
    model = semigp.SemiDescribedGPRegressor(8, max_iter=2, posterior="gaussian", checkpoint=tmp_path, random_state=0)
    with pytest.warns(ConvergenceWarning, match="iteration limit"):
        model.fit(*problem)


# ---- several processes, of which this one is the first


class _Pretended(Processes):
    """Two processes, the other one having kept `other`."""

    count, rank, other = 2, 0, ()

    def gather_rows(self, rows):
        return np.concatenate([rows, np.array(self.other, int).reshape(-1, 2)])

    def gather(self, values):
        return np.stack([values, values])


@pytest.mark.parametrize(
    ("other", "begin"),
    [
        ([(1, 5), (1, 10)], (1, 10)),
        ([(1, 5)], (1, 5)),  # it was killed before it kept the latest
        ([(1, 10), (1, 2**62)], (1, 10)),  # this one was killed before it kept the result
        ([], None),
    ],
)
def test_processes_agree_on_the_latest_state_of_all(tmp_path, other, begin):
    pretended = _Pretended(semigp.row_mesh())
    first = Checkpoint(tmp_path, "", pretended)
    part = first.next_part()
    for count in (3, 5, 10):
        part.store({"trace": np.zeros(count)}, is_finished=False)
    pretended.other = other
    again = Checkpoint(tmp_path, "", pretended)
    assert again.begin == begin
    state = KeptSearch(again, 1).load()
    assert (None if state is None else (1, len(state["trace"]))) == begin
    # What is beyond is forgotten: else the two latest of this process might soon be none of the other's.
    assert max(again._places(), default=None) == begin
