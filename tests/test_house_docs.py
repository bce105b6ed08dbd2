"""The page on the architecture names every module of the package, and none that does not exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "semigp"
PAGE = (ROOT / "docs" / "development" / "architecture.md").read_text(encoding="utf-8")


def _folders():
    """Folders of the package that hold modules, as the page writes them."""
    inside = {path.parent.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py")}
    return {"semigp" if folder == "." else folder for folder in inside}


def _modules():
    """Modules by path; the file that makes a folder a package is not one of them."""
    found = [path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"]
    return {(path.parent.as_posix() if len(path.parts) > 1 else "semigp") + "/" + path.name for path in found}


def _tables():
    """The modules of every folder that has a heading on the page, in the order of the page."""
    parts = re.split(r"^#### `(.+)/`$", PAGE, flags=re.M)[1:]
    texts = (re.split(r"^#+ ", text, maxsplit=1, flags=re.M)[0] for text in parts[1::2])
    return [
        (folder, re.findall(r"^\| `(.+?\.py)` \|", text, re.M)) for folder, text in zip(parts[::2], texts, strict=True)
    ]


def _house():
    """Paths of the folders in the tree at the top of the page."""
    (drawing,) = re.findall(r"^```text\nsrc/semigp/\n(.*?)^```", PAGE, re.M | re.S)
    paths: set[str] = set()
    above: list[str] = []
    for indent, name in re.findall(r"^([│ ]*)[├└]── (\w+)/ ", drawing, re.M):
        above = [*above[: len(indent) // 4], name]
        paths.add("/".join(above))
    return paths


def test_every_folder_has_a_table():
    assert sorted(folder for folder, _ in _tables()) == sorted(_folders())


def test_every_module_has_one_line_and_every_line_a_module():
    lines = [f"{folder}/{name}" for folder, names in _tables() for name in names]
    assert sorted(lines) == sorted(_modules())


def test_every_line_says_something():
    lines = re.findall(r"^\| `\w+\.py` \| (.*) \|$", PAGE, re.M)
    assert len(lines) == len(_modules())
    assert all(len(line) > 5 and line.endswith((".", ".)")) for line in lines)


def test_the_house_shows_every_folder():
    assert _house() == _folders() - {"semigp"}


def test_files_that_the_text_names_exist():
    """Such as `core/sparse/bound.py`: the way of a call through the code, and the reasons for decisions."""
    named = set(re.findall(r"`((?:\w+/)+\w+\.py)`", PAGE))
    assert len(named) > 20
    missing = [path for path in named if not (PACKAGE / path).exists() and not (ROOT / path).exists()]
    assert not missing
