"""Fits in batches. Oracles: the collapsed fit to all rows at once, the same rows from another source."""

import os
import subprocess
import sys
from datetime import date

import numpy as np
import polars as pl
import pytest

import semigp
from semigp import ParquetRows, StreamingGPRegressor, scores
from semigp.core.inputs.joint_gaussian import complete_rows
from semigp.core.search.stages import Stage
from semigp.core.sparse.defaults import IDLE, default_hyperpriors, default_kernel
from semigp.core.sparse.fit import fit
from semigp.core.sparse.model import make_data, posterior, start
from semigp.estimators.streaming import batches, first_pass, row_sources
from semigp.estimators.streaming import regressor as streaming

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def _table(n, seed=0, share=0.3):
    """Three correlated inputs, of which a share of the rows lacks one, and an output; and the inputs in full."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3)) @ np.array([[1.0, 0.4, 0.2], [0.0, 0.9, 0.3], [0.0, 0.0, 0.9]])
    y = np.sin(1.5 * X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + 0.3 * random.normal(size=n)
    rows = np.flatnonzero(random.random(n) < share)
    holes = X.copy()
    holes[rows, random.integers(3, size=len(rows))] = np.nan
    return holes, y, X


def _small(**options):
    return StreamingGPRegressor(**{"n_inducing": 15, "batch_size": 100, "n_passes": 2, "random_state": 0} | options)


@pytest.mark.slow
def test_reaches_the_collapsed_fit(monkeypatch):
    """Bound within 1 %, NLPD of new rows within 0.02, from a sample of half of the rows."""
    monkeypatch.setattr(streaming, "_SAMPLE_ROWS", 600)
    X, y, _ = _table(1200)
    model = StreamingGPRegressor(20, batch_size=200, random_state=0).fit(X, y)
    collapsed, bound = _collapsed(model, X, y)
    assert model.bound_ > bound - 0.01 * abs(bound)
    _, truth, inputs = _table(1000, seed=1)
    found = _nlpd(model, inputs, truth)
    model._posterior = collapsed
    assert found < _nlpd(model, inputs, truth) + 0.02


def _collapsed(model, X, y):
    """L-BFGS on all rows, with the same kernel, priors, units, and number of inducing points."""
    inputs, targets = model._x_units.standard(X), model._y_units.standard(y[:, None])
    data = make_data(inputs, targets, prior=model._prior, hyperpriors=default_hyperpriors(3, False, 0.5))
    inducing = np.random.default_rng(0).permutation(inputs[~np.isnan(inputs).any(axis=1)])[:20]
    begin = start(data, default_kernel(3, False), inducing, [0.05], [1.0], variance=0.1)
    found, report = fit(begin, data, [Stage("all", 1500, IDLE[:1])], 1e-9)
    return posterior(found, data), report.bound


def _nlpd(model, X, y):
    mean, std = model.predict(X, return_std=True)
    return scores.negative_log_density(y, mean, std)


def test_parquet_is_the_same_as_arrays(tmp_path, monkeypatch):
    """The same blocks from files give the same model, bit for bit."""
    monkeypatch.setattr(row_sources, "_ARRAY_BLOCK", 150)
    monkeypatch.setattr(row_sources, "_PARQUET_BLOCK", 150)
    X, y, _ = _table(400)
    table = pl.DataFrame(X, schema=["a", "b", "c"]).fill_nan(None).with_columns(y=pl.Series(y))
    table[:300].write_parquet(tmp_path / "1.parquet", row_group_size=70)
    table[300:].write_parquet(tmp_path / "2.parquet")
    of_files = _small().fit(ParquetRows(tmp_path, ["a", "b", "c"], "y"))
    of_arrays = _small().fit(X, y)
    assert of_files.bound_ == of_arrays.bound_
    np.testing.assert_array_equal(of_files.predict(table.select("a", "b", "c")), of_arrays.predict(X))
    assert list(of_files.feature_names_in_) == ["a", "b", "c"]
    assert of_files.output_names_ == ["y"]


def test_every_row_comes_by_once(monkeypatch):
    """Sums over a pass are those of the table, whatever the blocks, with kinds of rows that come in runs."""
    monkeypatch.setattr(row_sources, "_ARRAY_BLOCK", 64)
    monkeypatch.setattr(batches, "_BUFFER_ROWS", 128)
    X, y, _ = _table(500)
    order = np.argsort(np.isnan(X).any(axis=1), kind="stable")
    X, y = X[order], y[order]
    source = row_sources.ArrayRows(X, y)
    known = first_pass.first_pass(source, 50, np.random.default_rng(0))
    np.testing.assert_allclose(known.x_units.mean, np.nanmean(X, axis=0), rtol=1e-12)
    np.testing.assert_allclose(known.y_units.std, y.std(), rtol=1e-12)
    found, shapes = [], set()
    for batch in batches.Batches(source, known, 100).once():
        for targets in (batch.observed.targets, batch.incomplete.targets):
            found.append(targets.values[targets.weights[:, 0] > 0, 0])
        shapes.add((batch.observed.mean.shape, batch.incomplete.values.shape))
    np.testing.assert_allclose(np.sort(np.concatenate(found)), np.sort(known.y_units.standard(y[:, None])[:, 0]))
    assert len(shapes) == 1


def test_batches_have_rows_from_all_over_a_file(tmp_path):
    """Else a sorted file would be learned from one end to the other. Oracle: y is the number of the row."""
    n = 200_000
    pl.DataFrame({"a": np.arange(n) / n, "y": np.arange(n)}).write_parquet(tmp_path / "t.parquet")
    source = ParquetRows(tmp_path / "t.parquet", ["a"], "y")
    known = first_pass.first_pass(source, 100, np.random.default_rng(0))
    batch = next(batches.Batches(source, known, 2000).endless(np.random.default_rng(0)))
    rows = known.y_units.natural(np.asarray(batch.observed.targets.values)[:2000])
    assert len(np.unique(rows // 2**14)) == 4
    assert np.std(rows) > n / 10


@pytest.mark.slow
@pytest.mark.parametrize("order", ["a", "y"])
def test_sorted_file(tmp_path, order):
    """Two million rows, sorted by an input or by the output: the log density of new rows is that of a file in no order.

    To .005 nats: three files in three random orders differ by .001. Sorted by y it was lower by .05, and standard
    deviations by a fifth, where blocks had 131,072 rows.
    """
    random = np.random.default_rng(0)

    def rows(n):
        X = random.normal(size=(n, 3))
        return X, np.sin(2.5 * X[:, 0]) + X[:, 1] * np.cos(X[:, 2]) + 0.2 * random.normal(size=n)

    table, new = (pl.DataFrame(np.column_stack(rows(n)), schema=["a", "b", "c", "y"]) for n in (2_000_000, 3000))
    found = []
    for name, each in (("any", table), ("sorted", table.sort(order))):
        each.write_parquet(tmp_path / f"{name}.parquet")
        source = ParquetRows(tmp_path / f"{name}.parquet", ["a", "b", "c"], "y")
        model = StreamingGPRegressor(random_state=0).fit(source)
        found.append(_nlpd(model, new.drop("y"), new["y"].to_numpy()))
    assert found[1] == pytest.approx(found[0], abs=0.005)


def test_outputs_with_holes(tmp_path):
    """Rows without outputs are passed over; what is learned of the others is saved and loaded."""
    X, y, _ = _table(300)
    outputs = np.column_stack([y, -y])
    outputs[::3, 1] = np.nan
    outputs[:10] = np.nan
    model = _small().fit(X, outputs)
    assert model.n_rows_ == 290
    mean, std = model.predict(X, return_std=True)
    assert mean.shape == std.shape == (300, 2)
    assert np.corrcoef(mean[:, 0], -mean[:, 1])[0, 1] > 0.9
    model.save(tmp_path / "model.semigp")
    np.testing.assert_array_equal(semigp.load(tmp_path / "model.semigp").predict(X), mean)


def test_a_callback_ends_the_fit():
    X, y, _ = _table(300)
    model = _small(callback=lambda progress: progress.part == 2).fit(X, y)
    assert model.fit_report_.status == "interrupted"
    assert np.isfinite(model.predict(X)).all()


def test_what_cannot_be_used_is_said(tmp_path):
    X, y, _ = _table(60)
    with pytest.raises(ValueError, match="infinite at row 7, column 1"):
        _small().fit(np.where(np.arange(180).reshape(60, 3) == 22, np.inf, X), y)
    with pytest.raises(ValueError, match="X has no value in column 1"):
        _small().fit(np.where(np.arange(3) == 1, np.nan, X), y)
    with pytest.raises(FileNotFoundError, match="pattern"):
        ParquetRows(tmp_path / "none-*.parquet", ["a"], "y")
    pl.DataFrame({"a": ["x"], "y": [1.0]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="no column 'b'; there are a, y"):
        ParquetRows(tmp_path / "t.parquet", ["b"], "y")
    with pytest.raises(ValueError, match="column 'a' holds String"):
        ParquetRows(tmp_path / "t.parquet", ["a"], "y")
    pl.DataFrame({"a": [1.0], "y": [1.0]}).write_parquet(tmp_path / "u.parquet")
    with pytest.raises(ValueError, match="leave y out"):
        _small().fit(ParquetRows(tmp_path / "u.parquet", ["a"], "y"), y)


HELD = """
import sys
import numpy as np
from semigp.estimators.streaming import batches, first_pass, row_sources
table = np.load(sys.argv[1], mmap_mode="r")
source = row_sources.ArrayRows(table[:, :3], table[:, 3])
known = first_pass.first_pass(source, 2000, np.random.default_rng(0))
stream = batches.Batches(source, known, 2000)
for batch in stream.once():
    pass
