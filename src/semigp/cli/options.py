"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Ignore = Annotated[list[str], typer.Option("--ignore", metavar="COLUMN", help="Leave a column out (repeatable).")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="CSV or Parquet file for the rows; else the standard output.")
]
Save = Annotated[Path | None, typer.Option("--save", help="Keep the fitted model in this file.")]
Model = Annotated[Path | None, typer.Option("--model", help="Use a model kept by --save, and fit nothing.")]
Plot = Annotated[Path | None, typer.Option("--plot", help="Draw a figure into this file (.png, .svg or .pdf).")]
Checkpoint = Annotated[
    Path | None,
    typer.Option("--checkpoint", help="Folder that keeps a long fit; run again, it goes on where it was."),
]
Distributed = Annotated[
    bool,
    typer.Option("--distributed", help="One of several processes, each with its part of a Parquet file or folder."),
]
Seed = Annotated[int, typer.Option("--seed", help="Of all random numbers.", min=0)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="A summary as JSON on the standard output.")]
