"""Errors of a process that has too many open files, in one clear form.

Most modules are imported at their first use, and an import opens a file. A process that has used up
its file descriptors, such as for tables or connections, can therefore fail in any call, with an
`OSError` of Python or an `ImportError` of the dynamic linker that names a file of a library.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from functools import wraps
from inspect import isgeneratorfunction
from typing import Any, ParamSpec, TypeVar, cast

from rowkey.errors import Unavailable

P = ParamSpec("P")
R = TypeVar("R")

SHORTAGE_TEXT = os.strerror(errno.EMFILE)
"""The text of the system's error, which libraries repeat; that of `ENFILE` starts with it."""


def is_shortage(problem: BaseException) -> bool:
    """Return whether an error, or a cause of it, is a lack of file descriptors."""
    cause: BaseException | None = problem
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in (errno.EMFILE, errno.ENFILE):
            return True
        if isinstance(cause, ImportError) and SHORTAGE_TEXT in str(cause):
            return True
        cause = cause.__cause__
    return False


def build_shortage_error(subject: object) -> Unavailable:
    """Return the error that says that the process has too many open files.

    Args:
        subject: what needed one more descriptor: a file, a directory, a table.

    >>> print(build_shortage_error("rows.csv"))
    rows.csv: the process has too many open files. Raise the limit by ulimit -n, or close...
    """
    remedy = "Raise the limit by ulimit -n, or close tables and files."
    return Unavailable(str(subject), "the process has too many open files", remedy=remedy)


def raise_shortage(problem: BaseException, subject: object = "") -> None:
    """Raise `Unavailable` in place of an error that shows a lack of file descriptors.

    Args:
        problem: the error; where it is another one, or `Unavailable` already, nothing happens.
        subject: what needed the descriptor; the file that the error names if empty.

    Raises:
        Unavailable: the process has too many open files.
    """
    if not isinstance(problem, Unavailable) and is_shortage(problem):
        path = getattr(problem, "filename", None) or getattr(problem, "path", None)
        raise build_shortage_error(subject or path or "this process") from problem


def explain_shortage(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function, or generator function, that raises `Unavailable` at the open file limit.

    Raises:
        Unavailable: from the function that is returned: the process has too many open files.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except Exception as problem:
            raise_shortage(problem)
            raise

    @wraps(function)
    def generate(*args: P.args, **kwargs: P.kwargs) -> Iterator[Any]:
        try:
            yield from cast("Any", function(*args, **kwargs))
        except Exception as problem:
            raise_shortage(problem)
            raise

    return cast("Callable[P, R]", generate) if isgeneratorfunction(function) else call
