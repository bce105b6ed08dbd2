"""Frames with a column of every kind and a hole in each, in pandas and in polars."""

from datetime import date, datetime, time, timedelta

import pandas as pd
import polars as pl

DAYS = ["2024-03-01", "2024-03-02", None, "2024-04-05"]


def pandas_frame():
    naive = pd.to_datetime(pd.Series(DAYS))
    columns = {
        "whole": [1.0, None, 3.0, 7.0],
        "real": [0.25, 1.5, None, -2.0],
        "Int64": pd.array([3, None, 5, 6], "Int64"),
        "Float64": pd.array([3.5, None, 5, 6], "Float64"),
        "numbers as objects": pd.Series([1, None, 2.5, 3], dtype=object),
        "numbers as text": ["1.5", "2", None, "3"],
        "bool": [True, False, True, True],
        "boolean": pd.array([True, None, False, True], "boolean"),
        "booleans as objects": pd.Series([True, None, False, True], dtype=object),
        "text": pd.Series(["b", None, "a", "b"], dtype="str"),
        "text as objects": pd.Series(["b", None, "a", "b"], dtype=object),
        "string": pd.Series(["b", None, "a", "b"], dtype="string"),
        "category": pd.Categorical(["low", "high", None, "low"], ["never", "low", "high"]),
        "ordered": pd.Categorical([2, None, 1, 3], [3, 2, 1], ordered=True),
        "intervals": pd.cut(pd.Series([1.0, 2.0, None, 9.0]), [0, 5, 10]),
        "day": naive,
        "zoned": naive.dt.tz_localize("Europe/Paris"),
        "nanoseconds": naive.astype("datetime64[ns]") + pd.to_timedelta("1s"),
        "span": pd.to_timedelta([1, None, 3, 4], unit="h"),
        "dates as objects": pd.Series([date(2024, 1, 1), None, date(2024, 2, 2), date(2023, 2, 2)], dtype=object),
    }
    return pd.DataFrame({name: pd.Series(value) for name, value in columns.items()}).set_axis([9, 3, 3, "x"])


def polars_frame():
    days = [None if day is None else date.fromisoformat(day) for day in DAYS]
    times = [None if day is None else datetime(day.year, day.month, day.day, 6) for day in days]
    return pl.DataFrame(
        {
            "whole": pl.Series([1, None, 3, 7], dtype=pl.UInt8),
            "real": [0.25, float("nan"), None, -2.0],
            "float32": pl.Series([0.1, None, 0.7, 0.2], dtype=pl.Float32),
            "decimal": pl.Series(["1.50", None, "2.25", "9.00"]).cast(pl.Decimal(10, 2)),
            "numbers as text": ["1.5", "2", None, "3"],
            "bool": [True, None, False, True],
            "text": ["b", None, "a", "b"],
            "category": pl.Series(["b", None, "a", "b"], dtype=pl.Categorical),
            "enum": pl.Series(["b", None, "a", "b"], dtype=pl.Enum(["c", "b", "a"])),
            "day": days,
            "time": times,
            "zoned": pl.Series(times).dt.replace_time_zone("America/New_York"),
            "milliseconds": pl.Series(times, dtype=pl.Datetime("ms")),
            "span": [timedelta(hours=1), None, timedelta(hours=2), timedelta(hours=5)],
            "time of day": [time(1), None, time(2), time(0)],
        }
    )
