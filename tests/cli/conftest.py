import json

import pytest
from typer.testing import CliRunner

from semigp.cli.app import app
from semigp.demo import write_examples


class Shell:
    """Commands as a user types them, in a folder with the example files."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, line, code=0):
        result = CliRunner().invoke(app, line.split()[1:] if line.startswith("semigp ") else line.split())
        assert result.exit_code == code, (line, result.stdout, result.stderr)
        return result

    def json(self, line):
        return json.loads(self(f"{line} --json").stdout)


@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_examples(tmp_path)
    return Shell(tmp_path)
