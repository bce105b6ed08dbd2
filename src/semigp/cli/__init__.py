"""The command line, `semigp`."""

import sys


def main() -> None:
    """Run the command line. If a package is missing, say what to install."""
    try:
        from .app import app
    except ModuleNotFoundError as error:
        sys.exit(f'The command line needs {error.name}: pip install "semigp[cli,plot]"')
    except KeyboardInterrupt:
        sys.exit(130)
    app()
