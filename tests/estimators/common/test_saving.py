"""A saved model predicts what it predicted, bit for bit, in a process that has never seen the data; nothing else loads.

The oracle is the model itself before it was saved. Files are changed one byte at a time, at every place that means
something, and must be refused.
"""

import hashlib
import json
import os
import stat
import subprocess
import sys
from datetime import timedelta, timezone
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import semigp
from semigp import BayesianGPLVM, GPForecaster, GPImputer, SemiDescribedGPRegressor, SemiSupervisedGPClassifier
from semigp.storage import files as storage
from tests.golden.make import ask

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def _table(n=30, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 2))
    y = np.column_stack([np.sin(X[:, 0]) + X[:, 1], X[:, 0] - X[:, 1]]) + 0.05 * random.normal(size=(n, 2))
    X[random.random(X.shape) < 0.2] = np.nan
    return X, y


@pytest.fixture(scope="module")
def regressor():
    X, y = _table()
    frame = pd.DataFrame(X, columns=["a", "b"], index=[f"row {i}" for i in range(len(X))])
    return SemiDescribedGPRegressor(10, n_draws=2, max_iter=20, random_state=0, posterior="mixture").fit(frame, y)


@pytest.fixture
def saved(regressor, tmp_path):
    regressor.save(tmp_path / "model.semigp")
    return tmp_path / "model.semigp"


ASK = """
import sys, numpy as np, semigp
model = semigp.load(sys.argv[1])
print(repr(model.predict(np.array([[0.3, -0.5], [0.1, np.nan]]), return_std=True)))
"""


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_regressor(regressor, saved):
    expected = repr(regressor.predict(np.array([[0.3, -0.5], [0.1, np.nan]]), return_std=True))
    asked = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ASK, saved], capture_output=True, text=True, check=True
    )
    assert asked.stdout.strip() == expected
    again = semigp.load(saved)
    pd.testing.assert_frame_equal(again.impute(), regressor.impute())
    np.testing.assert_array_equal(again.feature_names_in_, ["a", "b"])
    assert again.fit_report_.stages == regressor.fit_report_.stages
    assert again.get_params() == regressor.get_params()


def test_particles_that_have_predicted(tmp_path):
    """What was computed for predictions is not in the file. Nor is `verbose`: whoever loads it decides."""
    X, y = _table()
    model = SemiDescribedGPRegressor(10, n_draws=2, verbose=True, random_state=0).fit(X, y)
    model.save(tmp_path / "before")
    expected = model.predict(X)
    model.save(tmp_path / "after")
    assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()
    again = semigp.load(tmp_path / "after")
    np.testing.assert_array_equal(again.predict(X), expected)
    assert again.verbose is False


@pytest.mark.parametrize("error_bars", [False, True])
def test_gaussian_regressor(tmp_path, error_bars):
    X, y = _table()
    options = {"input_prior": "standard"} if not error_bars else {}
    model = SemiDescribedGPRegressor(10, max_iter=10, random_state=np.random.RandomState(0), **options)
    X, error = (np.nan_to_num(X), np.full(X.shape, 0.1)) if error_bars else (X, None)
    model.set_params(callback=lambda progress: progress.iteration > 8).fit(X, y[:, 0], error)
    model.save(tmp_path / "m")
    again = semigp.load(tmp_path / "m")
    np.testing.assert_array_equal(again.predict(X, X_std=error), model.predict(X, X_std=error))
    np.testing.assert_array_equal(again.sample_y(X, 2, 0), model.sample_y(X, 2, 0))
    assert again.callback is None
    assert again.random_state is None


@pytest.mark.parametrize("index", [
    None,
    pd.date_range("2020-01-31", periods=50, freq="ME", name="month"),
    pd.date_range("2020-01-01", periods=50, freq="h", tz="Europe/Paris"),
    pd.period_range("2020-01", periods=50, freq="M"),
    pd.RangeIndex(10, 60),
    pd.Index(np.arange(50) * 0.5),
    pd.timedelta_range("0s", periods=50, freq="5s", name=("a", "b")),
    pd.Index([f"step {i}" for i in range(50)]),
])  # fmt: skip
def test_forecaster(tmp_path, index):
    values = np.sin(np.arange(50) / 3)
    values[20:22] = np.nan if index is None else values[20:22]
    series = values if index is None else pd.Series(values, index=index, name="wave")
    model = GPForecaster(3, n_draws=2, max_iter=30, random_state=0).fit(series)
    model.save(tmp_path / "m")
    again, expected = semigp.load(tmp_path / "m"), model.forecast(5)
    np.testing.assert_array_equal(again.forecast(5).paths, expected.paths)
    pd.testing.assert_frame_equal(again.forecast(5).to_frame(), expected.to_frame())
    np.testing.assert_array_equal(np.asarray(again.impute()), np.asarray(model.impute()))
    later = values[-3:]
    pd.testing.assert_frame_equal(
        again.update(later).forecast(2).to_frame(), model.update(later).forecast(2).to_frame()
    )


