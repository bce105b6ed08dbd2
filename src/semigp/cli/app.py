"""The commands."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Annotated

import typer

EXPERIMENTS = {
    "semi-described": "semigp.experiments.semi_described",
    "dimensions": "semigp.experiments.dimensions",
    "noisy-inputs": "semigp.experiments.noisy_inputs",
    "forecasting": "semigp.experiments.forecasting",
    "semi-supervised": "semigp.experiments.semi_supervised",
}

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@app.callback()
def root() -> None:
    """Gaussian processes for data with holes."""


@app.command()
def reproduce(
    experiment: Annotated[str, typer.Argument(help=" | ".join(EXPERIMENTS))],
    quick: Annotated[bool, typer.Option("--quick", help="Few seeds: within five minutes on two cores.")] = False,
    output: Annotated[Path | None, typer.Option(help="Folder for tables and figures.")] = None,
    jobs: Annotated[int, typer.Option(help="Processes.", min=1)] = 2,
) -> None:
    """Run an experiment of the paper and write its tables and figure.

    Example: semigp reproduce noisy-inputs --quick
    """
    if experiment not in EXPERIMENTS:
        raise typer.BadParameter(f"there is no experiment {experiment!r}; there are {', '.join(EXPERIMENTS)}.")
    folder = output or (Path("build") / "quick" if quick else Path("results"))
    module = importlib.import_module(EXPERIMENTS[experiment])
    for path in module.run("quick" if quick else "paper", folder, jobs):
        print(f"Written: {path}")
