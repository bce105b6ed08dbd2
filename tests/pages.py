"""The code on Markdown pages, for the tests of the documentation and for the check of a release."""

import re
import shlex
from pathlib import Path


def python_blocks(page: Path) -> list[str]:
    """The blocks of Python of a page, in their order."""
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)


def shell_commands(page: Path, heading: str) -> list[list[str]]:
    """The commands of the plain blocks below a heading, as words and without their comments."""
    (section,) = re.findall(rf"^## {heading}\n(.*?)(?=^## |\Z)", page.read_text(encoding="utf-8"), re.M | re.S)
    blocks = re.findall(r"^```\n(.*?)^```", section, re.M | re.S)
    return [shlex.split(line, comments=True) for block in blocks for line in block.splitlines()]
