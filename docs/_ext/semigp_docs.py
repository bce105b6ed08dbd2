"""What Sphinx is taught for these pages: formulas as MathML, the order of the gallery, which members are ours."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml

# From the tasks to the tools.
GALLERY = (
    "holes", "penguins", "error_bars", "forecast", "few_labels", "table", "control", "missingness", "calibration",
    "relevance", "method",
)  # fmt: skip


# A bar, or the underscore at the end of a word.
_ESCAPED = re.compile(r"\||(?<=\w)_(?!\w)")


class GalleryOrder:
    """Sort key of sphinx-gallery: by `GALLERY`, then by name."""

    def __init__(self, source: str) -> None:
        self.source = source

    def __call__(self, filename: str) -> tuple[int, str]:
        """The place of an example's file."""
        name = filename.removesuffix(".py")
        return GALLERY.index(name) if name in GALLERY else len(GALLERY), name

    def __repr__(self) -> str:
        return "<GalleryOrder>"  # the same from build to build


def _inline(writer: Any, node: nodes.Element) -> None:
    writer.body.append(_mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.Element) -> None:
    writer.body.append(f'<div class="math">{_mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def _mathml(code: str, as_block: bool) -> str:
    """Browsers draw MathML themselves: nothing to download, nothing to run."""
    code = code.strip()
    if as_block and r"\\" in code and r"\begin" not in code:
        code = rf"\begin{{aligned}}{code}\end{{aligned}}"
    return latex2mathml.tex2mathml(code, as_block=as_block)


def _skip(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """scikit-learn adds methods for metadata routing to every estimator."""
    return True if name.startswith("set_") and name.endswith("_request") else None


def _escape(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Our docstrings write |x| and fit_report_ as they are; to reStructuredText both are markup."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = re.split(r"(`+[^`]*`+)", line)
            lines[i] = "".join(part if part.startswith("`") else _ESCAPED.sub(r"\\\g<0>", part) for part in parts)


def setup(app: Any) -> dict[str, bool]:
    """Register everything with Sphinx."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.connect("autodoc-skip-member", _skip)
    app.connect("autodoc-process-docstring", _escape, priority=100)  # before numpydoc
    return {"parallel_read_safe": True, "parallel_write_safe": True}
