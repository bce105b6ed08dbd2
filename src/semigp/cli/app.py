"""The commands of `semigp`."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Annotated

import typer

import semigp

from . import options
from .classify import classify
from .compare import compare
from .forecast import forecast
from .impute import impute
from .info import info
from .problems import WRONG_USE, Problem, reported
from .regress import regress
from .session import Session

EXPERIMENTS = {
    "semi-described": "semigp.experiments.semi_described",
    "dimensions": "semigp.experiments.dimensions",
    "noisy-inputs": "semigp.experiments.noisy_inputs",
    "forecasting": "semigp.experiments.forecasting",
    "semi-supervised": "semigp.experiments.semi_supervised",
    "imputation": "semigp.experiments.imputation",
    "tables": "semigp.experiments.tables",
    "series": "semigp.experiments.series",
    "systems": "semigp.experiments.systems",
    "views": "semigp.experiments.views",
    "state-space": "semigp.experiments.state_space",
    "multiple-imputation": "semigp.experiments.multiple_imputation",
    "calibration": "semigp.experiments.calibration",
    "motion": "semigp.experiments.motion",
    "deep": "semigp.experiments.deep",
}
_BENCHMARKS = ("engine", "endtoend", "scaling", "gpu", "forecasting", "embedding", "answers", "streaming", "views")
BENCHMARKS = {name: f"semigp.benchmarks.{name}" for name in _BENCHMARKS}

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",  # so that the lines of a paragraph are joined
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(is_asked: bool) -> None:
    if is_asked:
        print(semigp.__version__)
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Gaussian processes for data with holes.

    To get the files for the examples: semigp demo --data .

    Exit codes: 0 done, 1 unexpected error, 2 wrong use, 3 a file cannot be used, 4 another
    process is gone, 130 interrupted.
    """


for command in (regress, impute, forecast, classify, compare):
    app.command()(command)


@app.command()
@reported
def demo(
    data: Annotated[Path | None, typer.Option("--data", help="Only write the example files into this folder.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="File for the report.")] = Path("report.html"),
    quiet: options.Quiet = False,
) -> None:
    """Solve four small problems with missing values, and write a report as HTML.

    Example: semigp demo --data .
    """
    from ..demo import tell, write_examples

    session = Session(quiet, False)
    if data is not None:
        for path in write_examples(data):
            session.written(path.name, path)
        return
    with session.fitting("demo"):
        tell(output, session.note)
    session.written("report", output)


@app.command()
@reported
def reproduce(
    experiment: Annotated[str, typer.Argument(help="all | " + " | ".join(EXPERIMENTS), show_default=False)],
    quick: Annotated[
        bool, typer.Option("--quick", help="Use few seeds: at most five minutes each on two cores.")
    ] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Folder for tables and figures.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", help="Number of processes.", min=1)] = 2,
    check: Annotated[
        int | None,
        typer.Option("--check", help="Compute so many cells of the table again, and compare; write no table.", min=1),
    ] = None,
) -> None:
    """Run experiments of the paper, and write their tables and figures; "all" writes a report as well.

    Example: semigp reproduce noisy-inputs --quick
    """
    if experiment not in ("all", *EXPERIMENTS):
        raise Problem(f"There is no experiment {experiment!r}; there are all, {', '.join(EXPERIMENTS)}.", WRONG_USE)
    folder = output or (Path("build") / "quick" if quick else Path("results") / "experiments")
    names = list(EXPERIMENTS) if experiment == "all" else [experiment]
    profile = "quick" if quick else "paper"
    if check is not None:
        _check(names, profile, folder, check, jobs)
        return
    for name in names:
        module = importlib.import_module(EXPERIMENTS[name])
        for path in module.run(profile, folder, jobs):
            print(f"Written: {path}")
    if experiment == "all":
        from ..experiments.collect import write_report

        print(f"Written: {write_report(folder, names)}")


def _check(names: list[str], profile: str, folder: Path, count: int, jobs: int) -> None:
    from ..experiments.checking import CLOSE, check, write_page

    for name in names:
        if not (folder / f"{name}.csv").exists():
            raise Problem(f"There is no table {folder / name}.csv that could be checked.", WRONG_USE)
    found = []
    for name in names:
        found.append(check(name, importlib.import_module(EXPERIMENTS[name]), profile, folder, count, jobs))
        print(found[-1].sentence, flush=True)
    if len(names) > 1:
        print(f"Written: {write_page(folder, found, count)}")
    if not all(each.is_confirmed for each in found):
        raise Problem(f"Tables and code differ by more than {100 * CLOSE:g} %, or lack rows: see the lines above.")


@app.command()
@reported
def bench(
    benchmark: Annotated[str, typer.Argument(help="all | " + " | ".join(BENCHMARKS), show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the tables.")] = Path("results/benchmarks"),
) -> None:
    """Measure speed on this machine, and that of other libraries if they are installed.

    Example: semigp bench forecasting -o .
    """
    if benchmark not in ("all", *BENCHMARKS):
        raise Problem(f"There is no benchmark {benchmark!r}; there are all, {', '.join(BENCHMARKS)}.", WRONG_USE)
    output.mkdir(parents=True, exist_ok=True)
    from ..benchmarks.measuring import Unmeasured

    # "all" leaves out streaming, because ten million rows take long.
    for name in [each for each in BENCHMARKS if each != "streaming"] if benchmark == "all" else [benchmark]:
        try:
            importlib.import_module(BENCHMARKS[name]).main(output)
        except Unmeasured as error:
            if benchmark != "all":
                raise Problem(str(error)) from error
            print(f"{name}: {error}")


app.command()(info)
