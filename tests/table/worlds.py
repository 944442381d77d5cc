"""Random designs with rows and reads, and the expected rows of each read.

The expected rows are sorted and filtered as values, by separate code without keys, plans or cells.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from rowkey import Design

BUCKETS = (1, 2, 7, 16, 100, 256)
LEVELS = ["low", "mid", "high"]
VALUES: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "host": ("text", st.sampled_from(["", "a", "a!", "ab", "b", "ÿ", "z" * 20])),
    "n": ("i32", st.sampled_from([-(2**31), -2, -1, 0, 1, 255, 256, 2**31 - 1])),
    "u": ("u16", st.sampled_from([0, 1, 2, 255, 256, 65535])),
    "ts": ("timestamp_ms", st.integers(1_700_000_000_000, 1_700_000_000_040)),
    "day": ("date", st.dates(dt.date(2023, 12, 29), dt.date(2024, 1, 3))),
    "raw": ("bytes", st.sampled_from([b"", b"\0", b"\0\1", b"\xff", b"\xff\0", b"ab"])),
    "level": ({"type": "choice", "of": LEVELS}, st.sampled_from(LEVELS)),
    "mark": ({"type": "u8", "nullable": True}, st.sampled_from([None, 0, 1, 255])),
}
COLUMNS: dict[str, Any] = {"note": {"type": "text", "nullable": True}, "size": "u32"}
Row = dict[str, Any]


def rank_value(name: str, value: Any) -> Any:
    """Return a value that sorts by its field: nulls first, choices in their listed order."""
    if value is None:
        return (0,)
    return (1, LEVELS.index(value) if name == "level" else value)


def make_row_order(name: str) -> Callable[[Row], Any]:
    """Return a function that orders rows by one field."""
    return lambda row: rank_value(name, row[name])


def make_presence_check(name: str) -> Callable[[Row], bool]:
    """Return a function that checks whether a row has a field."""
    return lambda row: row[name] is not None


@dataclass(frozen=True)
class World:
    """A design and the rows of its table.

    Args:
        design: the design.
        names: the fields of the key after the spreading parts.
        falls: whether each of these fields descends.
        rows: rows with different keys, in the order of their puts.
    """

    design: Design
    names: tuple[str, ...]
    falls: tuple[bool, ...]
    rows: tuple[Row, ...]

    def sort_rows(self, rows: list[Row]) -> list[Row]:
        """Return rows in the order of the key after spreading parts."""
        found = list(rows)
        for name, falls in reversed(list(zip(self.names, self.falls, strict=True))):
            nulls_first = falls and any(row[name] is None for row in rows)
            found.sort(key=make_row_order(name), reverse=falls)
            if nulls_first:
                found.sort(key=make_presence_check(name))
        return found

    def identity(self, row: Row) -> tuple[Any, ...]:
        """Return the values that identify a row."""
        return tuple(row[name] for name in self.names)


def to_plain_row(row: Row) -> Row:
    """Return a row of Arrow's values in the form of the table: times in milliseconds."""
    if row.get("ts") is None:
        return row
    since = row["ts"] - dt.datetime.fromtimestamp(0, dt.UTC)
    return {**row, "ts": since // dt.timedelta(milliseconds=1)}


@st.composite
def draw_worlds(draw: st.DrawFn, most_rows: int = 30) -> World:
    """Draw a design whose key is spread in any way or not at all, and rows."""
    names = tuple(
        draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=4, unique=True))
    )
    falls = tuple(draw(st.booleans()) for _ in names)
    n = draw(st.sampled_from(BUCKETS))
    over = ", ".join(draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True)))
    spread = draw(st.sampled_from(["", f"[salt({n})]", f"[bucket({over}, {n})]"]))
    parts = (
        f"[desc({name})]" if down else f"[{name}]" for name, down in zip(names, falls, strict=True)
    )
    fields = {name: VALUES[name][0] for name in names} | COLUMNS
    design = Design(
        "t",
        spread + "".join(parts),
        fields=fields,
        splits="per_bucket" if spread and n > 1 else None,
        writes={"time": "ts"} if {"ts", "day"} <= set(names) else {},
    )
    values = {name: VALUES[name][1] for name in names}
    columns = {"note": st.sampled_from([None, "", "x"]), "size": st.integers(0, 9)}
    drawn = draw(st.lists(st.fixed_dictionaries(values | columns), max_size=most_rows))
    rows = {tuple(row[name] for name in names): row for row in drawn}
    # A key of nulls alone would be empty, which no row may have.
    kept = [row for row in rows.values() if any(row[name] is not None for name in names)]
    return World(design, names, falls, tuple(kept))


@dataclass(frozen=True)
class DrawnRead:
    """A read as text, with its values, and a direct check of a row."""

    where: str
    values: tuple[Any, ...]
    tests: tuple[tuple[str, str, Any], ...]

    def matches(self, row: Row) -> bool:
        """Return whether a row satisfies all conditions."""
        return all(
            _satisfies(name, operator, row[name], wanted) for name, operator, wanted in self.tests
        )


def _satisfies(name: str, operator: str, value: Any, wanted: Any) -> bool:
    if operator == "=":
        return bool(value == wanted)
    if operator == "in":
        return value in wanted
    if value is None:
        return False
    mine, other = rank_value(name, value), rank_value(name, wanted)
    return bool(
        {"<": mine < other, "<=": mine <= other, ">": mine > other, ">=": mine >= other}[operator]
    )


@st.composite
def draw_reads(draw: st.DrawFn, world: World) -> DrawnRead:
    """Draw conditions on fields of the key and on columns."""
    tests: list[tuple[str, str, Any]] = []
    for name in draw(st.lists(st.sampled_from((*world.names, "size")), max_size=3, unique=True)):
        values = VALUES[name][1] if name in VALUES else st.integers(0, 9)
        operator = draw(st.sampled_from(["=", "in", "<", "<=", ">", ">="]))
        if operator == "in":
            wanted: Any = draw(st.lists(values, min_size=1, max_size=3, unique=True))
        elif operator == "=":
            wanted = draw(values)
        else:
            wanted = draw(values.filter(lambda value: value is not None))
        tests.append((name, operator, wanted))
    where = " and ".join(f"{name} {operator} ?" for name, operator, _ in tests)
    return DrawnRead(where, tuple(wanted for _, _, wanted in tests), tuple(tests))
