"""No command prints a traceback: for bad files, a closed pipe, or Ctrl-C."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import click
import pytest

from cli.command import Outcome, run
from example_counts import thin_out
from rowkey.cli.group import _run_command, program
from rowkey.cli.streams import wrap_standard_streams

CALLS: dict[str, tuple[str, ...]] = {
    "advise": ("DESIGN", "--sample", "ROWS"),
    "buckets": ("show", "DESIGN", "ON"),
    "check": ("DESIGN",),
    "compare": ("DESIGN", "DESIGN", "--sample", "ROWS"),
    "count": ("DESIGN", "ON"),
    "create": ("DESIGN", "NEW", "--sample", "ROWS"),
    "ddl": ("DESIGN", "--sample", "ROWS"),
    "decode": ("DESIGN", "KEYS"),
    "delete": ("DESIGN", "ON", "--where", "host=web-1", "--yes", "things"),
    "describe": ("things", "ON"),
    "drop": ("DESIGN", "ON", "--yes", "things"),
    "dump": ("DESIGN", "ON"),
    "encode": ("DESIGN", "ROWS"),
    "explain": ("DESIGN",),
    "get": ("DESIGN", "ON", "host=web-1", "ts=1000"),
    "init": ("ROWS",),
    "live": ("things", "ON", "--design", "DESIGN", "--every", "100ms", "--for", "200ms"),
    "load": ("DESIGN", "ROWS", "ON"),
    "move": ("plan", "DESIGN", "DESIGN", "ON"),
    "portal": ("--hash-password",),
    "prove": ("DESIGN", "NEW", "--sample", "ROWS", "--phases", "1"),
    "put": ("DESIGN", "ON", "host=a", "ts=1"),
    "repair": ("DESIGN", "ON"),
    "report": ("DESIGN", "--sample", "ROWS"),
    "rules": ("RK1",),
    "scan": ("DESIGN", "ON"),
    "schema": (),
    "simulate": ("DESIGN", "--sample", "ROWS"),
    "splits": ("DESIGN", "--sample", "ROWS"),
    "types": ("DESIGN",),
    "vectors": ("DESIGN", "--rows", "LINES"),
    "verify": ("DESIGN", "ON"),
}
"""A call of each command; words in capitals stand for files and places."""
FILES = {"DESIGN": "things.toml", "ROWS": "rows.csv", "KEYS": "keys.txt", "LINES": "rows.jsonl"}


def spoil_missing(path: Path) -> None:
    """Remove the file."""
    path.unlink()


def spoil_folder(path: Path) -> None:
    """Put a folder in the place of the file."""
    path.unlink()
    path.mkdir()


def spoil_unreadable(path: Path) -> None:
    """Put a link to itself in the place of the file, which not even root can open."""
    path.unlink()
    path.symlink_to(path.name)


def spoil_empty(path: Path) -> None:
    """Empty the file."""
    path.write_bytes(b"")


def spoil_binary(path: Path) -> None:
    """Fill the file with bytes that are no text."""
    path.write_bytes(bytes(range(256)) * 8)


SPOILERS: tuple[Callable[[Path], None], ...] = (
    spoil_missing, spoil_folder, spoil_unreadable, spoil_empty, spoil_binary,
)  # fmt: skip


@pytest.fixture
def folder(things_folder: Path) -> Path:
    """Return the folder of a table, with rows and keys of it in files."""
    rows = "".join(f"web-{n % 9},{1_000 * n}\n" for n in range(400))
    (things_folder / "rows.csv").write_text(f"host,ts\n{rows}")
    (things_folder / "rows.jsonl").write_text('{"host": "a", "ts": 1}\n')
    key = run("encode", "things.toml", stdin='{"host": "a", "ts": 1}\n').out
    (things_folder / "keys.txt").write_text(key)
    return things_folder


def build_call(command: str) -> list[str]:
    """Return the words of a command's call, with the names of files and places."""
    places = {"ON": ["--on", "rocks:data"], "NEW": ["--on", "rocks:new"]}
    words = [name for word in CALLS[command] for name in places.get(word, [FILES.get(word, word)])]
    return [command, *words]


def check_no_traceback(found: Outcome) -> None:
    """Check that a failed command printed a message, not a traceback or a bug."""
    assert "Traceback" not in found.out + found.err
    assert "bug in rowkey" not in found.err
    assert found.code in (0, 1, 2, 3, 4)
    assert found.code == 0 or found.err or found.out


def test_the_robustness_test_covers_every_command() -> None:
    """The calls of this test cover all commands."""
    assert program.list_commands(click.Context(program)) == sorted(CALLS)


@pytest.mark.parametrize("command", CALLS)
def test_each_command_works_with_valid_files(command: str, folder: Path) -> None:
    """With good files each call does what it should."""
    del folder
    found = run(*build_call(command), stdin="open sesame\n")
    check_no_traceback(found)
    assert found.code in (0, 1)


@pytest.mark.parametrize("file", sorted(FILES))
def test_a_missing_or_unreadable_file_gives_a_message(file: str, folder: Path) -> None:
    """A missing, unreadable, empty or binary file or a folder in its place is a message."""
    good = folder / FILES[file]
    (folder / "kept").write_bytes(good.read_bytes())
    for command in [name for name, words in CALLS.items() if file in words]:
        for spoil in SPOILERS:
            spoil(good)
            found = run(*build_call(command))
            check_no_traceback(found)
            # An empty file may have no rows, and one of bytes may be left out row by row.
            assert found.code or spoil in (spoil_empty, spoil_binary), (command, spoil)
            shutil.rmtree(good) if good.is_dir() else good.unlink(missing_ok=True)
            shutil.copy(folder / "kept", good)
            shutil.rmtree(folder / "new", ignore_errors=True)


@pytest.mark.parametrize("command", CALLS)
def test_ctrl_c_exits_with_130_without_a_traceback(command: str, folder: Path) -> None:
    """Ctrl-C while a command runs exits with 130 and prints no traceback."""
    del folder
    ctx = click.Context(program)
    found = program.get_command(ctx, command)
    assert found is not None
    with patch.object(found, "callback", side_effect=KeyboardInterrupt):
        outcome = run(*build_call(command))
    assert (130, "", "interrupted") == (outcome.code, outcome.out, outcome.err.strip())


@pytest.mark.parametrize("command", thin_out(sorted(set(CALLS) - {"put", "load"}), 3))
def test_a_closed_output_gives_no_message_on_stderr(
    command: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A reader that closes the output ends the command without a message; notes are left out."""
    del folder
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w", encoding="utf-8") as pipe:  # noqa: PTH123
        monkeypatch.setattr("sys.stdin", io.StringIO("open sesame\n"))
        monkeypatch.setattr("sys.stdout", pipe)
        monkeypatch.setattr("sys.argv", ["rowkey", *build_call(command), "--quiet"])
        with wrap_standard_streams():
            code = _run_command()
        monkeypatch.undo()
    assert (141, "") == (code, capsys.readouterr().err)
