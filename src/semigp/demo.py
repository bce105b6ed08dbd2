"""The main job on data made here: a regression whose inputs have holes. Run with `make demo`."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from .estimators import SemiDescribedGPRegressor

OUTPUT = Path("build") / "demo" / "recovered.csv"


def make_data(n_rows: int, missing: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two inputs, three outputs: the inputs as they were, as they were recorded (NaN = hole), and the outputs."""
    random = np.random.default_rng(seed)
    truth = random.normal(size=(n_rows, 2))
    a, b = truth.T
    outputs = np.stack([np.sin(1.5 * a) + 0.5 * b, np.cos(1.5 * a) - b, 0.5 * a + np.sin(b)], axis=1)
    holes = random.random(truth.shape) < missing
    return truth, np.where(holes, np.nan, truth), outputs + 0.05 * random.normal(size=outputs.shape)


def rmse(difference: np.ndarray) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(difference**2)))


def main() -> None:
    """Make data, fit, and say what was recovered and where it is."""
    started = time.perf_counter()
    truth, recorded, outputs = make_data(n_rows=120, missing=0.4, seed=0)
    test_inputs, _, test_outputs = make_data(n_rows=500, missing=0.0, seed=1)
    incomplete = np.isnan(recorded).any(axis=1)
    holes = np.isnan(recorded)
    model = SemiDescribedGPRegressor(30, random_state=0).fit(recorded, outputs)
    complete = SemiDescribedGPRegressor(30, random_state=0).fit(recorded[~incomplete], outputs[~incomplete])
    error = rmse(model.predict(test_inputs) - test_outputs)
    error_complete = rmse(complete.predict(test_inputs) - test_outputs)
    found, spread = model.impute(return_std=True)
    hidden, mean, std = truth[holes], found[holes], spread[holes]
    covered = np.mean(np.abs(mean - hidden) < 1.96 * std)

    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    rows, columns = np.nonzero(holes)
    table = np.column_stack([rows, columns, hidden, mean, std])
    np.savetxt(OUTPUT, table, "%.6g", ",", header="row,column,hidden_value,recovered_mean,recovered_std", comments="")

    print(f"{len(recorded)} rows, {incomplete.sum()} of them with holes in the inputs ({holes.sum()} entries missing).")
    report = model.fit_report_
    print(f"Fit: {report.status} at bound {report.bound:.1f} after {len(report.trace)} iterations.")
    print(f"Missing entries, error (RMSE):  {rmse(mean - hidden):.3f}   filled with the mean: {rmse(hidden):.3f}")
    print(f"Missing entries, truth inside the 95 % interval: {covered:.0%}")
    print(f"Predictions on new rows, error: {error:.3f}   GP on the complete rows only: {error_complete:.3f}")
    print(f"Done in {time.perf_counter() - started:.1f} s. The recovered entries are in {OUTPUT}.")


if __name__ == "__main__":
    main()
