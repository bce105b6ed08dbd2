"""Build what a release ships, and use it as somebody does who has just installed it: `make release`.

python -m tests.release.check [--python PYTHON]

The wheel and the source distribution go to dist/. Each is installed into an empty environment, with the newest versions
of all that it needs, and the commands and the Python of README.md run there, outside the checkout. It needs hatchling.
"""

import argparse
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path

from tests.pages import python_blocks, shell_commands

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
NEEDED = ("CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "SECURITY.md")
WRITES = ("-o", "--plot", "--report")  # options that name a file to be written
# What the checkout, or the one who releases, has set and a new user has not.
OURS = ("JAX_", "MPL", "PYTHON", "SEMIGP_", "VIRTUAL_ENV", "XDG_", "XLA_")
LONGEST = 900.0  # seconds for one command


def run(command: Sequence[str | Path], folder: Path, environment: dict[str, str] | None = None) -> str:
    """What a command prints. The check ends here if it fails."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        timeout=LONGEST,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode:
        raise SystemExit(f"{done.stdout}\n{' '.join(map(str, command))}: exit code {done.returncode}")
    return done.stdout


def build(project: Path, target: Path) -> tuple[Path, Path]:
    """The wheel and the source distribution of a project, built by this Python's hatchling."""
    run([sys.executable, "-m", "hatchling", "build", "--directory", target], project)
    (wheel,), (source,) = target.glob("*.whl"), target.glob("*.tar.gz")
    return wheel, source


def check_source(source: Path, wheel: Path, folder: Path) -> None:
    """The source distribution holds what it should, and makes the same wheel."""
    shutil.unpack_archive(source, folder)
    project = folder / source.name.removesuffix(".tar.gz")
    lacking = [name for name in NEEDED if not (project / name).is_file()]
    if lacking:
        raise SystemExit(f"{source.name} lacks {', '.join(lacking)}.")
    again, _ = build(project, folder / "again")
    before, after = _members(wheel), _members(again)
    differing = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    if differing:
        raise SystemExit(f"The wheel that {source.name} makes is another one: {', '.join(differing)}.")


def _members(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


class Environment:
    """An environment with one of the two files in it, and a folder for a user who has nothing yet."""

    def __init__(self, python: str, shipped: Path, folder: Path):
        self.name, self.home = shipped.name, folder / "home"
        self.home.mkdir(parents=True)
        programs = folder / "venv" / "bin"
        run([python, "-m", "venv", folder / "venv"], folder)
        pip = [programs / "python", "-m", "pip", "--disable-pip-version-check"]
        run([*pip, "install", "--quiet", f"{shipped}[cli]"], folder)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        self.variables = kept | {"HOME": str(self.home), "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
        interpreter = run([programs / "python", "--version"], folder).strip()
        self.packages = f"{interpreter}; {' '.join(run([*pip, 'list', '--format', 'freeze'], folder).split())}"

    def call(self, *command: str, inside: Path | None = None) -> str:
        """What a command prints; the files that its options name must be there after it."""
        folder, start = inside or self.home, time.monotonic()
        printed = run(command, folder, self.variables)
        for option, path in itertools.pairwise(command):
            if option in WRITES and not (folder / path).is_file():
                raise SystemExit(f"{' '.join(command)} has not written {path}.")
        print(f"  {time.monotonic() - start:5.1f} s  {' '.join(command)}", flush=True)
        return printed

    def check(self) -> None:
        """All that the README promises to those who have only installed it."""
        print(f"{self.name}: {self.packages}", flush=True)
        version = self.call("semigp", "--version").strip()
        if version != self.name.split("-")[1].removesuffix(".tar.gz"):
            raise SystemExit(f"{self.name} says that its version is {version}.")
        self.call("semigp", "demo")
        example = self.home / "readme.py"
        example.write_text("\n".join(python_blocks(README)), encoding="utf-8")
        self.call("python", "-W", "error", example.name)
        for heading in ("From the shell", "On your own data"):
            self.check_commands(heading)

    def check_commands(self, heading: str) -> None:
        """The commands below a heading of the README, as written."""
        folder = self.home / heading
        folder.mkdir()
        if heading == "On your own data":  # somebody's own table with a column y
            self.call("semigp", "demo", "--quiet", "--data", ".", inside=folder)
            shutil.copy(folder / "train.csv", folder / "data.csv")
        for command in shell_commands(README, heading):
            self.call(*command, inside=folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="the interpreter of the empty environments")
    python = parser.parse_args().python
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    wheel, source = build(ROOT, ROOT / "dist")
    with tempfile.TemporaryDirectory() as place:
        check_source(source, wheel, Path(place, "source"))
        for name, shipped in (("from wheel", wheel), ("from source", source)):
            Environment(python, shipped, Path(place, name)).check()


if __name__ == "__main__":
    main()
