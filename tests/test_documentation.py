"""The code in README.md and in the documentation runs as written, block after block; and links lead somewhere."""

import re
from pathlib import Path

import pytest

from tests.pages import python_blocks, shell_commands

ROOT = Path(__file__).parents[1]
LINKED = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
PAGES = {
    str(path.relative_to(ROOT)): python_blocks(path)
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
}


@pytest.mark.parametrize("page", [page for page, blocks in PAGES.items() if blocks])
def test_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names: dict[str, object] = {}
    for number, block in enumerate(PAGES[page], 1):
        exec(compile(block, f"{page}, block {number}", "exec"), names)


def test_there_are_blocks():
    assert PAGES["README.md"]
    assert PAGES["docs/start/tour.md"]


def test_there_are_commands():
    """Which `make release` runs."""
    for heading in ("From the shell", "On your own data"):
        commands = shell_commands(ROOT / "README.md", heading)
        assert commands
        assert {words[0] for words in commands} == {"semigp"}
        assert not any("#" in words for words in commands)


def _heading_anchors(path):
    """Anchors as GitHub and MyST make them: letters, digits and hyphens of the heading, in lower case."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def _links(page):
    """Files and anchors that a page refers to; what the build makes, and other sites, are left out."""
    text = re.sub(r"^```(?!\{).*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    found = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r"^```\{include\} (\S+)$", text, re.M)
    return [link for link in found if "://" not in link and "auto_gallery" not in link]


@pytest.mark.parametrize(
    "page", [*LINKED, *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md")))]
)
def test_links(page):
    for link in _links(ROOT / page):
        name, _, anchor = link.partition("#")
        target = ((ROOT / page).parent / name).resolve() if name else ROOT / page
        assert target.exists(), link
        if anchor and target.suffix == ".md":
            included = re.findall(r"^```\{include\} (\S+)$", target.read_text(encoding="utf-8"), re.M)
            anchors = set().union(*map(_heading_anchors, [target, *(target.parent / each for each in included)]))
            assert anchor in anchors, link
