"""The page on how a row and an event travel lists functions that these calls make, in order."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow as pa
import pytest

import rowkey
from docs.blocks import ROOT

PACKAGE = ROOT / "src" / "rowkey"
FIRST_MS = 1_700_000_000_000
_SECTION = re.compile(r"^## ([^:\n]+): [^\n]+\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_STEP = re.compile(r"^\| `(.+?)` \| `(.+?)` \|", re.MULTILINE)


def trace_calls(call: Callable[[], object]) -> list[tuple[str, str]]:
    """Return file and name of the functions of rowkey that a call runs, as each first begins."""
    seen: dict[tuple[str, str], None] = {}

    def note_call(frame: FrameType, event: str, _: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            seen.setdefault((path.relative_to(PACKAGE).as_posix(), frame.f_code.co_qualname))

    sys.setprofile(note_call)
    try:
        call()
    finally:
        sys.setprofile(None)
    return list(seen)


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[str, str]]]:
    """The functions that each call of the page runs, on a table of its design."""
    design = rowkey.Design(
        "logs",
        "[bucket(host, 16)][host][desc(ts)]",
        fields={"host": "text", "ts": "timestamp_ms", "message": "text"},
        splits="per_bucket",
        writes={"rate": "100/s"},
    )
    rows = [
        {"host": f"web-{n % 8}", "ts": FIRST_MS + 100 * n, "message": "disk full"}
        for n in range(2_000)
    ]
    first = {"host": "web-0", "ts": FIRST_MS}
    folder = tmp_path_factory.mktemp("traced")
    with rowkey.open(design, f"rocks:{folder}") as logs:
        logs.put(rows[0])
        return {
            "A row is put": trace_calls(lambda: logs.put(rows[1])),
            "A row is read": trace_calls(lambda: logs.get(first)),
            "Rows are scanned": trace_calls(
                lambda: list(logs.scan("host = ?", "web-0", order="ts desc", limit=10))
            ),
            "An event is judged": trace_calls(
                lambda: rowkey.simulate.run(design, pa.Table.from_pylist(rows))
            ),
        }


def test_each_step_of_the_page_is_a_call_and_they_come_in_this_order(
    calls: dict[str, list[tuple[str, str]]],
) -> None:
    """A function may run again later; what counts is when it first begins."""
    text = (ROOT / "docs" / "how-data-travels.md").read_text(encoding="utf-8")
    sections = dict(_SECTION.findall(text))
    assert calls.keys() == sections.keys()
    for title, section in sections.items():
        steps = _STEP.findall(section)
        assert len(steps) > 5
        assert [] == [step for step in steps if step not in calls[title]]
        starts = [calls[title].index(step) for step in dict.fromkeys(steps)]
        assert sorted(starts) == starts, title
