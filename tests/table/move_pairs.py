"""Pairs of tables with the same fields and identity in different designs, and changes of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from hypothesis import assume
from hypothesis import strategies as st

import rowkey
from rowkey.engines import RAW_CELLS, CellSelection, ScanRange
from table.clients import ManualClock, open_client, set_buckets

if TYPE_CHECKING:
    from rowkey.cells import Cell, RowCells
    from rowkey.table import Table

START_MS = 1_700_000_000_000
STEP_MS = 10
"""Milliseconds from one change to the next."""
HOSTS = ("a", "bb", "ccc")
TIMES = tuple(START_MS + step for step in (0, 40, 120))
KEYS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("[host][ts]", ()),
    ("[ts][host]", ()),
    ("[bucket(host, 4)][host][desc(ts)]", ()),
    ("[bucket(host, 2)][ts][host]", ()),
    ("[digest(host, 6)][ts]", ()),
    ("[bucket(host, 4)][host][time_bucket(ts, 10ms)]", ()),
    ("[host][time_slice(ts, 100ms)]", ()),
    ("[bucket(host, 4)][host]", ("ts",)),
    ("[digest(host, 6)]", ("ts",)),
    ("[truncate(host, 1)][ts]", ()),
    ("[salt(3)][host][ts]", ()),
    ("[salt(2)][digest(host, 6)]", ("ts",)),
)
"""Keys with the fields that lie in the qualifier; all are identified by host and ts."""
COLUMNS: tuple[dict[str, Any], ...] = (
    {},
    {"note": {"family": "e"}},
    {"size": {"qualifier": "s"}, "note": {"qualifier": "", "family": "e"}},
    {"note": {"pack": "p"}, "size": {"pack": "p"}},
    {"note": {"pack": "p", "family": "e"}, "size": {"pack": "p", "family": "e"}},
    {"size": {"pack": "p"}, "tag": {"pack": "p"}},
    {"size": {"family": "e"}, "tag": {"pack": "q:protobuf"}, "note": {"pack": "q:protobuf"}},
    {"host": {"family": "e"}},
    {"host": {"pack": "p"}, "tag": {"pack": "p"}},
)
"""How the fields of a table may be placed."""


@dataclass(frozen=True)
class MovePair:
    """A source and a target design, and a twin of the target that is written natively.

    Args:
        source: the source's design.
        target: the target's design.
    """

    source: rowkey.Design
    target: rowkey.Design

    @property
    def is_salted(self) -> bool:
        """Whether one of the keys has a random salt."""
        return any(design.key.is_salted for design in (self.source, self.target))

    @property
    def can_increment(self) -> bool:
        """Whether counters can be incremented in both tables.

        An increment cannot write the part of a key's field that a packed cell has.
        """
        return not self.is_salted and all(
            design.fields["host"].declaration.pack is None and "stamp" not in design.fields
            for design in (self.source, self.target)
        )


def build_design(
    name: str, key: str, wide: Sequence[str], columns: Mapping[str, Any], options: Mapping[str, Any]
) -> rowkey.Design:
    """Return a design of the common fields with some placements."""
    fields: dict[str, dict[str, Any]] = {
        "host": {"type": "text"},
        "ts": {"type": "timestamp_ms"},
        "note": {"type": "text", "nullable": True},
        "size": {"type": "u32", **({"nullable": True} if options["optional"] else {})},
        "tag": {"type": "u16", "nullable": True},
        "hits": {"type": "i64", "nullable": True},
    }
    if options["stamp"]:
        fields["stamp"] = {"type": "timestamp_ms", "at": "timestamp"}
    for field in wide:
        fields[field]["at"] = "qualifier"
    for field, placement in columns.items():
        if "at" not in fields[field]:
            fields[field] |= placement
    used = {one["family"] for one in fields.values() if "family" in one} | {"d"}
    attributes = {"versions": options["versions"], "keep_deleted": options["keep_deleted"]}
    families = {family: dict(attributes) for family in sorted(used)}
    writes = {"time": "ts"}
    return rowkey.Design(name, key, fields=fields, families=families, writes=writes)


@st.composite
def draw_pairs(draw: st.DrawFn, *, keeps_history: bool = True) -> MovePair:
    """Draw two designs of the same fields and identity."""
    options = {
        "optional": draw(st.booleans()),
        "stamp": draw(st.integers(0, 4)) == 0,
        "versions": 50 if keeps_history else draw(st.integers(1, 3)),
        "keep_deleted": "TRUE" if keeps_history else "FALSE",
    }
    source, target = (
        build_design(name, *draw(st.sampled_from(KEYS)), draw(st.sampled_from(COLUMNS)), options)
        for name in ("source", "target")
    )
    assume(not (source.key.is_salted and options["stamp"]))
    return MovePair(source, target)


class WrittenTables:
    """The source with random changes, its twin of the target's design, and an empty target.

    Args:
        pair: the designs.
    """

    def __init__(self, pair: MovePair) -> None:
        self.pair, self.now = pair, START_MS + 1_000
        self.source, self.twin, self.target = (
            open_client(design, "memory:", ManualClock(), lambda: self.now)
            for design in (pair.source, pair.target, pair.target)
        )

    def change(self, data: st.DataObject) -> None:
        """Make one random change in the source and in the twin, at the same time."""
        self.now += STEP_MS
        # Salts are drawn from a seed, so that an example can be repeated.
        with patch("rowkey.table.row_writer.secrets.randbelow", Random(self.now).randrange):
            self._change(data)

    def _change(self, data: st.DataObject) -> None:
        row: dict[str, Any] = {
            "host": data.draw(st.sampled_from(HOSTS)),
            "ts": data.draw(st.sampled_from(TIMES)),
        }
        if "stamp" in self.pair.source.fields:
            row["stamp"] = START_MS + 2_000 + STEP_MS * data.draw(st.integers(0, 3))
        values = {
            "size": data.draw(st.integers(0, 9)),
            "note": data.draw(st.sampled_from([None, "", "x"])),
            "tag": data.draw(st.sampled_from([None, 1, 2])),
        }
        if data.draw(st.booleans()):
            del values["note"]
        change = data.draw(st.sampled_from(["put", "put", "put", "replace", "delete", "hits"]))
        for table in (self.source, self.twin):
            if change == "put":
                table.put({**row, **values})
            elif change == "replace":
                table.replace({**row, **values})
            elif change == "delete":
                table.delete(row)
            elif self.pair.can_increment:
                table.increment(row, hits=3)

    def change_buckets(self, table: Table, data: st.DataObject) -> None:
        """Change the number of buckets of a table, if it has one and may."""
        found = table.buckets.parts
        if found and not found[0].distinguishing_fields:
            others = [n for n in (2, 4, 8) if n != found[0].count]
            if "stamp" not in self.pair.source.fields:
                set_buckets(table, data.draw(st.sampled_from(others)))


def scan_raw(table: Table) -> list[RowCells]:
    """Return all that is stored in a table."""
    return list(table.store.scan([ScanRange()], RAW_CELLS)[0])


def list_rows(table: Table, before_ms: int | None = None) -> list[dict[str, Any]]:
    """Return the rows of a table, also as they were before a time, in an order of their own."""
    if before_ms is None:
        return sort_rows(table.scan())
    # Cells of all row keys of a row are merged, the newest of each field first.
    state = table.get_state()
    newest: dict[Any, dict[tuple[str, bytes], tuple[bytes, Cell]]] = {}
    selection = CellSelection(time_range=(0, before_ms))
    for row, cells in table.store.scan([ScanRange()], selection)[0]:
        for event in state.combined_design.layout.decode_events(row, cells):
            identity = (event["host"], event["ts"])
            if None in identity:  # a counter that was copied before the rest of its row key
                continue
            prefix = state.active_design.layout.qualifier_prefix
            start = b"" if prefix is None else prefix.encode(event)
            own = newest.setdefault(identity, {})
            for cell in cells:
                column = (cell.family, cell.qualifier)
                if cell.qualifier.startswith(start) and (
                    column not in own or own[column][1].timestamp < cell.timestamp
                ):
                    own[column] = (row, cell)
    found = []
    for own in newest.values():
        row = max(own.values(), key=lambda one: one[1].timestamp)[0]
        cells = [cell for _, (_, cell) in sorted(own.items())]
        found += state.combined_design.layout.decode_events(row, cells)
    return sort_rows(found)


def sort_rows(rows: Any) -> list[dict[str, Any]]:
    """Return rows ordered by identity."""
    return sorted(rows, key=lambda row: (row["host"], row["ts"]))
