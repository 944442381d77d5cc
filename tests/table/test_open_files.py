"""Python calls in a process without free file descriptors raise an error with a remedy."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import rowkey
from rowkey.errors import RowError, Unavailable
from rowkey.open_file_limit import explain_shortage, is_shortage, raise_shortage

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
QUICK_CALLS = ("scan", "open_table", "run", "lint", "design")
"""A call of each package."""
IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
PROCESS = """
import gc, os, resource, sys, rowkey, rowkey.simulate, rowkey.engines.backends.rocks

design = rowkey.Design("logs", "[n]", fields={"n": "u8"})
with rowkey.open(design, "memory:") as table:
    table.put({"n": 1})

def make(call):
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
            eval(call)
        except rowkey.Unavailable as problem:
            print(problem)
        table.put({"n": 2})
        for number in held:
            os.close(number)
        print([row["n"] for row in table.scan()])

folder = os.getcwd()
gc.freeze()
for name, call in zip(sys.argv[1::2], sys.argv[2::2]):
    child = os.fork()
    if child == 0:
        os.mkdir(f"{folder}/{name}")
        os.chdir(f"{folder}/{name}")
        for number, file in ((1, "out"), (2, "err")):
            os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT), number)
        make(call)
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(child, 0)
"""
"""Forks a process for each call, once all is loaded that opening a table and a put need.

Each opens a table, uses up all descriptors, makes its call, and reads the table once some are free.
Packages and plugins are imported late, and functions import libraries: one package is loaded, so
that its function gets as far.
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the output of each call in a file of its name."""
    folder = tmp_path_factory.mktemp("calls")
    names = CALLS if IS_LONG else QUICK_CALLS
    words = [word for name in names for word in (name, CALLS[name])]
    subprocess.run([sys.executable, "-c", PROCESS, *words], cwd=folder, check=True)
    return folder


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in QUICK_CALLS else pytest.mark.long) for name in CALLS],
)
def test_a_call_without_file_descriptors_raises_unavailable(name: str, folder: Path) -> None:
    """A call raises `Unavailable` with the remedy, and works once files are closed."""
    assert "" == (folder / name / "err").read_text()
    said, rows = (folder / name / "out").read_text().splitlines()
    assert said.endswith(
        ": the process has too many open files. Raise the limit by ulimit -n, or close tables and "
        "files."
    )
    assert "[1, 2]" == rows


NO_DESCRIPTORS_ERROR = OSError(errno.EMFILE, os.strerror(errno.EMFILE), "a.py")
LINKER_ERROR = ImportError(
    "lib.so: cannot open shared object file: Too many open files", path="lib.so"
)


def set_cause(problem: Exception, cause: Exception) -> Exception:
    """Return an error with a cause."""
    problem.__cause__ = cause
    return problem


@pytest.mark.parametrize(
    ("problem", "is_one"),
    [
        (NO_DESCRIPTORS_ERROR, True),
        (OSError(errno.ENFILE, os.strerror(errno.ENFILE)), True),
        (LINKER_ERROR, True),
        (set_cause(ImportError("numpy is broken"), LINKER_ERROR), True),
        (OSError(errno.ENOENT, os.strerror(errno.ENOENT), "a.py"), False),
        (ImportError("no module named x"), False),
        (RowError("message", "'Too many open files' is not a number"), False),
    ],
)
def test_a_lack_of_descriptors_is_recognized_by_its_error_number(
    problem: Exception, is_one: bool
) -> None:
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


def test_an_error_that_explains_the_lack_of_descriptors_is_passed_on_unchanged() -> None:
    """An error that already explains the shortage is passed on unchanged."""
    raise_shortage(set_cause(Unavailable("plugin", "it does not load"), NO_DESCRIPTORS_ERROR))
    with pytest.raises(rowkey.Unavailable, match=r"^a\.py: the process has too many open files"):
        raise_shortage(set_cause(RowError("x", "is wrong"), NO_DESCRIPTORS_ERROR), "a.py")