@pytest.mark.parametrize("kind", ["spike", "jump", "logarithms", "season", "columns"])
def test_forecaster_with_all_that_it_may_have_learned(tmp_path, kind):
    """All priors, gaps, a scale of logarithms, offsets and seasons: the same paths, before and after an update."""
    random = np.random.default_rng(0)
    values = random.normal(size=(150, 2 if kind == "columns" else 1))
    values[60:63, 0] = np.nan
    if kind == "logarithms":
        values = np.exp(np.cumsum(np.nan_to_num(values), axis=0) / 10)
    if kind == "season":
        values += 5.0 * np.sin(2 * np.pi * np.arange(150) / 12)[:, None]
    if kind in ("spike", "jump"):
        values[90 : 91 if kind == "spike" else None] += 200.0
    model = GPForecaster(2, n_draws=2, random_state=0).fit(values)
    model.save(tmp_path / "m")
    again = semigp.load(tmp_path / "m")
    np.testing.assert_array_equal(again.forecast(5).paths, model.forecast(5).paths)
    np.testing.assert_array_equal(again.forecast(3, "full").std, model.forecast(3, "full").std)
    assert again.weights_ == model.weights_
    assert again.seasons_ == model.seasons_
    new = values[-4:]
    np.testing.assert_array_equal(again.update(new).forecast(5).paths, model.update(new).forecast(5).paths)


@pytest.mark.parametrize("back_constrained", [False, True])
def test_latent_variable_model(tmp_path, back_constrained):
    _, y = _table()
    y[::4, 1] = np.nan
    model = BayesianGPLVM(1, n_inducing=8, max_iter=10, back_constrained=back_constrained, random_state=0).fit(y)
    model.save(tmp_path / "m")
    again = semigp.load(tmp_path / "m")
    for method in ("transform", "impute"):
        np.testing.assert_array_equal(getattr(again, method)(y), getattr(model, method)(y))


def test_classifier(tmp_path):
    _, y = _table(60)
    names = np.where(y[:, 0] > 0, "up", "down").astype(object)
    names[20:] = None
    model = SemiSupervisedGPClassifier(2, n_inducing=10, max_iter=10, random_state=0).fit(y, names)
    model.save(tmp_path / "m")
    again = semigp.load(tmp_path / "m")
    np.testing.assert_array_equal(again.predict_proba(y), model.predict_proba(y))
    np.testing.assert_array_equal(again.predict(y), model.predict(y))
    np.testing.assert_array_equal(again.relabel(names).transduction_, model.transduction_)


def test_what_cannot_be_saved(tmp_path, regressor):
    _, y = _table()
    model = SemiSupervisedGPClassifier(2, n_inducing=8, max_iter=5, classifier=LogisticRegression(), random_state=0)
    model.fit(y, (y[:, 0] > 0).astype(int))
    with pytest.raises(TypeError, match=r"SemiSupervisedGPClassifier.classifier is a LogisticRegression, which cannot"):
        model.save(tmp_path / "m")
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="not fitted"):
        SemiDescribedGPRegressor().save(tmp_path / "m")
    with pytest.raises(FileNotFoundError):
        regressor.save(tmp_path / "no such folder" / "m")


@pytest.mark.parametrize("index", [
    pd.date_range("2020-01-01", periods=20, freq=pd.DateOffset(months=1)),
    pd.date_range("2020-01-01", periods=20, freq=pd.offsets.CustomBusinessDay(holidays=["2020-01-06"])),
    pd.date_range("2020-01-01", periods=20, tz="dateutil/Europe/Paris"),
    pd.date_range("2020-01-01", periods=20, tz=timezone(timedelta(hours=2), "CEST")),
])  # fmt: skip
def test_an_index_that_would_not_come_back_is_not_saved(tmp_path, index):
    model = GPImputer(2, random_state=0).fit(pd.DataFrame(_table(20)[0], index))
    with pytest.raises(TypeError, match=r"_rows.kind.index has the frequency .* and the time zone .* cannot be saved"):
        model.save(tmp_path / "m")


