"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Ignore = Annotated[list[str], typer.Option("--ignore", metavar="COLUMN", help="Leave a column out (repeatable).")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="CSV or Parquet file for the rows; default: standard output.")
]
Save = Annotated[Path | None, typer.Option("--save", help="Save the fitted model in this file.")]
Model = Annotated[Path | None, typer.Option("--model", help="Use a model saved by --save; nothing is fitted.")]
Plot = Annotated[Path | None, typer.Option("--plot", help="Draw a figure into this file (.png, .svg or .pdf).")]
Report = Annotated[
    Path | None,
    typer.Option("--report", help="Write a page (.html) about the data, the model, and how far to trust it."),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option("--checkpoint", help="Folder for the state of a long fit; run again, the fit resumes from it."),
]
Distributed = Annotated[
    bool,
    typer.Option(
        "--distributed", help="Run as one of several processes, each with its part of a Parquet file or folder."
    ),
]
Encoding = Annotated[str, typer.Option("--encoding", help="Encoding of CSV files, such as cp1252 or utf-16.")]
DayFirst = Annotated[
    bool | None,
    typer.Option(
        "--day-first/--month-first",
        help="How to read dates such as 01/02/2018, where the column leaves it open.",
        show_default="month first",
    ),
]
Missing = Annotated[
    list[str],
    typer.Option("--missing", metavar="WORD", help="A word for missing cells, beside NA and the like (repeatable)."),
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of all random numbers.", min=0)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
Json = Annotated[bool, typer.Option("--json", help="Print a summary as JSON on the standard output.")]
