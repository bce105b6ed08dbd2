"""Errors of the command line, and their exit codes."""

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
    """An error in a file or in the options that the user can correct."""

    def __init__(self, message: str, code: int = BAD_DATA) -> None:
        super().__init__(message)
        self.code = code


def reported(command: Callable[..., None]) -> Callable[..., None]:
    """The command, with a sentence and an exit code instead of a traceback when something goes wrong."""

    @functools.wraps(command)
    def run(*args: Any, **options: Any) -> None:
        try:
            with warnings.catch_warnings():  # a `Session` prints warnings as notes
                warnings.simplefilter("default")
                command(*args, **options)
        except BrokenPipeError:  # the reader of the output has closed it
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)
        except (Exception, KeyboardInterrupt) as error:
            sys.exit(report(error))

    return run


def report(error: BaseException, who: str = "") -> int:
    """Print what is wrong, and return the exit code."""
    message, code = _told(error)
    if code == UNEXPECTED and not isinstance(error, ModuleNotFoundError):
        traceback.print_exception(error)
    print(f"semigp: {who}{message}", file=sys.stderr)
    return code


def _told(error: BaseException) -> tuple[str, int]:
    """The message of an error as a sentence, and its exit code."""
    match error:
        case Problem():
            return str(error), error.code
        case KeyboardInterrupt():
            return "Interrupted before there was a result to save.", INTERRUPTED
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
    return "This is a bug in semigp; the lines above show where. Please report it.", UNEXPECTED
