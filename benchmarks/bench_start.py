"""How long the command takes to say anything."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from timing import against

if TYPE_CHECKING:
    from collections.abc import Iterator

    from timing import Result

RUNS = 5
DESIGN = Path(__file__).parents[1] / "src" / "rowkey" / "examples" / "flights" / "hashed.toml"


def results() -> Iterator[Result]:
    """Every figure of this page."""
    command = str(Path(sysconfig.get_path("scripts")) / "rowkey")
    for name, words, times in (
        ("rowkey --help", [command, "--help"], 3.0),
        ("rowkey check of one design", [command, "check", str(DESIGN)], None),
    ):
        found = against(
            name,
            "starts/s",
            (RUNS, partial(_run, words)),
            "bare python -c pass",
            (RUNS, lambda: _run([sys.executable, "-c", "pass"])),
        )
        if times is not None:
            found.goal = f"at most {times:g} times as long as bare Python"
            found.met = 1 / (found.ratio or 1) <= times
        yield found


def _run(words: list[str]) -> None:
    for _ in range(RUNS):
        subprocess.run(words, check=False, capture_output=True)