def test_tables_of_pandas_come_back(tmp_path):
    index = pd.MultiIndex.from_product([["x", "y"], pd.date_range("2020", periods=10)], names=["who", "when"])
    for frame in (pd.DataFrame(_table(20)[0]), pd.DataFrame(_table(20)[0], index, [("a", "b"), ("a", "c")])):
        model = GPImputer(2, random_state=0).fit(frame)
        model.save(tmp_path / "m")
        pd.testing.assert_frame_equal(semigp.load(tmp_path / "m").impute(), model.impute())
        pd.testing.assert_index_equal(model.impute().index, frame.index)
        pd.testing.assert_index_equal(model.impute().columns, frame.columns, exact=False)


def test_links_rights_and_pipes_stay(tmp_path, regressor):
    file, link, pipe = (tmp_path / name for name in ("file", "link", "pipe"))
    file.touch()
    file.chmod(0o640)
    link.symlink_to(file)
    os.mkfifo(pipe)
    regressor.save(link)
    assert link.is_symlink()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert semigp.load(file).output_names_ is None
    with pytest.raises(OSError, match="Not a file that can be replaced"):
        regressor.save(pipe)
    regressor.save(tmp_path / "new")
    other = tmp_path / "other"
    other.touch()
    assert (tmp_path / "new").stat().st_mode == other.stat().st_mode
    assert len(list(tmp_path.iterdir())) == 5


def _with_header(content: bytes, change) -> bytes:
    """The file with another header, and a checksum that fits."""
    start = len(storage._MAGIC) + 8
    end = start + int.from_bytes(content[len(storage._MAGIC) : start], "little")
    header = json.loads(content[start:end])
    change(header)
    text = json.dumps(header).encode()
    body = storage._MAGIC + len(text).to_bytes(8, "little") + text + content[end:-32]
    return body + hashlib.sha256(body).digest()


def _set(**entries):
    return lambda header: header.update(entries)


@pytest.mark.parametrize(("change", "message"), [
    (_set(format=2), "has format 2; this version reads format 1"),
    (_set(objects=[["Popen", {}]]), "holds a 'Popen', which this version does not know"),
    (_set(arrays=[["|O8", [1], 0]]), "array of type"),
    (_set(arrays=[["<f8", [10**12], 0]]), "buffer is smaller than requested size"),
    (_set(arrays=[["<f8", [1], -8]]), "array of type"),
    (_set(root={"call": "os.system"}), "does not hold a model that can be restored"),
    (_set(root={"object": 10**9}), "does not hold a model that can be restored"),
    (_set(arrays=[["<f8", [1], 0]] * 2), "begins at 0, but the one before it ends at 8"),
    (_set(arrays=[["i4,(", [1], 0]]), "array of type"),
    (_set(objects=[["GPImputer", {}]], root={"object": 0}), "holds a GPImputer that was never fitted"),
    (_set(objects=[["GPImputer", {"fit": 1}]], root={"object": 0}), "has a value for 'fit', which is not an attribute"),
    (_set(objects=[["GPImputer", {"__class__": 1}]], root={"object": 0}), "has a value for '__class__'"),
    (_set(root={"index": {"name": None, "times": {"list": []}, "zone": "dateutil//x", "frequency": None}}), "dateutil"),
    (_set(root=7), "holds a int, not an estimator"),
    (lambda header: header.pop("root"), "does not hold a model that can be restored"),
])  # fmt: skip
def test_hostile_files(saved, change, message):
    saved.write_bytes(_with_header(saved.read_bytes(), change))
    with pytest.raises(ValueError, match=message):
        semigp.load(saved)


