"""The number of Python calls of a put and of a repeated scan is limited."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from rowkey.plan import ranges
from rowkey.table.scans import scan_state

if TYPE_CHECKING:
    from rowkey.table import Table

NULLABLE = {"nullable": True}
DESIGN = rowkey.Design(
    "logs",
    "[bucket(host, 8)][host][desc(ts)]",
    fields={
        "host": "text",
        "ts": "timestamp_ms",
        "status": {"type": "i32", **NULLABLE},
        "path": {"type": "text", **NULLABLE},
    },
    splits="per_bucket",
    reads=[{"name": "latest", "where": "host = ?", "limit": 3}],
)
ROW = {"host": "web-1", "ts": 1_700_000_000_000, "status": 200, "path": "/x"}
MAX_PUT_CALLS = 60
"""Python calls of one put; a put that checked and stamped its cells one by one took 109."""


@pytest.fixture
def table() -> Iterator[Table]:
    """A table in memory with one row that was written and read once."""
    with rowkey.open(DESIGN, "memory:") as logs:
        logs.put(ROW)
        assert [ROW] == list(logs.read("latest", "web-1"))
        yield logs


def count_calls(function: Callable[[], object]) -> int:
    """Return how many Python functions a call runs."""
    calls = 0

    def profile(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(None)
    return calls


def test_a_put_of_four_fields_makes_at_most_sixty_python_calls(table: Table) -> None:
    assert count_calls(lambda: table.put(ROW)) <= MAX_PUT_CALLS


def refuse(*_: object) -> Any:
    """Fail, because this function must not be called."""
    raise AssertionError


def test_a_second_read_of_one_form_is_not_planned_again(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second read of one form computes neither row order nor spreading parts again."""
    monkeypatch.setattr(ranges, "compute_row_order", refuse)
    monkeypatch.setattr(ranges, "count_spreading_parts", refuse)
    assert [] == list(table.read("latest", "web-2"))


def test_a_scan_computes_no_token_until_it_is_read(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scan whose token is not read computes no digest of its conditions."""
    monkeypatch.setattr(scan_state, "compute_digest", refuse)
    found = table.read("latest", "web-1")
    assert [ROW] == list(found)
    with pytest.raises(AssertionError):
        _ = found.token
