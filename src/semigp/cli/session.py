"""The output of a command: notes to the terminal, results to files or the standard output."""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from rich.console import Console

import semigp

from ..progress import showing
from ..progress.bar import Bar
from ..reports.kinds.base import Subject
from ..reports.report import write as write_report
from .interrupts import ending_gently
from .parquet_files import SUFFIXES as PARQUET
from .problems import INTERRUPTED, WRONG_USE, Problem
from .sources import AS_USUAL, Reading, Source
from .tables import check_writable, read_source, write_table
from .wording import shortened

Outputs = tuple[Path | None, Path | None, Path | None]  # table, model, figure
_FIGURES, _PAGES = (".png", ".svg", ".pdf"), (".html", ".htm")

# How many kinds of columns (inputs, outputs) a model needs to know by name; models that are not listed need both.
_NAMED = {"GPForecaster": 0, "GPImputer": 1}


class Session:
    """One run of a command. Notes go to the standard error; `--json` puts a summary on the standard output."""

    def __init__(
        self,
        quiet: bool,
        as_json: bool,
        outputs: Outputs = (None, None, None),
        reading: Reading = AS_USUAL,
        report: Path | None = None,
    ) -> None:
        self.quiet, self.as_json, self.reading = quiet, as_json, reading
        self._sources: dict[Path, Source] = {}
        self.console = Console(stderr=True, quiet=quiet, highlight=False, soft_wrap=True)
        self.summary: dict[str, Any] = {}
        self._started = time.perf_counter()
        warnings.showwarning = lambda message, *_: self.note(f"Note: {message}")  # restored by `reported`
        warnings.filterwarnings("ignore", "Columns are left out")  # commands have a note for each of them
        self._check(*outputs, report)

    def _check(self, table: Path | None, model: Path | None, figure: Path | None, report: Path | None) -> None:
        """Raise a Problem before the fit if a file could not be written after it."""
        for path in (table, model, figure, report):
            if path is not None and not path.absolute().parent.is_dir():
                raise Problem(f"{path}: there is no folder {path.parent}.")
            if path is not None and path.is_dir():
                raise Problem(f"{path} is a folder; give the name of a file.")
        if table is not None:
            check_writable(table)
        if figure is not None and figure.suffix.lower() not in _FIGURES:
            raise Problem(f"--plot {figure}: the name must end in {', '.join(_FIGURES)}.", WRONG_USE)
        if report is not None and report.suffix.lower() not in _PAGES:
            raise Problem(f"--report {report}: the name must end in {' or '.join(_PAGES)}.", WRONG_USE)

    def note(self, text: str) -> None:
        """Print a line for the user."""
        self.console.print(text, markup=False)

    def read(self, path: Path) -> pl.DataFrame:
        """A table. Says how dates are read if their column leaves it open; later files are then read alike."""
        return self._source(path).table

    def _source(self, path: Path) -> Source:
        if path not in self._sources:
            earlier = {name: form for source in self._sources.values() for name, form in source.formats.items()}
            self._sources[path] = read_source(path, self.reading, earlier)
            for name, example in self._sources[path].open_dates():
                self.note(
                    f"{path}, column {name!r}: {shortened(example)} is read with the month first; no cell tells "
                    "whether it is. If the day is first, add --day-first."
                )
            for name in self._sources[path].with_other_units(earlier):
                self.note(
                    f"{path}, column {name!r}: an earlier file has another unit there, such as 50% beside 0.5. The "
                    "numbers are taken as they are."
                )
        return self._sources[path]

    def tell(self, **facts: Any) -> None:
        """Add facts to the JSON summary."""
        self.summary.update(facts)

    @contextmanager
    def fitting(self, title: str) -> Iterator[Bar]:
        """Show a bar while a model is fitted. The first Ctrl-C ends the fit, and keeps its best model."""
        bar = self._bar(title)
        with ending_gently(bar, self.console), showing(bar):
            yield bar
        self.tell(interrupted=bar.is_interrupted)
        if bar.is_interrupted:
            self.note("Interrupted: this is the best model so far.")

    @contextmanager
    def working(self, title: str) -> Iterator[None]:
        """Show a bar while a model is used. Ctrl-C ends the command."""
        with showing(self._bar(title)):
            yield

    def _bar(self, title: str) -> Bar:
        return Bar(title, self.console, self.console.is_terminal and not self.quiet)

    def load(self, path: Path, *kinds: type) -> Any:
        """A saved model, which must be of one of the given kinds."""
        model = semigp.load(path)
        if not isinstance(model, kinds):
            wanted = " or a ".join(kind.__name__ for kind in kinds)
            raise Problem(f"{path} holds a {type(model).__name__}; this command needs a {wanted}.", WRONG_USE)
        needed = ("feature_names_in_", "output_names_")[: _NAMED.get(type(model).__name__, 2)]
        if any(getattr(model, name, None) is None for name in needed):
            raise Problem(
                f"{path} was fitted to arrays, whose columns have no names, but columns of a file are found by name. "
                "Fit the model to frames."
            )
        return model

    def save(self, model: Any, path: Path | None) -> None:
        """Save a fitted model, if a path is given."""
        if path is not None:
            model.save(path)
            self.written("model", path)

    def written(self, what: str, path: Path) -> None:
        """Report the path of a file that was written."""
        self.note(f"Written: {path}")
        self.summary.setdefault("files", {})[what] = str(path)

    def put(
        self, table: pl.DataFrame, path: Path | None, like: Path | None = None, names: Sequence[str] | None = None
    ) -> None:
        """Write rows of results into a file, into the JSON summary, or on the standard output.

        In CSV, columns of the file `like` (or only those with these names) are written as they are there.
        """
        is_text = path is None or check_writable(path) == "csv"
        if is_text and like in self._sources and not (path is None and self.as_json):
            table = self._sources[like].as_written(table, names)  # type: ignore[index]
        if path is not None:
            write_table(table, path)
            self.written("table", path)
        elif self.as_json:
            self.tell(rows=table.with_columns(pl.selectors.float().fill_nan(None)).to_dicts())
        else:
            write_table(table, None)

    def draw(self, draw: Any, path: Path | None, size: tuple[float, float] = (7.0, 4.2), panels: int = 1) -> None:
        """Draw a figure into a file, if a path is given. `draw` is a function of the axes."""
        if path is None:
            return
        from matplotlib import rc_context
        from matplotlib.figure import Figure

        from ..plotting import STYLE

        with rc_context(STYLE):
            figure = Figure(figsize=size, layout="constrained", dpi=150)
            draw(figure.subplots(panels, sharex=True))
            figure.savefig(path)
        self.written("figure", path)

    def report(
        self, path: Path | None, model: Any, X: Any = None, y: Any = None, data: Path | None = None,
        targets: Sequence[str] = (), **more: Any,
    ) -> None:  # fmt: skip
        """Write a page about a model, if a path is given. X and the targets y are from the file `data`."""
        if path is None:
            return
        is_told = X is not None and data is not None and data.is_file() and more.get("X_std") is None
        is_told = is_told and self.reading == AS_USUAL and self._source(data).has_usual_marks
        reading = self._reading(data, X.columns, targets) if is_told else ""
        with self.working("report"):
            write_report(Subject(model, X, y, reading=reading, **more), path)
        self.written("report", path)

    def _reading(self, data: Path, inputs: Sequence[str], targets: Sequence[str]) -> str:
        """Lines of Python that read the inputs and the targets from a file."""
        reader = "read_parquet" if data.suffix.lower() in PARQUET else "read_csv"
        others = [name for name in self.read(data).columns if name not in inputs]
        lines = [f"table = pandas.{reader}({str(data)!r})"]
        lines.append(f"X = table.drop(columns={others!r})" if others else "X = table")
        if targets:
            lines.append(f"y = table[{targets[0]!r}]" if len(targets) == 1 else f"y = table[{list(targets)!r}]")
        return "\n".join([*lines, ""])

    def finish(self) -> None:
        """Print the summary if `--json` was given, and exit with a code if the fit was interrupted."""
        if self.as_json:
            self.tell(seconds=round(time.perf_counter() - self._started, 2))
            print(json.dumps(self.summary, default=_plain, allow_nan=False))
        if self.summary.get("interrupted"):
            sys.exit(INTERRUPTED)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    return str(value)
