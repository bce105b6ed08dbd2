"""What can go wrong, and the exit code that says so."""

from __future__ import annotations

import functools
import os
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any

from ..storage.errors import NotStorable

UNEXPECTED, WRONG_USE, BAD_DATA, LOST, INTERRUPTED = 1, 2, 3, 4, 130


class Problem(Exception):
    """Something in a file, or in the options, that the user can put right."""

    def __init__(self, message: str, code: int = BAD_DATA) -> None:
        super().__init__(message)
        self.code = code


def reported(command: Callable[..., None]) -> Callable[..., None]:
    """The command, with its problems told in a sentence and an exit code instead of a traceback."""

    @functools.wraps(command)
    def run(*args: Any, **options: Any) -> None:
        try:
            with warnings.catch_warnings():  # a `Session` tells them in its own way
                warnings.simplefilter("default")
                command(*args, **options)
        except BrokenPipeError:  # whoever read the output has had enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)
        except (Exception, KeyboardInterrupt) as error:
            sys.exit(report(error))

    return run


def report(error: BaseException, who: str = "") -> int:
    """Say what is wrong; the exit code."""
    message, code = _told(error)
    if code == UNEXPECTED and not isinstance(error, ModuleNotFoundError):
        traceback.print_exception(error)
    print(f"semigp: {who}{message}", file=sys.stderr)
    return code


def _told(error: BaseException) -> tuple[str, int]:
    """An error in a sentence, and its exit code."""
    match error:
        case Problem():
            return str(error), error.code
        case KeyboardInterrupt():
            return "Interrupted before there was anything to keep.", INTERRUPTED
        case ConnectionError():
            return str(error), LOST
        case FileNotFoundError():
            return f"{error.filename}: there is no such file or folder.", BAD_DATA
        case OSError():
            return f"{error.filename or 'The file system'}: {error.strerror or error}.", BAD_DATA
        case ValueError() | NotStorable():
            return str(error), BAD_DATA
        case ModuleNotFoundError():
            return f'{error.name} is not installed: pip install "semigp[cli,plot]"', UNEXPECTED
    return "This is a bug in semigp, and the lines above say where.", UNEXPECTED
