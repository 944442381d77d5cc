"""Runs the command in this process as a shell would, and returns its output and exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from click.testing import CliRunner

from command_server import CODE, find_command
from rowkey.cli import main

LOGS = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
host = "text"
ts   = "timestamp_ms"

[writes]
rate = "500/s"
for  = "60s"
"""


@dataclass(frozen=True)
class Outcome:
    """The output and exit code of one run of the command."""

    code: int
    out: str
    err: str


def run(*arguments: object, stdin: str | bytes = "") -> Outcome:
    """Run `rowkey` with arguments and text on standard input."""
    argv = ["rowkey", *map(str, arguments)]
    with CliRunner().isolation(input=stdin) as (out, err, _), patch.object(sys, "argv", argv):
        code = _get_exit_code()
        sys.stdout.flush()
        sys.stderr.flush()
        return Outcome(code, out.getvalue().decode(), err.getvalue().decode())


def run_in_process(folder: Path, code: str, *arguments: str, imports_anew: bool = False) -> Outcome:
    """Run `rowkey` as a process of its own, with code that runs before `main()`.

    Args:
        folder: where it runs.
        code: Python, with `sys` imported.
        arguments: those of the command.
        imports_anew: whether it is Python from its start, which has imported nothing of rowkey.
    """
    if imports_anew:
        whole = f"import sys\nsys.argv = {['rowkey', *arguments]!r}\n{code}"
        command, environment = [sys.executable, "-c", whole], None
    else:
        command = [find_command(), *arguments]
        environment = {**os.environ, CODE: f"import sys\n{code}"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def build_signal_during_dump(name: str) -> str:
    """Return code for `run_in_process` that sends a signal at the last batch of a dump."""
    return f"""
import os, signal
from rowkey.table import Scan
batches = Scan.batches
def ended(self, *words):
    yield from batches(self, *words)
    os.kill(os.getpid(), signal.{name})
Scan.batches = ended
from rowkey.cli import main
main()
"""


def build_signal_after_first_batch(name: str) -> str:
    """Return code for `run_in_process` that sends a signal after a load's first batch."""
    return f"""
import os, signal
from threading import Thread
from rowkey import table
load_file = table.load_file
def load_and_end(*words, progress, **options):
    has_ended = False
    def report_and_end(now):
        nonlocal has_ended
        progress(now)
        if now.done and not has_ended:
            has_ended = True
            Thread(target=os.kill, args=(os.getpid(), signal.{name})).start()
    return load_file(*words, progress=report_and_end, **options)
table.load_file = load_and_end
from rowkey.cli import main
main()
"""


def _get_exit_code() -> int:
    """Return the exit code of the command, which always exits with a number."""
    try:
        main()
    except SystemExit as left:
        if isinstance(left.code, int):
            return left.code
        raise
    return 0
