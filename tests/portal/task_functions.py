"""Functions that the tests of tasks run in child processes."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from rowkey.errors import InvalidArgument
from rowkey.progress import Progress

if TYPE_CHECKING:
    from rowkey.portal.tasks.child_process import ProgressWriter


def add(report: ProgressWriter, one: int, other: int) -> dict[str, Any]:
    """Return a sum, and print what is no report."""
    report(Progress("adding", 1, 2))
    sys.stdout.write("not a report\n")
    return {"sum": one + other}


def import_pandas(report: ProgressWriter) -> dict[str, Any]:
    """Return whether pandas is imported where an array is made, at which pyarrow would do so."""
    report(Progress("making", 0, 1))
    return {"length": len(pa.array([1])), "has_pandas": "pandas" in sys.modules}


def refuse(report: ProgressWriter) -> dict[str, Any]:
    """Raise an error of the package."""
    raise InvalidArgument("sample", f"{report.__class__.__name__} refuses")


def fail(report: ProgressWriter) -> dict[str, Any]:
    """Raise an error that is a defect."""
    raise ZeroDivisionError(report)


def sleep(report: ProgressWriter, started_file: str) -> dict[str, Any]:
    """Wait for a minute, after a file says that the process runs and has a temporary file."""
    report(Progress("sleeping", 0, 1))
    Path(mkdtemp(), "rows").touch()
    Path(started_file).touch()
    time.sleep(60)
    return {}


def allocate(report: ProgressWriter, size_bytes: int) -> dict[str, Any]:
    """Fill memory."""
    report(Progress("allocating", 0, size_bytes))
    return {"bytes": len(b"x" * size_bytes)}
