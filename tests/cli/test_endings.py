"""How commands end without output streams, on a full disk, and on signals."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from unittest.mock import patch

import pytest

from cli.command import (
    build_signal_after_first_batch,
    build_signal_during_dump,
    run,
    run_in_process,
)
from command_server import find_command

ROWKEY = [sys.executable, "-m", "rowkey"]
PLACE_OPTION = ("--on", "rocks:data")
DUMP = ("dump", "things.toml", *PLACE_OPTION)
DISK_REMEDY = "Free space on the disk, or write to another place."
FULL = f"the output cannot be written: {os.strerror(errno.ENOSPC)}. {DISK_REMEDY}\n"


def run_shell(words: tuple[str, ...], redirected: str, *program: str) -> tuple[int, str, str]:
    """Return code, output and errors of the command with streams redirected by a shell."""
    program = program or (find_command(),)
    line = ["bash", "-c", f'"$@" {redirected}', "bash", *program, *words]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


# No standard output


@pytest.mark.parametrize(
    "arguments",
    [
        *[(*DUMP, "-f", form) for form in ("jsonl", "csv", "arrow", "parquet")],
        *[("scan", "things.toml", *PLACE_OPTION, "-f", form) for form in ("table", "json")],
        ("count", "things", *PLACE_OPTION),
        ("check", "things.toml"),
        ("check", "things.toml", "-f", "json"),
        ("simulate", "things.toml", "--progress", "none"),
        ("splits", "things.toml"),
        ("check", "--help"),
    ],
    ids=" ".join,
)
def test_a_closed_standard_output_is_wrong_usage_if_something_is_to_be_printed(
    things_folder: Path, arguments: tuple[str, ...]
) -> None:
    del things_folder
    code, _, err = run_shell(arguments, ">&-")
    assert (2, 0) == (code, err.count("Traceback"))
    assert "standard output is closed. Give -o FILE" in err


def test_a_command_works_if_only_unused_streams_are_closed(things_folder: Path) -> None:
    """A command works if only streams that it does not use are closed."""
    expected = run_shell(DUMP, "")
    assert (0, "", "5 rows written to a.jsonl\n") == run_shell((*DUMP, "-o", "a.jsonl"), ">&-")
    assert expected == (0, (things_folder / "a.jsonl").read_text(), "")
    assert expected == run_shell(DUMP, "2>&-")
    assert (0, "", "") == run_shell((*DUMP, "-o", "b.jsonl"), "<&- >&- 2>&-", *ROWKEY)
    load = ("load", "things.toml", "b.jsonl", *PLACE_OPTION)
    assert (0, "", "") == run_shell(load, ">&- 2>&-")
    assert (2, "", "") == run_shell(("nothing",), "2>&-")
    assert (2, "", "") == run_shell(DUMP, ">&- 2>&-")


def test_a_python_caller_gets_its_streams_and_signal_handlers_back(things_folder: Path) -> None:
    """A Python caller has its own streams and signal handlers after the command."""
    done = run_in_process(things_folder, CALLER_CODE, "count", "things", *PLACE_OPTION)
    assert (0, "5\nTrue True\n", "") == (done.code, done.out, done.err)


CALLER_CODE = """
import signal
from rowkey.cli import main
before = sys.stdout, sys.stderr
try:
    main()
except SystemExit:
    pass
is_default = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
print(before == (sys.stdout, sys.stderr), is_default)
"""


# A full disk


@pytest.mark.parametrize("form", ["jsonl", "csv", "arrow", "parquet"])
def test_a_full_disk_is_reported_with_the_name_of_the_file(things_folder: Path, form: str) -> None:
    """A full disk is reported once, with the given file name or standard output."""
    del things_folder
    named = run_shell((*DUMP, "-f", form, "-o", "/dev/full"), "")
    assert (4, "", f"rowkey: /dev/full: {FULL}") == named
    printed = run_shell((*DUMP, "-f", form), ">/dev/full")
    assert (4, "", f"rowkey: standard output: {FULL}") == printed


@pytest.mark.parametrize("form", ["jsonl", "csv.gz", "arrow", "parquet"])
def test_a_dump_that_fills_the_disk_removes_its_partial_file(
    things_folder: Path, form: str
) -> None:
    """A dump onto a full disk names the final file and removes its partial file."""
    before = sorted(path.name for path in things_folder.iterdir())
    done = run_in_process(things_folder, SMALL, *DUMP, "-o", f"a.{form}")
    why = os.strerror(errno.EFBIG)
    said = f"rowkey: a.{form}: the output cannot be written: {why}. {DISK_REMEDY}\n"
    assert (4, "", said) == (done.code, done.out, done.err)
    assert before == sorted(path.name for path in things_folder.iterdir())


SMALL = """
import resource, signal
from rowkey.cli import main
from rowkey.cli.commands import dump
write = dump.write_rows
def small(*words):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, hard))
    try:
        return write(*words)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
