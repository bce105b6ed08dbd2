"""`semigp forecast --id`: the oracle is the estimator itself on the same rows."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import semigp
from semigp.demo.examples import Shops

DAYS = pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 2, 9), eager=True)  # 40 days
FUTURE = pl.date_range(pl.date(2024, 2, 10), pl.date(2024, 2, 12), eager=True)
QUICK = "--id shop --window 2 --season none --trend none --steps 3 --paths 40"


@pytest.fixture
def panel(shell):
    """Two shops in any order, one with a day that is missing; sales follow the price."""
    random = np.random.default_rng(0)
    parts, later = [], []
    for name in ("north", "south"):
        price = random.normal(size=43)
        sales = 5.0 + price + 0.1 * random.normal(size=43)
        parts.append(pl.DataFrame({"shop": name, "day": DAYS, "sales": sales[:40], "price": price[:40]}))
        later.append(pl.DataFrame({"shop": name, "day": FUTURE, "price": price[40:], "truth": sales[40:]}))
    past = pl.concat([parts[0], parts[1][[*range(20), *range(21, 40)]]])
    past.sample(fraction=1.0, shuffle=True, seed=1).write_csv("sales.csv")
    pl.concat(later).write_csv("future.csv")
    return past


def expected(past, **asked):
    model = semigp.GPForecaster(2, season=None, trend=None, random_state=0, **asked)
    return model.fit(past, ["price"], "day", id="shop", value="sales")


def test_a_panel_is_forecast_as_by_the_estimator(shell, panel):
    line = f"forecast sales.csv {QUICK} -c sales --ignore price --levels .1,.5,.9 -o out.csv"
    told = shell.json(f"{line} --plot fan.svg")
    found = pl.read_csv("out.csv", try_parse_dates=True)
    assert found.columns == ["shop", "day", "mean", "std", "q0.1", "q0.5", "q0.9"]
    assert sorted(set(found["shop"])) == ["north", "south"]
    assert found.filter(shop="north")["day"].to_list() == FUTURE.to_list()
    model = semigp.GPForecaster(2, season=None, trend=None, random_state=0)
    names = pl.read_csv("sales.csv")["shop"].unique(maintain_order=True)
    rows = pl.concat([panel.filter(shop=name) for name in names])
    frame = model.fit(rows, None, "day", id="shop", value="sales").forecast(3, n_paths=40).to_frame((0.1, 0.5, 0.9))
    assert found["shop"].to_list() == frame["shop"].to_list()
    for name in ("mean", "std", "q0.1", "q0.5", "q0.9"):
        np.testing.assert_allclose(found[name], frame[name], rtol=1e-5)
    assert (told["series"], told["gaps"], told["weights"]) == (2, 1, {"past": 1.0})
    assert told["files"] == {"table": "out.csv", "figure": "fan.svg"}


def test_words_for_what_was_found(shell, panel):
    result = shell(f"forecast sales.csv {QUICK} --column sales --ignore price")
    assert "sales.csv: 2 series of 40 steps, 1 values missing." in result.stderr
    assert "window 2, no season." in result.stderr
    assert "Paths: 100% from a function of the past." in result.stderr
    steps = np.arange(60)
    pl.DataFrame({"y": np.sin(2 * np.pi * steps / 6) + steps / 10}).write_csv("s.csv")
    result = shell("forecast s.csv --season 6,12 --trend time --window 2 --steps 2 --paths 5")
    assert "60 steps, 0 values missing; window 2, seasons of 6 and 12 steps." in result.stderr
    assert "Paths: 100% from a function of time." in result.stderr


def test_covariates_of_a_panel_are_found_by_name_and_time(shell, panel):
    """Rows of the future in any order, among rows of the past; 0.1 is the noise of the truth."""
    line = f"forecast sales.csv {QUICK} -c sales --covariate price --covariate-lags 1 --future all.csv --quiet"
    future = pl.read_csv("future.csv", try_parse_dates=True)
    both = pl.concat([panel.select("shop", "day", "price"), future.select("shop", "day", "price")])
    both.reverse().write_csv("all.csv")
    found = pl.read_csv(shell(line).stdout.encode(), try_parse_dates=True).sort("shop", "day")
    model = expected(panel, covariate_lags=1).forecast(3, n_paths=40, covariates=future)
    np.testing.assert_allclose(found.filter(shop="north")["mean"], model["north"].mean, atol=0.05)
    np.testing.assert_allclose(found["mean"], future["truth"], atol=0.4)

    future.filter(pl.col("shop") == "north").write_csv("all.csv")
    assert "covariates must hold price of 3 steps for series 'south'; step 1, 2024-02-10" in shell(line, 3).stderr
    future.drop("day").write_csv("all.csv")
    assert "--time day: all.csv has no such column" in shell(line, 2).stderr


def test_series_without_times_count_steps(shell):
    values = np.tile(np.sin(np.arange(30) / 3), 2)
    pl.DataFrame({"id": np.repeat([7, 3], 30), "y": values}).write_csv("p.csv")
    found = pl.read_csv(shell("forecast p.csv --id id --window 2 --trend none --steps 2 --quiet").stdout.encode())
    assert found.columns[:3] == ["id", "step", "mean"]
    assert found["id"].to_list() == [7, 7, 3, 3]
    assert found["step"].to_list() == [30, 31, 30, 31]
    np.testing.assert_allclose(found["mean"], np.sin(np.array([30, 31, 30, 31]) / 3), atol=0.1)


def test_the_example_of_the_documentation(shell):
    """The noise of the example is 1, so that the mean absolute error of a perfect forecast would be 0.8."""
    text = (Path(__file__).parents[2] / "docs/howto/command-line.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^(semigp forecast sales.csv .*)$", text, re.M)
    told = shell.json(line)
    shops = Shops()
    assert (told["series"], told["gaps"], told["seasons"]) == (3, shops.is_missing()[:, 1:-1].sum(), [7.0])
    found = pl.read_csv("forecast.csv")["mean"].to_numpy().reshape(3, -1)
    assert np.abs(found - shops.sold()[:, shops.n_days :]).mean() < 1.5


@pytest.mark.slow
def test_many_rows_are_learned_by_several_processes(shell):
    random = np.random.default_rng(0)
    names, steps = np.repeat(np.arange(30), 100), np.tile(np.arange(100), 30)
    values = np.sin(2 * np.pi * steps / 12) + 0.1 * random.normal(size=3000)
    pl.DataFrame({"id": names, "step": steps, "y": values}).write_csv("p.csv")
    told = shell.json("forecast p.csv --id id --time step --steps 12 -o out.csv")
    assert told["seasons"] == [12.0]
    found = pl.read_csv("out.csv")
    np.testing.assert_allclose(found["mean"], np.tile(np.sin(2 * np.pi * np.arange(100, 112) / 12), 30), atol=0.3)


def test_a_saved_panel_takes_covariates_by_name_and_time(shell, panel):
    future = "--covariate price --future future.csv --quiet"
    first = shell(f"forecast sales.csv {QUICK} -c sales {future} --save m.semigp").stdout
    assert shell(f"forecast --model m.semigp --steps 3 --paths 40 {future}").stdout == first