for batch, _ in zip(stream.endless(np.random.default_rng(0)), range(known.n_rows // 2000)):
    pass
# What a process holds of its own: pages of the file are the system's to take back.
print(max(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("RssAnon")))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_does_not_grow_with_the_rows(tmp_path):
    """Ten times the rows, 29 MB more of file: reading and batching hold no more than 4 MB more when they are done."""
    held = []
    for n in (100_000, 1_000_000):
        X, y, _ = _table(n)
        np.save(tmp_path / "table.npy", np.column_stack([X, y]))
        run = [sys.executable, "-c", HELD, tmp_path / "table.npy"]
        # With fixed thresholds the C library gives memory back when it is free, not when it sees fit: 0.5 MB of noise.
        fixed = os.environ | dict.fromkeys(("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"), "65536")
        held.append(int(subprocess.run(run, capture_output=True, text=True, check=True, env=fixed).stdout.split()[0]))
    assert held[1] - held[0] < 4096


class _TwoOutputs:
    """A source of rows that names nothing."""

    input_names = output_names = None
    n_blocks = 1

    def read(self, block):
        X, y, _ = _table(60)
        return X, np.column_stack([y, -y])


@pytest.fixture(scope="module")
def unnamed():
    return _small(n_passes=1, max_iter=20).fit(_TwoOutputs())


def test_a_source_with_several_outputs_and_no_names(unnamed):
    """Both are predicted; the second is the first with another sign, which the model learns to a tenth of the noise."""
    X, _, _ = _table(60)
    mean, std = unnamed.predict(X, return_std=True)
    assert mean.shape == std.shape == (60, 2)
    np.testing.assert_allclose(mean[:, 1], -mean[:, 0], atol=0.05)


def test_new_rows_with_error_bars_and_holes(unnamed):
    """An error bar widens the answer; a tiny one changes nothing to 1e-6; a hole is filled by the joint Gaussian."""
    _, _, X = _table(20, seed=1)
    mean, std = unnamed.predict(X, return_std=True)
    tiny, _ = unnamed.predict(X, return_std=True, X_std=np.full(X.shape, 1e-6))
    np.testing.assert_allclose(tiny, mean, atol=1e-6)
    _, wide = unnamed.predict(X, return_std=True, X_std=np.full(X.shape, 0.5))
    assert (wide > std).mean() > 0.9
    holes = X.copy()
    holes[:, 0] = np.nan
    filled, error = unnamed.impute(holes, return_std=True)
    np.testing.assert_array_equal(filled[:, 1:], X[:, 1:])
    expected = complete_rows(unnamed._prior, unnamed._x_units.standard(holes))[0]
    np.testing.assert_allclose(filled[:, 0], unnamed._x_units.natural(expected)[:, 0], rtol=1e-10)
    assert (error[:, 0] > 0).all()
    assert (error[:, 1:] == 0).all()
    informed, informed_error = unnamed.impute(holes, unnamed.predict(X), return_std=True)
    assert informed_error[:, 0].mean() < error[:, 0].mean()  # outputs tell about the inputs
    assert np.mean((informed[:, 0] - X[:, 0]) ** 2) < np.mean((filled[:, 0] - X[:, 0]) ** 2)


def test_samples_have_the_predicted_moments(unnamed):
    """100 draws: means within five standard errors, standard deviations within five of theirs, 5/√200 = 35 %."""
    X, _, _ = _table(6, seed=2)
    draws = unnamed.sample_y(X, 100, random_state=0)
    mean, std = unnamed.predict(X, return_std=True)
    assert draws.shape == (6, 2, 100)
    assert np.max(np.abs(draws.mean(axis=2) - mean) / std) < 5 / np.sqrt(100)
    np.testing.assert_allclose(draws.std(axis=2), std, rtol=0.35)


def _mixed(n=300):
    """A level of three that shifts the output, a date, a number with holes, and an identifier."""
    random = np.random.default_rng(3)
    kind, x, day = random.integers(3, size=n), random.normal(size=n), random.integers(365, size=n)
    y = np.sin(x) + np.array([-1.0, 0.0, 2.0])[kind] + day / 365 + 0.1 * random.normal(size=n)
    frame = pl.DataFrame({"id": np.arange(n), "kind": np.array(["a", "b", "c"])[kind], "x": x, "day": day})
    frame = frame.with_columns(day=pl.lit(date(2024, 1, 1)) + pl.duration(days=pl.col("day")))
    holes = pl.int_range(n)
    return frame.with_columns(
        pl.when(holes % 5 != 0).then("kind").alias("kind"), pl.when(holes % 7 != 0).then("x").alias("x")
    ), y


def test_columns_of_every_kind_are_fitted_as_their_expanded_table(tmp_path):
    """The oracle is the same model, fitted to the expanded table."""
    frame, y = _mixed()
    with pytest.warns(UserWarning, match="Columns are left out"):
        model = _small().fit(frame, y)
    columns = model._columns
    assert columns.names_of_used == ["kind", "x", "day"]
    numbers = columns.expand(columns.encode(frame))
    plain = _small().fit(numbers, y)
    for ours, theirs in zip(model.predict(frame, True), plain.predict(numbers, True), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    found = plain.relevance_
    np.testing.assert_array_equal(model.relevance_, [found[:3].max(), found[3], found[4]])
    bars = np.zeros((len(frame), 4))
    bars[:, 2] = 0.3
    expected = plain.predict(numbers, True, np.array([0, 0, 0, 0.3, 0]) * np.ones((len(frame), 1)))
    np.testing.assert_array_equal(model.predict(frame, True, bars), expected)
    with pytest.raises(ValueError, match="X_std is not 0 in column 'kind', which has levels"):
        model.predict(frame, X_std=bars + 1)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(semigp.load(tmp_path / "model").predict(frame), model.predict(frame))


def test_columns_of_every_kind_come_back_full():
    frame, y = _mixed()
    with pytest.warns(UserWarning, match="Columns are left out"):
        model = _small().fit(frame, y)
    filled, std = model.impute(frame, y, return_std=True)
    assert filled.schema == frame.schema
    assert not filled.null_count().sum_horizontal().item()
    for name in frame.columns:
        known = frame[name].is_not_null()
        assert filled[name].filter(known).equals(frame[name].filter(known))
    assert std.columns == ["kind", "x", "day"]
    assert (std["x"] > 0).equals(frame["x"].is_null())
