"""The example problems as CSV files, which the examples in the help of every command use."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from .examples import Labels, Regression, Series, Shops, Table


def write_examples(folder: Path) -> list[Path]:
    """Write train.csv, test.csv, data.csv, series.csv, sales.csv, prices.csv and labels.csv into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    regression, series, labels, table = Regression(), Series(), Labels(), Table()
    days = [_day(i) for i in range(series.n_steps)]
    contents: dict[str, tuple[Sequence[str], Iterable[Sequence[Any]]]] = {
        "train.csv": (("a", "a_std", "b", "c", "y"), _regression_rows(*regression.train())),
        "test.csv": (("a", "a_std", "b", "c", "y"), _regression_rows(*regression.test())),
        "data.csv": (("part", *table.names), ((f"P{i:03d}", *row) for i, row in enumerate(table.recorded(), 1))),
        "series.csv": (("date", "value"), zip(days, series.past(), strict=True)),
        "sales.csv": (("shop", "day", "sold", "price"), _sales_rows(Shops())),
        "prices.csv": (("shop", "day", "price"), _price_rows(Shops())),
        "labels.csv": (
            ([f"x{k}" for k in range(1, 9)] + ["class"]),
            ((*row, label) for row, label in zip(labels.rows(), labels.labels(), strict=True)),
        ),
    }
    return [_write(folder / name, header, rows) for name, (header, rows) in contents.items()]


def _regression_rows(inputs: np.ndarray, std: np.ndarray, y: np.ndarray) -> Iterable[Sequence[Any]]:
    return zip(inputs[:, 0], std[:, 0], inputs[:, 1], inputs[:, 2], y, strict=True)


def _sales_rows(shops: Shops) -> Iterable[Sequence[Any]]:
    for name, sold, prices, is_missing in zip(
        shops.names, shops.sold(), shops.prices(), shops.is_missing(), strict=True
    ):
        yield from ((name, _day(i), sold[i], prices[i]) for i in range(shops.n_days) if not is_missing[i])


def _price_rows(shops: Shops) -> Iterable[Sequence[Any]]:
    days = range(shops.n_days, shops.n_days + shops.n_ahead)
    for name, prices in zip(shops.names, shops.prices(), strict=True):
        yield from ((name, _day(i), prices[i]) for i in days)


def _day(number: int) -> date:
    return date(2025, 1, 1) + timedelta(days=number)


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows([_cell(value) for value in row] for row in rows)
    return path


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    return f"{value:.5g}" if isinstance(value, float) else str(value)
