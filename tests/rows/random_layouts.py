"""Random layouts, rows for them, and a store of cells that is a dictionary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import hypothesis.strategies as st
import pyarrow as pa
from hypothesis import assume

import strategies
from rowkey.cells import LATEST, Cell, CellBlock, CellType, Family, RowCells, build_sort_key
from rowkey.design.placement_checks import check_column_collisions, check_placements
from rowkey.errors import Mistakes, RowError
from rowkey.keys import bind_fields, build_field_column
from rowkey.rows import Layout, build_layout
from rowkey.schema import Duration, FieldDeclaration, FieldRef, FunctionCall, Term

if TYPE_CHECKING:
    from rowkey.keys import Field, Key

NOW = 1_700_000_000_000
TIMES = ("timestamp_s", "timestamp_ms", "timestamp_us", "timestamp_ns", "date")
PLACEMENTS: tuple[dict[str, Any], ...] = (
    {}, {"at": "qualifier"}, {"pack": "p"}, {"pack": "p"}, {"family": "e"}, {"qualifier": "q"},
    {"pack": "r", "family": "e"}, {"qualifier": ""}, {"pack": "s:protobuf"},
)  # fmt: skip
LENGTHS = (Duration(1, "d"), Duration(1, "h"), Duration(1, "m"), Duration(250, "ms"))
SCHEMA = pa.schema(
    {"row": pa.binary(), "family": pa.string(), "qualifier": pa.binary(), "timestamp": pa.int64(),
     "value": pa.binary()}
)  # fmt: skip

Row = dict[str, Any]


@lru_cache
@st.composite
def draw_layouts(draw: st.DrawFn, *, slices: bool | None = None) -> Layout:
    """Draw a layout over random fields and placements whose rows can be read back.

    Args:
        draw: Hypothesis' own.
        slices: whether its key has a time slice; now and then if None.
    """
    has_time = draw(st.booleans()) if slices is None else slices
    kinds = (draw(st.sampled_from(TIMES)),) if has_time else ()
    drawn = draw(strategies.fields(kinds))
    words = {name: one.declaration for name, one in drawn.items()}
    for name in [*words][1 if has_time else 0 :]:
        words[name] = words[name].model_copy(update=draw(st.sampled_from(PLACEMENTS)))
    if draw(st.integers(0, 5)) == 0:
        words["stamp"] = FieldDeclaration(type=draw(st.sampled_from(TIMES)), at="timestamp")
    bound = bind_fields(words, Mistakes())
    key = _draw_key(draw, bound, next(iter(bound)) if has_time else "")
    layout = build_layout(key, bound)
    mistakes = Mistakes()
    check_placements(bound, {"d": Family("d")}, frozenset("de"), mistakes)
    check_column_collisions(layout, mistakes)
    assume(not mistakes.mistakes)
    return layout


def _draw_key(draw: st.DrawFn, bound: Mapping[str, Field], sliced: str) -> Key:
    """Draw a decodable key over some of the fields, with a slice of the named field."""
    terms: list[Term] = [strategies.draw_term(draw, bound) for _ in range(draw(st.integers(1, 3)))]
    if sliced:
        call = FunctionCall("time_slice", (FieldRef(sliced),), (draw(st.sampled_from(LENGTHS)),))
        term = call if draw(st.booleans()) else FunctionCall("desc", (call,))
        terms.insert(draw(st.integers(0, len(terms))), term)
    key = strategies.try_build_key(tuple(terms), bound)
    assume(key is not None)
    assert key is not None
    assume(key.is_decodable)
    return key


@st.composite
def draw_rows(draw: st.DrawFn, layout: Layout) -> Row:
    """Draw a row with a normal value of each field, or null where allowed."""
    row: Row = {}
    for name, declared in layout.fields.items():
        absent = declared.nullable and draw(st.integers(0, 2)) == 0
        row[name] = None if absent else declared.normalize(draw(_draw_values(declared)))
    return row


def _draw_values(declared: Field) -> st.SearchStrategy[Any]:
    """Draw values of a field; whole milliseconds for the field that is the timestamp."""
    if declared.declaration.at != "timestamp":
        return strategies.values(declared)
    ms = st.integers(0, 3_000).map(lambda day: day * 86_400_000)
    tick = declared.type.unit_ns or 1
    return ms.map(lambda one: declared.type.from_internal(one * 10**6 // tick))


@dataclass
class CellStore:
    """Cells by physical row and column; the last written cell of each column stays."""

    rows: dict[bytes, dict[tuple[str, bytes], Cell]] = field(default_factory=dict)

    def apply(self, change: RowCells) -> None:
        """Apply a mutation; later mutations hide earlier ones, whatever their timestamps."""
        row = self.rows.setdefault(change.row, {})
        for cell in change.cells:
            if cell.cell_type is CellType.PUT:
                stamped = NOW if cell.timestamp == LATEST else cell.timestamp
                row[cell.family, cell.qualifier] = cell._replace(timestamp=stamped)
                continue
            whole = cell.cell_type in (CellType.DELETE_FAMILY, CellType.DELETE_FAMILY_VERSION)
            exact = cell.cell_type in (CellType.DELETE, CellType.DELETE_FAMILY_VERSION)
            for (family, qualifier), old in [*row.items()]:
                is_there = family == cell.family and (whole or qualifier == cell.qualifier)
                if is_there and (not exact or old.timestamp == cell.timestamp):
                    del row[family, qualifier]

    def row_cells(self) -> list[RowCells]:
        """Return the rows that have cells, with rows and cells in HBase's order."""
        kept = [(key, row) for key, row in sorted(self.rows.items()) if row]
        return [RowCells(key, sorted(row.values(), key=build_sort_key)) for key, row in kept]

    def batch(self) -> pa.RecordBatch:
        """Return all cells as an Arrow batch."""
        listed = [
            {"row": key, "family": c.family, "qualifier": c.qualifier, "timestamp": c.timestamp,
             "value": c.value}
            for key, cells in self.row_cells()
            for c in cells
        ]  # fmt: skip
        return pa.RecordBatch.from_pylist(listed, SCHEMA)


