"""The code in README.md runs as written."""

import re
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS)
def test_block(block):
    exec(compile(block, "README.md", "exec"), {})


def test_there_are_blocks():
    assert BLOCKS
