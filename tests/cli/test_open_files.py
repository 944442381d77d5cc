"""Commands that may open only a few files say so and lose nothing."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from cli.command import Outcome, run, run_in_process

PLACE_OPTION = ("--on", "rocks:data")
COMMANDS = {
    "check": ("check", "things.toml", "--sample", "more.csv"),
    "simulate": ("simulate", "things.toml", "--sample", "more.csv"),
    "compare": ("compare", "things.toml", "things.toml", "--sample", "more.csv"),
    "scan": ("scan", "things.toml", *PLACE_OPTION),
    "get": ("get", "things.toml", *PLACE_OPTION, "host=web-1", "ts=1000"),
    "load": ("load", "things.toml", "more.csv", *PLACE_OPTION),
    "dump": ("dump", "things.toml", *PLACE_OPTION, "-o", "rows.parquet"),
    "describe": ("describe", "things", *PLACE_OPTION),
}
LIMITS = (5, 6, 9, 14)
"""File descriptors of a process. Python itself needs two beside the three standard streams; the
table has a dozen files, and some commands open their own after them."""
FIRST_LIMITS = {"check": 6}
"""With which the modules of a command are imported too; in the long profile those of all commands,
with every limit."""
QUICK_COMMANDS = ("check", "load")
"""One that reads files, and one that reads and writes a table too."""
IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
LIMIT = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, ({limit}, {limit}))
from rowkey.cli import main
main()
"""
MORE_ROWS = "host,ts\n" + "".join(f"new-{n % 7},{n}\n" for n in range(3_000))
REMEDY = (
    "the process has too many open files. Raise the limit by ulimit -n, or close tables and files."
)


def run_limited(folder: Path, limit: int, *words: str, imports_anew: bool = False) -> Outcome:
    """Run a command in a process with a limit of open files, in its modules or in total."""
    if not imports_anew:
        return run_in_process(folder, LIMIT.format(limit=limit), *words)

    def set_limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

    done = subprocess.run(
        [sys.executable, "-m", "rowkey", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=set_limit,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def count_rows() -> int:
    """Return how many rows the table has, without a limit of open files."""
    return int(run("count", "things.toml", *PLACE_OPTION).out)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in QUICK_COMMANDS else pytest.mark.long)
        for name in COMMANDS
    ],
)
def test_a_command_at_the_limit_of_open_files_exits_with_4_and_keeps_all_rows(
    things_folder: Path, name: str
) -> None:
    """A command at the limit of open files works, or exits with 4 and keeps all rows."""
    (things_folder / "more.csv").write_text(MORE_ROWS)
    codes = set()
    uses_table = PLACE_OPTION[0] in COMMANDS[name]
    first = LIMITS if IS_LONG else (FIRST_LIMITS[name],) if name in FIRST_LIMITS else ()
    runs = [(limit, True) for limit in first]
    if uses_table:
        forked = LIMITS if name == "load" or IS_LONG else LIMITS[1::2]
        runs += [(limit, False) for limit in forked]
    for limit, imports_anew in runs:
        found = run_limited(things_folder, limit, *COMMANDS[name], imports_anew=imports_anew)
        codes.add(found.code)
        if found.code == 4:
            assert ("", 1) == (found.out, found.err.count("\n"))
            assert found.err.endswith(REMEDY + "\n")
        else:
            assert found.code in {0, 1}, found.err
            assert "Traceback" not in found.err
        assert count_rows() in ({5, 3_005} if name == "load" else {5})
    if uses_table:
        assert 4 in codes
        done = run_limited(things_folder, 64, *COMMANDS[name])
        assert done.code in {0, 1}
        assert (3_005 if name == "load" else 5) == count_rows()


REFUSE = """
import errno, os, sys
def refuse(event, given):
    if event == "open" and {file!r} in str(given[0]).replace("__pycache__/", ""):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), given[0])
sys.addaudithook(refuse)
from rowkey.cli import main
main()
"""
"""A program that runs a command in which one file cannot be opened."""


@pytest.mark.parametrize(
    ("file", "arguments"),
    [
        ("things.toml", ("check", "things.toml")),
        ("more.csv", COMMANDS["compare"]),
        ("rows.jsonl", ("encode", "things.toml", "rows.jsonl")),
        ("pyarrow/__init__.", COMMANDS["scan"]),
        pytest.param("lint/checker.", COMMANDS["check"], marks=pytest.mark.long),
        ("transforms/bucket.", COMMANDS["check"]),
    ],
)
def test_an_unopenable_file_names_the_limit_of_open_files(
    things_folder: Path, file: str, arguments: tuple[str, ...]
) -> None:
    """A design, sample or late module that cannot be opened names the limit."""
    (things_folder / "more.csv").write_text(MORE_ROWS)
    (things_folder / "rows.jsonl").write_text('{"host": "a", "ts": 1}\n')
    is_module = file.endswith(".")
    found = run_in_process(
        things_folder, REFUSE.format(file=file), *arguments, imports_anew=is_module
    )
    assert (4, "", 1) == (found.code, found.out, found.err.count("\n"))
    assert file in found.err
    assert found.err.endswith(f": {REMEDY}\n")


def test_an_unopenable_library_names_the_limit_of_open_files(things_folder: Path) -> None:
    """A library that cannot be opened, an `ImportError`, names the limit too."""
    start = """
import sys
class Linker:
    def find_spec(self, name, path=None, target=None):
        if name == "pyarrow":
            what = "libarrow.so: cannot open shared object file: Too many open files"
            raise ImportError(what, name=name, path="lib.so")
sys.meta_path.insert(0, Linker())
from rowkey.cli import main
main()
"""
    found = run_in_process(things_folder, start, *COMMANDS["scan"], imports_anew=True)
    assert (4, "", f"rowkey: lib.so: {REMEDY}\n") == (found.code, found.out, found.err)