def test_damaged_files(saved, tmp_path):
    content = saved.read_bytes()
    places = [len(storage._MAGIC) + 1, 40, len(content) // 2, len(content) - 1]
    for place in places:
        saved.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(storage.NotAModel, match="damaged"):
            semigp.load(saved)
        saved.write_bytes(content[:place])
        with pytest.raises(storage.NotAModel, match="damaged"):
            semigp.load(saved)
    saved.write_bytes(b"PK\x03\x04")
    with pytest.raises(storage.NotAModel, match="not a file written by save"):
        semigp.load(saved)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory as Linux does")
@pytest.mark.parametrize("count", [2000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_tampered_files_are_refused_or_load_and_nothing_else_happens(count):
    """See `fuzz.models`, which says of every file what may happen."""
    tests = Path(__file__).parents[2]
    files = sorted((tests / "golden" / semigp.__version__).glob("*.semigp"))
    command = [sys.executable, tests / "fuzz" / "models.py", str(count), "0", *files]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    refused, loaded = map(int, run.stdout.split())
    assert refused + loaded == count
    assert min(refused, loaded) > count / 50  # else the mutations would be too timid, or too coarse


@pytest.mark.parametrize("file", sorted((Path(__file__).parents[2] / "golden").glob("*/*.semigp")), ids=str)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_models_of_released_versions_load(file):
    """And predict what they predicted, to 1e-8: rounding may differ between versions of JAX."""
    expected = json.loads((file.parent / "expected.json").read_text())[file.stem]
    np.testing.assert_allclose(ask(semigp.load(file)), expected, rtol=1e-8, atol=1e-10)


def test_there_is_a_released_model_of_every_estimator():
    """Oracle: the public names of the package that can be saved."""
    files = (Path(__file__).parents[2] / "golden" / semigp.__version__).glob("*.semigp")
    public = {name for name in semigp.__all__ if hasattr(getattr(semigp, name), "save")}
    assert {type(semigp.load(file)).__name__ for file in files} == public


def test_others_may_read_the_file_as_the_umask_says(regressor, tmp_path):
    before = os.umask(0o022)
    try:
        regressor.save(tmp_path / "m")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "m").stat().st_mode) == 0o644


KILLED = """
import os, random, signal, sys, time
from pathlib import Path
import semigp

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def half_written(handle, mode):
    os.write(handle, b"semigp model")
    die()

def then_die(do):
    return lambda *arguments: (do(*arguments), die())

def kill(seconds, **patched):
    child = os.fork()
    if not child:
        for name, instead in patched.items():
            setattr(os, name, instead)
        while True:
            new.save(path)
            old.save(path)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL) if not patched else None
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    semigp.load(path)
    return "new" if path.read_bytes() == contents["new"] else "old" if path.read_bytes() == contents["old"] else "?"

path, contents = Path(sys.argv[1]), {}
new, old = map(semigp.load, sys.argv[2:])
for name, model in (("new", new), ("old", old)):
    model.save(path)
    contents[name] = path.read_bytes()
for patched in ({"fdopen": half_written}, {"fsync": die}, {"replace": die}, {"replace": then_die(os.replace)}):
    print(kill(0.0, **patched))
dice = random.Random(0)
for _ in range(40):
    print(kill(dice.uniform(0.0, 0.03)))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked processes")
def test_old_or_new_file_survives_a_kill(tmp_path):
    """Killed while half is written, before it is on the disk, before and after it takes the old one's place; then at 40
    random moments. The oracles are the two files that undisturbed saves wrote: nothing else may ever be there.
    """
    golden = Path(__file__).parents[2] / "golden" / semigp.__version__
    path, names = tmp_path / "model.semigp", ("imputer", "latent")
    command = [sys.executable, "-W", "ignore", "-c", KILLED, path, *(golden / f"{name}.semigp" for name in names)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    found = run.stdout.split()
    assert found[:4] == ["old", "old", "old", "new"]
    assert len(found) == 44
    assert set(found) == {"old", "new"}
    left = [file for file in tmp_path.iterdir() if file != path]
    assert len(left) >= 3  # what the killed were writing
    model = semigp.load(path)
    expected = json.loads((golden / "expected.json").read_text())
    np.testing.assert_allclose(ask(model), expected[names[isinstance(model, BayesianGPLVM)]], rtol=1e-8, atol=1e-10)
    for file in left[1:]:
        os.utime(file, (0, path.stat().st_mtime - 2 * storage._ABANDONED))
    model.save(path)
    assert set(tmp_path.iterdir()) == {path, left[0]}  # nobody is writing the old ones; somebody may be writing that


def test_old_file_survives_a_failed_save(saved, regressor, monkeypatch):
    before = saved.read_bytes()

    def full(handle):
        raise OSError("No space left on device")

    monkeypatch.setattr(storage.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        regressor.save(saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]
