from __future__ import annotations

import datetime as dt
import os
from collections import Counter
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import rowkey
from ramdisk import RAM_FOLDER
from table.places import PlacedWorld, draw_placed_reads, draw_placed_worlds
from table.worlds import make_presence_check, make_row_order

if TYPE_CHECKING:
    from rowkey.table import Table
    from table.worlds import Row

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
DEEP = 1_000 if IS_LONG else 8
ON_DISK = 100 if IS_LONG else 2
EPOCH = dt.datetime.fromtimestamp(0, dt.UTC)


def fill_table(world: PlacedWorld, url: str, *, in_columns: bool) -> Table:
    """Create a table with each row put, or all rows loaded as columns."""
    table = rowkey.open(world.design, url)
    if in_columns:
        table.load(pa.RecordBatch.from_pylist(list(world.rows), _build_schema(world)))
        return table
    with table.batch() as batch:
        for row in world.rows:
            batch.put(row)
    return table


def _build_schema(world: PlacedWorld) -> pa.Schema:
    fields = world.design.fields
    return pa.schema([(name, field.type.build_arrow_type()) for name, field in fields.items()])


def from_arrow_row(row: Row) -> Row:
    """Return a row of Arrow's values in the form of the table: times in milliseconds."""
    return {
        name: (value - EPOCH) // dt.timedelta(milliseconds=1)
        if isinstance(value, dt.datetime)
        else value
        for name, value in row.items()
    }


def count_rows(rows: list[Row]) -> Counter[tuple[tuple[str, Any], ...]]:
    """Return rows with their counts, regardless of order."""
    return Counter(tuple(sorted(row.items())) for row in rows)


def check_read(world: PlacedWorld, table: Table, data: st.DataObject) -> None:
    """Check one random read by rows, columns, counts, limits and tokens."""
    asked = data.draw(draw_placed_reads(world))
    rows = [row for row in world.rows if asked.matches(row)]
    found = list(table.scan(asked.where, *asked.values))
    assert count_rows(rows) == count_rows(found)
    if world.is_ordered:
        assert world.sort_rows(rows) == found
    assert len(rows) == table.count(asked.where, *asked.values)
    columns = table.scan(asked.where, *asked.values).to_arrow()
    assert found == [from_arrow_row(row) for row in columns.to_pylist()]
    limit = data.draw(st.integers(0, len(rows) + 1))
    limited = table.scan(asked.where, *asked.values, limit=limit)
    assert found[:limit] == list(limited)
    assert min(limit, len(rows)) == table.scan(asked.where, *asked.values, limit=limit).count()
    assert found[:limit] == [from_arrow_row(row) for row in limited.to_arrow().to_pylist()]
    check_pieces(table, asked.where, asked.values, "", found, limit)
    check_order(world, table, data, asked.where, asked.values, rows)


def check_pieces(
    table: Table, where: str, values: tuple[Any, ...], order: str, rows: list[Row], size: int
) -> None:
    """Check that a scan resumed from its tokens gives each row once, in the same order."""
    found: list[Row] = []
    token = None
    while True:
        scan = table.scan(where, *values, order=order, limit=size or 1, resume=token)
        some = list(scan)
        found += some
        token = scan.token
        if not some or token is None:
            break
    if token is not None or not rows:
        assert rows == found
    else:  # the key does not give the order, or copies are found among all rows: no token
        assert rows[: size or 1] == found


def check_order(
    world: PlacedWorld,
    table: Table,
    data: st.DataObject,
    where: str,
    values: tuple[Any, ...],
    rows: list[Row],
) -> None:
    """Check a random order, whether from the key or sorted, with nulls first."""
    names = data.draw(st.lists(st.sampled_from(sorted(world.values)), min_size=1, max_size=3,
                               unique=True))  # fmt: skip
    natural = data.draw(st.booleans())
    if natural:
        names = [name for name, _, _ in world.steps]
        names = list(dict.fromkeys(names))
    turned = data.draw(st.booleans())
    falls = {name: falls != turned for name, _, falls in world.steps} if natural else {
        name: data.draw(st.booleans()) for name in names}  # fmt: skip
    order = ", ".join(f"{name} desc" if falls[name] else name for name in names)
    expected = list(rows)
    for name in reversed(names):
        expected.sort(key=make_row_order(name), reverse=falls[name])
        expected.sort(key=make_presence_check(name))
    shown = [[row[name] for name in names] for row in expected]
    found = list(table.scan(where, *values, order=order))
    assert shown == [[row[name] for name in names] for row in found]
    assert count_rows(rows) == count_rows(found)
    limit = data.draw(st.integers(0, len(rows) + 1))
    limited = list(table.scan(where, *values, order=order, limit=limit))
    assert shown[:limit] == [[row[name] for name in names] for row in limited]
    assert count_rows(limited) <= count_rows(rows)
    columns = table.scan(where, *values, order=order).to_arrow()
    assert shown == [
        [row[name] for name in names] for row in map(from_arrow_row, columns.to_pylist())
    ]
    check_pieces(table, where, values, order, found, limit)


def check_events(world: PlacedWorld, table: Table, data: st.DataObject) -> None:
    """Check that each row is got by itself, and deleted by itself."""
    assert list(world.rows) == table.get_many(world.rows)
    if not world.rows:
        return
    gone = data.draw(st.sampled_from(world.rows))
    table.delete(gone)
    assert table.get(gone) is None
    left = [row for row in world.rows if row is not gone]
    assert left == table.get_many(left)
    assert len(left) == table.count()
    assert count_rows(left) == count_rows(list(table.scan()))
    if "stamp" not in world.values:
        table.put(gone)
        assert gone == table.get(gone)
        assert len(world.rows) == table.count()


@settings(max_examples=DEEP)
@given(world=draw_placed_worlds(), in_columns=st.booleans(), data=st.data())
def test_events_in_any_placement_are_scanned_and_deleted(
    world: PlacedWorld, in_columns: bool, data: st.DataObject
) -> None:
    """Events in any placement are scanned in order, counted, limited, got and deleted."""
    with fill_table(world, "memory:", in_columns=in_columns) as table:
        check_read(world, table, data)
        check_events(world, table, data)


@settings(max_examples=ON_DISK)
@given(world=draw_placed_worlds(), in_columns=st.booleans(), data=st.data())
def test_events_in_any_placement_on_disk_are_read_and_deleted(
    world: PlacedWorld, in_columns: bool, data: st.DataObject
) -> None:
    """Events in any placement are read and deleted on the embedded engine."""
    with (
        TemporaryDirectory(dir=RAM_FOLDER) as place,
        fill_table(world, f"rocks:{place}", in_columns=in_columns) as table,
    ):
        check_read(world, table, data)
        table.compact()
        check_events(world, table, data)
