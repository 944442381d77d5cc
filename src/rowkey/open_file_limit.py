"""Too many open files: recognized in whatever error shows it, and told with its remedy.

Most modules are imported when they are first needed, and an import opens a file. Where a process
has used up its file descriptors, for tables or connections say, any call may therefore fail, with
an `OSError` of Python or an `ImportError` of the dynamic linker that names a file of a library.
"""

from __future__ import annotations

import errno
import os
from functools import wraps
from inspect import isgeneratorfunction
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from rowkey.errors import Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

P = ParamSpec("P")
R = TypeVar("R")

SHORTAGE_TEXT = os.strerror(errno.EMFILE)
"""What the system says in the texts of libraries; for `ENFILE` it says more behind it."""


def is_shortage(problem: BaseException) -> bool:
    """Return whether an error, or one that caused it, is a lack of file descriptors."""
    cause: BaseException | None = problem
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in (errno.EMFILE, errno.ENFILE):
            return True
        if isinstance(cause, ImportError) and SHORTAGE_TEXT in str(cause):
            return True
        cause = cause.__cause__
    return False


def build_shortage_error(subject: object) -> Unsupported:
    """Return the error that says what to do.

    Args:
        subject: what needed one more descriptor: a file, a directory, a table.

    >>> print(build_shortage_error("rows.csv"))
    rows.csv: too many open files. Raise the limit with ulimit -n, or close what is open.
    """
    remedy = "Raise the limit with ulimit -n, or close what is open."
    return Unsupported(str(subject), "too many open files", remedy=remedy)


def raise_shortage(problem: BaseException, subject: object = "") -> None:
    """Raise `Unsupported` in place of an error that shows a lack of file descriptors.

    Args:
        problem: the error; where it is another one, or `Unsupported` already, nothing happens.
        subject: what needed the descriptor; the file that the error names if empty.

    Raises:
        Unsupported: the process has too many open files.
    """
    if not isinstance(problem, Unsupported) and is_shortage(problem):
        named = getattr(problem, "filename", None) or getattr(problem, "path", None)
        raise build_shortage_error(subject or named or "this process") from problem


def explains_shortage(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function, or generator function, with a lack of file descriptors explained.

    Raises:
        Unsupported: from the function that is returned: the process has too many open files.
    """

    @wraps(function)
    def call(*given: P.args, **named: P.kwargs) -> R:
        try:
            return function(*given, **named)
        except Exception as problem:
            raise_shortage(problem)
            raise

    @wraps(function)
    def generate(*given: P.args, **named: P.kwargs) -> Iterator[Any]:
        try:
            yield from cast("Any", function(*given, **named))
        except Exception as problem:
            raise_shortage(problem)
            raise

    return cast("Callable[P, R]", generate) if isgeneratorfunction(function) else call
