"""A small log whose number of buckets tests change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import rowkey

if TYPE_CHECKING:
    from rowkey.table import Table

FIELDS: dict[str, Any] = {
    "host": "text",
    "ts": "timestamp_ms",
    "note": {"type": "text", "nullable": True},
    "hits": {"type": "i64", "nullable": True},
}
KEY = "[bucket(host, 16)][host][ts]"
HOSTS = ("w1", "w2", "w4", "w6", "w3", "w7", "w8", "w9", "w12")
"""All but `w3` have another bucket of 32 than of 16."""
ROWS: list[dict[str, Any]] = [
    {"host": HOSTS[n % 9], "ts": n, "note": f"n{n}", "hits": n} for n in range(90)
]


def build_design(key: str = KEY, **words: Any) -> rowkey.Design:
    """Build the design of a small log."""
    return rowkey.Design("logs", key, **({"fields": FIELDS, "splits": "per_bucket"} | words))


def sort_by_key(rows: list[Any]) -> list[Any]:
    """Return rows in the order of the key after its bucket."""
    return sorted(rows, key=lambda row: (row["host"], row["ts"]))


def refuse_to_wait(seconds: float) -> None:
    """Fail, since a test must not wait here."""
    raise AssertionError(seconds)


def advance_clock(table: Table, seconds: float) -> None:
    """Advance the clock of a client's lease."""
    table.lease.clock.now += seconds  # type: ignore[attr-defined]
