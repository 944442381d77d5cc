"""Runs the command in this process, as a shell would, and tells what it printed and left with."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from unittest.mock import patch

from click.testing import CliRunner

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
    """What one run of the command left behind."""

    code: int
    out: str
    err: str


def run(*arguments: object, stdin: str | bytes = "") -> Outcome:
    """Run `rowkey` with arguments and text on standard input."""
    argv = ["rowkey", *map(str, arguments)]
    with CliRunner().isolation(input=stdin) as (out, err, _), patch.object(sys, "argv", argv):
        code = _left_with()
        sys.stdout.flush()
        sys.stderr.flush()
        return Outcome(code, out.getvalue().decode(), err.getvalue().decode())


def _left_with() -> int:
    """The exit code of the command, which always leaves with a number."""
    try:
        main()
    except SystemExit as left:
        if isinstance(left.code, int):
            return left.code
        raise
    return 0
