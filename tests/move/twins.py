"""Two tables of different designs with the rows of a model, written without the mover."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import rowkey
from rowkey import Design

if TYPE_CHECKING:
    from rowkey.table import GenerationState, Table

Row = dict[str, Any]

IDENTITY = ("user", "at", "number")
FIELDS: dict[str, Any] = {
    "user": {"type": "text", "max_bytes": 16},
    "at": "timestamp_s",
    "number": "u64",
    "note": {"type": "text", "nullable": True},
    "amount": {"type": "i64", "nullable": True},
}
PACKED = {
    **FIELDS,
    "note": {"type": "text", "nullable": True, "pack": "p"},
    "amount": {"type": "i64", "nullable": True, "pack": "p"},
}
WIDE = {**FIELDS, "number": {"type": "u64", "at": "qualifier"}}
AT_IN_QUALIFIER = {**FIELDS, "at": {"type": "timestamp_s", "at": "qualifier"}}
MADE_EARLIER_MS = 1_000_000_000_000
"""The timestamps of rows begin here."""

TWO_FAMILIES = {
    **FIELDS,
    "note": {"type": "text", "nullable": True, "family": "e"},
    "number": {"type": "u64", "at": "qualifier"},
}
FAMILIES = {"d": {"versions": 3}}

DESIGNS: dict[str, Design] = {
    name: Design(
        name,
        key,
        fields=fields,
        families={**FAMILIES, "e": {"versions": 2}} if fields is TWO_FAMILIES else FAMILIES,
    )
    for name, key, fields in (
        ("by_user", "[bucket(user, 4)][user][desc(at)][number]", FIELDS),
        ("by_number", "[reverse(number)][at][user]", FIELDS),
        ("by_digest", "[digest(user, 8)][number][at]", FIELDS),
        ("wide", "[user][at]", WIDE),
        ("in_buckets_of_time", "[user][time_bucket(at, 1h)][number]", AT_IN_QUALIFIER),
        ("sliced", "[time_slice(at, 1h)][user][number]", FIELDS),
        ("packed", "[number][user][at]", PACKED),
        ("coded", "[code(user)][number][at]", FIELDS),
        ("two_families", "[at][user]", TWO_FAMILIES),
        ("salted", "[salt(3)][user][at][number]", FIELDS),
    )
}


class Twins:
    """A source and a target that hold the same rows, until a test plants a fault.

    Args:
        source: the first table.
        target: the second one.
    """

    def __init__(self, source: Table, target: Table) -> None:
        self.source, self.target = source, target

    @property
    def states(self) -> tuple[GenerationState, GenerationState]:
        """The states of both tables."""
        return self.source.get_state(), self.target.get_state()

    def write(self, row: Row, timestamp: int, sides: str = "st") -> None:
        """Write the given fields of a row with a timestamp to the source, the target or both."""
        for side, table in (("s", self.source), ("t", self.target)):
            if side in sides:
                write_row(table, row, timestamp)

    def delete(self, row: Row, timestamp: int, sides: str = "st") -> None:
        """Delete a row with a timestamp in the source, the target or both."""
        for side, table in (("s", self.source), ("t", self.target)):
            if side in sides:
                identity = {name: row[name] for name in IDENTITY}
                layout, salt = table.design.layout, choose_salt(table)
                mutation = layout.encode_delete(identity, timestamp=timestamp, salt=salt)
                table.store.mutate([mutation])


def write_row(table: Table, row: Row, timestamp: int) -> None:
    """Write the given fields of a row with a timestamp to one table."""
    mutation = table.design.layout.encode_event(row, timestamp=timestamp, salt=choose_salt(table))
    table.store.mutate([mutation])


def choose_salt(table: Table) -> int | None:
    """Return a salt if the key of a table has one."""
    return 1 if table.design.key.is_salted else None


@contextmanager
def open_twins(source: str, target: str, url: str = "memory:") -> Iterator[Twins]:
    """Open two empty tables of two of the designs."""
    second = url if url == "memory:" else f"{url}-target"
    with rowkey.open(DESIGNS[source], url) as first, rowkey.open(DESIGNS[target], second) as other:
        yield Twins(first, other)


def build_row(number: int, **values: Any) -> Row:
    """Return a row of a number."""
    row: Row = {"user": f"u{number % 7}", "at": 1_600_000_000 + 1_700 * (number % 5)}
    return {**row, "number": number, "note": f"note {number}", "amount": -number} | values


def get_identity(row: Row) -> tuple[Any, ...]:
    """Return the values that identify a row."""
    return tuple(row[name] for name in IDENTITY)