def encode_or_reject(layout: Layout, row: Row, salt: int = 0) -> RowCells:
    """Return the cells of a row, and reject the example if the key cannot hold the row."""
    try:
        return layout.encode_event(row, salt=salt)
    except RowError:
        assume(False)
        raise


def to_arrow(layout: Layout, listed: list[Row]) -> pa.RecordBatch:
    """Return rows as an Arrow batch."""
    columns = {}
    for name, declared in layout.fields.items():
        arrow = declared.type.build_arrow_type()
        values = [row[name] for row in listed]
        held = pa.int64() if pa.types.is_timestamp(arrow) else arrow
        columns[name] = pa.array(values, held).cast(arrow)
    return pa.RecordBatch.from_pydict(columns)


def from_arrow(layout: Layout, batch: pa.RecordBatch) -> list[Row]:
    """Return an Arrow batch as rows with normal values."""
    lists = {
        n: build_field_column(layout.fields[n], batch.column(n)).to_list()
        for n in batch.schema.names
    }
    return [dict(zip(lists, values, strict=True)) for values in zip(*lists.values(), strict=True)]


def list_puts(blocks: list[CellBlock]) -> set[tuple[bytes, Cell]]:
    """Return the cells of blocks, each with its row key."""
    found = set()
    for block in blocks:
        count = len(block.rows)
        names = block.qualifiers
        qualifiers = [names] * count if isinstance(names, bytes) else names.to_pylist()
        times = block.timestamps
        stamps = [times] * count if isinstance(times, int) else times.tolist()
        values = block.values.to_pylist()
        for key, name, time, value in zip(
            block.rows.to_pylist(), qualifiers, stamps, values, strict=True
        ):
            if value is not None:
                found.add((key, Cell(block.family, name, time, value)))
    return found
