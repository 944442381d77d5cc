"""The interface for Python where a process has used up its file descriptors."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import rowkey
from rowkey.errors import RowError, Unavailable
from rowkey.open_file_limit import explain_shortage, is_shortage, raise_shortage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CALLS = {
    "scan": "len(list(table.scan()))",
    "count": "table.count()",
    "to_arrow": "table.scan().to_arrow().num_rows",
    "open_table": "rowkey.open(design, 'rocks:other')",
    "run": "rowkey.simulate.run(design).operations",
    "lint": "rowkey.lint.check(design)",
    "compare": "rowkey.advise.compare([design, design], names=['a', 'b'])",
    "describe": "rowkey.observe.describe('logs', 'rocks:data')",
    "design": "rowkey.Design('more', '[digest(b)]', fields={'b': 'text'})",
    "loads": 'rowkey.Design.loads(\'table = "t"\\nkey = "[desc(n)]"\\n[fields]\\nn = "i8"\')',
}
PROCESS = """
import os, resource, rowkey, rowkey.simulate
design = rowkey.Design("logs", "[n]", fields={"n": "u8"})
with rowkey.open(design, "rocks:data") as table:
    table.put({"n": 1})
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
    held = []
    try:
        while True:
            held.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        pass
    try:
        CALL
    except rowkey.Unavailable as problem:
        print(problem)
    table.put({"n": 2})
    for number in held:
        os.close(number)
    print([row["n"] for row in table.scan()])
"""
"""Opens a table, uses up all descriptors, makes a call, and reads the table once some are free.

Packages and plugins are imported late, and functions import libraries: one package is loaded, so
that its function gets as far.
"""


@pytest.mark.parametrize("name", CALLS)
def test_a_call_without_descriptors_says_so(name: str, tmp_path: Path) -> None:
    """It raises `Unavailable` with the remedy; writes go on, and reads once some are closed."""
    code = PROCESS.replace("CALL", CALLS[name])
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (0, "") == (done.returncode, done.stderr)
    said, rows = done.stdout.splitlines()
    assert said.endswith(
        ": the process has too many open files. Raise the limit by ulimit -n, or close some."
    )
    assert "[1, 2]" == rows


FULL = OSError(errno.EMFILE, os.strerror(errno.EMFILE), "a.py")
LINKER = ImportError("lib.so: cannot open shared object file: Too many open files", path="lib.so")


def raised_from(problem: Exception, cause: Exception) -> Exception:
    """An error with its cause."""
    problem.__cause__ = cause
    return problem


@pytest.mark.parametrize(
    ("problem", "is_one"),
    [
        (FULL, True),
        (OSError(errno.ENFILE, os.strerror(errno.ENFILE)), True),
        (LINKER, True),
        (raised_from(ImportError("numpy is broken"), LINKER), True),
        (OSError(errno.ENOENT, os.strerror(errno.ENOENT), "a.py"), False),
        (ImportError("no module named x"), False),
        (RowError("message", "'Too many open files' is not a number"), False),
    ],
)
def test_only_a_lack_of_descriptors_is_explained(problem: Exception, is_one: bool) -> None:
    """A lack of descriptors is recognized by its error number, not by a stored text."""
    assert is_one == is_shortage(problem)

    @explain_shortage
    def call() -> None:
        raise problem

    @explain_shortage
    def generate() -> Iterator[int]:
        yield 1
        raise problem

    for act in (call, lambda: list(generate())):
        with pytest.raises(Unavailable if is_one else type(problem)):
            act()


def test_an_explained_error_is_not_changed() -> None:
    """An error that already explains the shortage is passed on unchanged."""
    raise_shortage(raised_from(Unavailable("plugin", "it does not load"), FULL))
    with pytest.raises(rowkey.Unavailable, match=r"^a\.py: the process has too many open files"):
        raise_shortage(raised_from(RowError("x", "is wrong"), FULL), "a.py")
