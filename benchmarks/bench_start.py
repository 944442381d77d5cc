"""How long the command takes to start, compared with a bare Python interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from timing import measure_ratio

if TYPE_CHECKING:
    from timing import Result

RUNS = 5
FIELDS = 200
GOAL = 4.0
NOTE = (
    "All programs, bare Python included, ran with compiled modules, as an installer leaves them. "
    "`check` misses its goal because importing click and pydantic alone takes more than the goal, "
    "as the second row shows; rowkey's own modules take most of the rest, and judging the 200 "
    "fields the smallest part."
)


def measure_all() -> Iterator[Result]:
    """Yield all results on starting the command."""
    command = str(Path(sysconfig.get_path("scripts")) / "rowkey")
    with TemporaryDirectory() as place:
        one, many = Path(place, "one.toml"), Path(place, "many.toml")
        one.write_text('table = "one"\nkey = "[id]"\n\n[fields]\nid = "u64"\n', "utf-8")
        many.write_text(build_design_text(FIELDS), "utf-8")
        stands_on = (
            "from pydantic import BaseModel, BeforeValidator, ConfigDict, Field; import click"
        )
        check, compiled = [command, "check"], Path(place, "compiled")
        for name, words, times in (
            ("rowkey --help", [command, "--help"], 3.0),
            ("importing click and pydantic", [sys.executable, "-c", stands_on], None),
            ("rowkey check of one field", [*check, str(one)], None),
            (f"rowkey check of {FIELDS} fields", [*check, str(many)], GOAL),
        ):
            yield measure_command(name, words, times, compiled)


def measure_command(name: str, words: list[str], times: float | None, compiled: Path) -> Result:
    """Measure a command against a bare interpreter, each with its modules compiled.

    Args:
        name: what it is called.
        words: the command.
        times: how many times as long it may take; None without a goal.
        compiled: where compiled modules are kept, by the warm-up.
    """
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(compiled)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def run(command: list[str]) -> None:
        """Run a command several times."""
        for _ in range(RUNS):
            subprocess.run(command, check=False, capture_output=True, env=environment)

    bare = [sys.executable, "-c", "pass"]
    ours, theirs = (RUNS, partial(run, words)), (RUNS, partial(run, bare))
    result = measure_ratio(name, "starts/s", ours, "bare python -c pass", theirs)
    if times is not None:
        took = 1 / (result.ratio or 1)
        result.notes = f"{took:.1f} times as long"
        result.goal = f"at most {times:g} times as long as bare Python"
        result.met = took <= times
    return result


def build_design_text(fields: int) -> str:
    """Return a valid design of many fields, texts and numbers in turn."""
    kinds = ('{ type = "text", max_bytes = 40 }', '"u64"', '"i32"', '"float64"')
    named = "".join(f"f{n:03} = {kinds[n % len(kinds)]}\n" for n in range(fields - 1))
    return f"""\
table  = "many"
key    = "[bucket(f000, 16)][f000][desc(ts)]"
splits = "per_bucket"

[fields]
ts = "timestamp_ms"
{named}
[families.d]
versions = 1
ttl      = "30d"

[writes]
rate = "500/s"

[[reads]]
name  = "tail"
where = "f000 = ?"
order = "ts desc"
limit = 100
"""
