"""What can go wrong, and the exit code that says so."""

from __future__ import annotations

import functools
import os
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

from ..storage import NotStorable

UNEXPECTED, WRONG_USE, BAD_DATA, INTERRUPTED = 1, 2, 3, 130


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
        except Problem as problem:
            _leave(str(problem), problem.code)
        except KeyboardInterrupt:
            _leave("Interrupted before there was anything to keep.", INTERRUPTED)
        except BrokenPipeError:  # whoever read the output has had enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)
        except FileNotFoundError as error:
            _leave(f"{error.filename}: there is no such file or folder.", BAD_DATA)
        except OSError as error:
            _leave(f"{error.filename or 'The file system'}: {error.strerror or error}.", BAD_DATA)
        except (ValueError, NotStorable) as error:
            _leave(str(error), BAD_DATA)
        except ModuleNotFoundError as error:
            _leave(f'{error.name} is not installed: pip install "semigp[cli,plot]"', UNEXPECTED)
        except Exception:
            traceback.print_exc()
            _leave("This is a bug in semigp, and the lines above say where.", UNEXPECTED)

    return run


def _leave(message: str, code: int) -> NoReturn:
    print(f"semigp: {message}", file=sys.stderr)
    sys.exit(code)
