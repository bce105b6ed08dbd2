"""A self-contained HTML page of text, figures, tables and facts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from ..words import told_number
from .figures import Drawing

_NUMBER = re.compile(r"[-+]?[\d.,]*(e[-+]?\d+)?( ?%)?|less than 1 %|more than 99 %|–")


class Report:
    """Sections with text, figures and tables, written as one HTML file."""

    def __init__(self, title: str, lead: str) -> None:
        self._title, self._lead = title, lead
        self._sections: list[tuple[str, str]] = []
        self._parts: list[str] = []
        self._count = 0

    def section(self, title: str, text: str = "") -> None:
        """Begin a section, which is listed in the table of contents."""
        self._close()
        name = f"s{len(self._sections) + 1}"
        self._sections.append((name, title))
        self._parts.append(f'<section aria-labelledby="{name}"><h2 id="{name}">{escape(title)}</h2>')
        if text:
            self.text(text)

    def _close(self) -> None:
        if self._sections:
            self._parts.append("</section>")

    def text(self, text: str) -> None:
        """Add a paragraph."""
        self._parts.append(f"<p>{escape(text)}</p>")

    def html(self, html: str) -> None:
        """Add HTML as it is."""
        self._parts.append(html)

    def figure(self, drawing: Drawing, caption: str, alt: str) -> None:
        """Add a figure with a caption below it; `alt` describes it to readers who cannot see it."""
        self._count += 1
        name = f"f{self._count}"
        link = drawing.csv_link(f"figure-{self._count}")
        caption = f"<figcaption><b>Figure {self._count}.</b> {escape(caption)} {link}</figcaption>"
        self._parts.append(f'<figure id="{name}">{drawing.svg(name, alt)}{caption}</figure>')

    def image(self, data: str, caption: str, alt: str) -> None:
        """Add a picture that is given as a data URI."""
        self._count += 1
        caption = f"<figcaption><b>Figure {self._count}.</b> {escape(caption)}</figcaption>"
        picture = f'<img src="{data}" alt="{escape(alt, quote=True)}">'
        self._parts.append(f'<figure id="f{self._count}" class="given">{picture}{caption}</figure>')

    def scores(
        self,
        caption: str,
        header: Sequence[str],
        rows: Sequence[tuple[str, Sequence[float]]],
        lower: Sequence[bool | None],
    ) -> None:
        """Add a table of methods and scores, with the best of each column in bold.

        For each column `lower` says whether the lowest (True) or highest (False) is best; None marks no best.
        """
        best = [
            None if low is None else (min if low else max)(row[1][k] for row in rows) for k, low in enumerate(lower)
        ]
        lines = []
        for name, values in rows:
            cells = (f"<td>{_bold(value, value == top)}</td>" for value, top in zip(values, best, strict=True))
            lines.append(f'<tr><th scope="row">{escape(name)}</th>{"".join(cells)}</tr>')
        head = "".join(f'<th scope="col">{escape(name)}</th>' for name in header)
        self._parts.append(_table(caption, head, "".join(lines)))

    def table(self, caption: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Add a table of texts. The first cell of a row names it. Columns of numbers are aligned on the right."""
        is_number = [all(_NUMBER.fullmatch(row[k]) for row in rows) for k in range(len(header))]
        mark = ["" if number else 'class="text"' for number in is_number]
        head = "".join(f'<th scope="col" {m}>{escape(name)}</th>' for name, m in zip(header, mark, strict=True))
        lines = "".join(
            f'<tr><th scope="row">{escape(first)}</th>'
            + "".join(f"<td {m}>{escape(cell)}</td>" for cell, m in zip(rest, mark[1:], strict=True))
            + "</tr>"
            for first, *rest in rows
        )
        self._parts.append(_table(caption, head, lines))

    def facts(self, facts: Mapping[str, Any]) -> None:
        """Add a list of names and values."""
        lines = (f"<dt>{escape(str(name))}</dt><dd>{escape(str(value))}</dd>" for name, value in facts.items())
        self._parts.append(f"<dl>{''.join(lines)}</dl>")

    def write(self, path: Path) -> Path:
        """Write the page to a file, and return its path."""
        files = resources.files(__package__)
        style, script = (files.joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
        contents = "".join(f'<li><a href="#{name}">{escape(title)}</a></li>' for name, title in self._sections)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'
            f"<title>{escape(self._title)}</title><style>{style}</style></head><body>"
            f"<header><h1>{escape(self._title)}</h1><p>{escape(self._lead)}</p></header>"
            f'<nav aria-label="Contents"><ul>{contents}</ul></nav><main>{"".join(self._parts)}</section></main>'
            f'<div id="tip" role="status" hidden></div><script>{script}</script></body></html>\n',
            encoding="utf-8",
        )
        return path


def _table(caption: str, head: str, lines: str) -> str:
    return (
        f'<div class="wide"><table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{lines}</tbody></table></div>"
    )


def _bold(value: float, is_best: bool) -> str:
    text = told_number(value)
    return f"<b>{text}</b>" if is_best else text