dump.write_rows = small
main()
"""


@pytest.mark.parametrize(("number", "code"), [(errno.ENOSPC, 4), (errno.EACCES, 2)])
def test_a_full_disk_and_a_denied_file_have_different_exit_codes(
    things_folder: Path, number: int, code: int
) -> None:
    """A full disk exits as a failure of the disk, a denied file as wrong usage."""
    del things_folder
    with patch("tempfile.mkstemp", side_effect=OSError(number, os.strerror(number))):
        done = run(*DUMP, "-o", "a.csv")
    assert (code, "") == (done.code, done.out)
    assert f"a.csv: the output cannot be written: {os.strerror(number)}. " in done.err


# Parts


def test_partial_files_of_other_processes_do_not_disturb_a_dump(things_folder: Path) -> None:
    """Partial files left by other processes do not disturb a dump."""
    (things_folder / f".a.csv.{os.getpid()}.part").write_text("left")
    names = iter(["taken", "taken", "fresh"])
    (things_folder / ".a.csv.taken.part").write_text("left")
    with patch.object(tempfile, "_get_candidate_names", lambda: names):
        done = run(*DUMP, "-o", "a.csv")
    assert (0, "5 rows written to a.csv\n") == (done.code, done.err)
    assert ["left", "left"] == [path.read_text() for path in things_folder.glob(".a.csv.*.part")]


@pytest.mark.parametrize("mask", [0o022, 0o027, 0o077])
def test_a_new_file_has_the_permissions_of_the_umask(things_folder: Path, mask: int) -> None:
    """A new file has the permissions that the umask allows."""
    before = os.umask(mask)
    try:
        assert 0 == run(*DUMP, "-o", "a.csv").code
        now = os.umask(mask)
    finally:
        os.umask(before)
    assert (mask, 0o666 & ~mask) == (now, (things_folder / "a.csv").stat().st_mode & 0o777)


# SIGTERM


@pytest.mark.parametrize("form", ["jsonl", "csv.gz", "arrow", "parquet"])
def test_a_dump_that_gets_sigterm_removes_its_partial_file(things_folder: Path, form: str) -> None:
    """A dump that gets SIGTERM removes its partial file and exits with the signal's code."""
    before = sorted(path.name for path in things_folder.iterdir())
    done = run_in_process(
        things_folder, build_signal_during_dump("SIGTERM"), *DUMP, "-o", f"a.{form}"
    )
    said = (128 + signal.SIGTERM, "", "ended by SIGTERM")
    assert said == (done.code, done.out, done.err.strip())
    assert before == sorted(path.name for path in things_folder.iterdir())


def test_sigterm_during_a_finalizer_still_sets_the_exit_code(things_folder: Path) -> None:
    """SIGTERM during a finalizer, where Python drops exceptions, sets the exit code."""
    done = run_in_process(things_folder, ENDED_IN_DEL, "count", "things", *PLACE_OPTION)
    assert (128 + signal.SIGTERM, "5\n") == (done.code, done.out)


ENDED_IN_DEL = """
import os, signal
from rowkey.cli import main, group
run = group._run_command
class Freed:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
def apart():
    Freed()
    return run()
group._run_command = apart
main()
"""


COUNT = 80_000
"""The rows of a file that is read in several batches."""


def test_a_load_ended_by_sigterm_is_continued_by_the_same_command(things_folder: Path) -> None:
    """A load that gets SIGTERM says how far it came, and the same command continues it."""
    lines = (json.dumps({"host": "web", "ts": ts}) for ts in range(10_000, 10_000 + COUNT))
    (things_folder / "rows.jsonl").write_text("\n".join(lines))
    load = ("load", "things.toml", "rows.jsonl", *PLACE_OPTION)
    done = run_in_process(
        things_folder, build_signal_after_first_batch("SIGTERM"), *load, "--progress", "json"
    )
    first, *_, said, last = filter(None, done.err.splitlines())
    assert "loading" == json.loads(first)["what"]
    assert (128 + signal.SIGTERM, "ended by SIGTERM") == (done.code, last)
    assert said.endswith("run the same command again to continue, or add --restart")
    dealt = int(said.split()[0].replace(",", ""))
    stood = run(*load).err.splitlines()[:2]
    passed, wrote = (int(line.split()[0].replace(",", "")) for line in stood)
    assert (dealt, COUNT) == (passed, passed + wrote)
    assert 0 < dealt < COUNT
    assert f"{COUNT + 5}\n" == run("count", "things", *PLACE_OPTION).out.replace(",", "")


# Files that `load` takes back


@pytest.mark.parametrize("verb", ["dump", "scan"])
@pytest.mark.parametrize(
    "name", ["a.csv", "a.jsonl", "a.json", "a.json.gz", "a.parquet", "a.arrow"]
)
def test_load_reads_every_format_that_is_written_by_file_name(
    things_folder: Path, verb: str, name: str
) -> None:
    """Both commands write by file name a format that `load` reads."""
    del things_folder
    assert 0 == run(verb, "things.toml", *PLACE_OPTION, "-o", name).code
    assert 0 == run("create", "things.toml", "--on", "rocks:copy").code
    done = run("load", "things.toml", name, "--on", "rocks:copy")
    assert (0, "5 rows written") == (done.code, done.err.splitlines()[0])
