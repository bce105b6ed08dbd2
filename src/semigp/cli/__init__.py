"""The command line, `semigp`."""

import sys


def main() -> None:
    """Entry point; says what to install where something is missing."""
    try:
        from .app import app
    except ModuleNotFoundError as error:
        sys.exit(f'The command line needs {error.name}: pip install "semigp[cli,plot]"')
    except KeyboardInterrupt:
        sys.exit(130)
    app()
