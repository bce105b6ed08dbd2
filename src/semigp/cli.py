"""The command line, `semigp`. Needs typer and rich: pip install "semigp[cli,plot]"."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Annotated

EXPERIMENTS = {
    "semi-described": "semigp.experiments.semi_described",
    "dimensions": "semigp.experiments.dimensions",
    "noisy-inputs": "semigp.experiments.noisy_inputs",
}


def main() -> None:
    """Entry point; says what to install where something is missing."""
    try:
        import typer
    except ImportError:
        sys.exit('The command line needs typer: pip install "semigp[cli,plot]"')

    app = typer.Typer(no_args_is_help=True, add_completion=False, help="Gaussian processes for data with holes.")

    @app.callback()
    def root() -> None:
        """Gaussian processes for data with holes."""

    @app.command()
    def reproduce(
        experiment: Annotated[str, typer.Argument(help=" | ".join(EXPERIMENTS))],
        quick: Annotated[bool, typer.Option("--quick", help="Few seeds, within five minutes on two cores.")] = False,
        output: Annotated[Path | None, typer.Option(help="Folder for tables and figures.")] = None,
        jobs: Annotated[int, typer.Option(help="Processes.", min=1)] = 2,
    ) -> None:
        """Run an experiment of the paper and write its tables and figure.

        Example: semigp reproduce noisy-inputs --quick
        """
        if experiment not in EXPERIMENTS:
            known = ", ".join(EXPERIMENTS)
            raise typer.BadParameter(f"there is no experiment {experiment!r}; there are {known}.")
        profile = "quick" if quick else "paper"
        folder = output or (Path("build") / "quick" if quick else Path("results"))
        for path in importlib.import_module(EXPERIMENTS[experiment]).run(profile, folder, jobs):
            print(f"Written: {path}")

    app()


if __name__ == "__main__":
    main()
