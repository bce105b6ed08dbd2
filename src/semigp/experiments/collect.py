"""A report of all experiments."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from markdown_it import MarkdownIt

from ..reports import Report

_LEAD = (
    "The experiments of Damianou & Lawrence, Semi-described and semi-supervised learning with Gaussian processes "
    "(2015), and more, as run by semigp reproduce: figures and tables, with the settings and versions of every run."
)
_CAPTIONS = {"semi-supervised-latent": "Latent spaces, coloured by class."}


def write_report(folder: Path, experiments: list[str]) -> Path:
    """Write a report with the tables and figures of the experiments whose results are in `folder`."""
    report = Report("The experiments, reproduced", _LEAD)
    markdown = MarkdownIt("commonmark").enable("table")
    for name in experiments:
        if not (folder / f"{name}.md").exists():
            continue
        title, _, text = (folder / f"{name}.md").read_text(encoding="utf-8").partition("\n")
        report.section(title.removeprefix("# "))
        for figure in sorted(folder.glob(f"{name}*.png")):
            data = base64.b64encode(figure.read_bytes()).decode()
            caption = _CAPTIONS.get(
                figure.stem, f"{title.removeprefix('# ')}: scores of every method, as in the table below."
            )
            report.image(f"data:image/png;base64,{data}", caption, caption)
        lower = text.replace("\n## ", "\n### ")  # headings inside a section
        report.html(f'<div class="wide">{markdown.render(lower)}</div>')
        _settings(report, folder / f"{name}.json")
    return report.write(folder / "report.html")


def _settings(report: Report, path: Path) -> None:
    if path.exists():
        told = json.loads(path.read_text(encoding="utf-8"))
        for part in told["parts"]:
            origin = {"commit": part["commit"], "date": part["date"], "seconds": part["seconds"]}
            report.facts({**told["settings"], **origin, **part["versions"], **part["machine"]})
