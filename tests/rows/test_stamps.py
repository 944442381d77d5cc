"""A field of time that is the timestamp of its cells."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import rowkey
from rowkey.cells import LATEST, Cell, CellType
from rowkey.design import Design
from rowkey.errors import InvalidDesign, RowError
from rowkey.rows import build_cell_blocks

if TYPE_CHECKING:
    from rowkey.rows import Layout


def build_layout(kind: str, **words: Any) -> Layout:
    """Build a layout with a time of a type as the cells' timestamp."""
    fields = {"id": "u8", "n": "u8", "at": {"type": kind, "at": "timestamp", **words}}
    return Design("t", "[id]", fields=fields).layout


@pytest.mark.parametrize(
    ("kind", "value", "ms"),
    [("timestamp_s", 5, 5_000), ("timestamp_ms", 5, 5), ("timestamp_us", 5_000, 5),
     ("timestamp_ns", 5_000_000, 5), ("date", date(1970, 1, 3), 172_800_000),
     ("timestamp_ms", 2**63 - 2, 2**63 - 2)],
)  # fmt: skip
def test_the_time_of_an_event_is_stored_as_cell_timestamp_in_milliseconds(
    kind: str, value: Any, ms: int
) -> None:
    """The time is the timestamp of the cells, and is read back from the timestamp."""
    layout = build_layout(kind)
    row = {"id": 1, "n": 2, "at": value}
    key, cells = layout.encode_event(row, timestamp=77)
    assert [Cell("d", b"n", ms, b"\2")] == cells
    assert [row] == layout.decode_events(key, cells)


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        ("timestamp_us", 5_001, "field at: .* is finer than the timestamp of a cell"),
        ("timestamp_ms", 2**63 - 1, "field at: .* is not a valid timestamp of a cell"),
        ("timestamp_s", 2**62, "field at: .* is not a valid timestamp of a cell"),
        ("date", date(1969, 12, 31), "field at: .* is not a valid timestamp of a cell"),
        (
            "timestamp_ms",
            None,
            "field at: the row has no value for this field, which is the timestamp",
        ),
    ],
)
def test_a_time_that_no_cell_timestamp_can_have_is_refused(
    kind: str, value: Any, message: str
) -> None:
    """A time that no cell can have, or none, is refused alone and in a batch."""
    layout = build_layout(kind)
    with pytest.raises(RowError, match=message):
        layout.encode_event({"id": 1, "n": 2, "at": value})
    array = pa.array([value], pa.date32() if kind == "date" else pa.int64())
    with pytest.raises(RowError, match=r"^field at: "):
        build_cell_blocks(layout, pa.record_batch({"id": [1], "n": [2], "at": array}))


def test_a_cell_timestamp_that_is_no_value_of_the_field_is_refused() -> None:
    """A timestamp of 1,500 ms is refused by a field of whole seconds."""
    layout = build_layout("timestamp_s")
    with pytest.raises(
        RowError,
        match="row key 01, field at: the cell timestamp 1500 ms stores this field, but is",
    ):
        layout.decode_events(b"\1", [Cell("d", b"n", 1_500, b"\2")])


def test_a_delete_with_a_time_removes_one_version_and_without_a_time_all() -> None:
    layout = build_layout("timestamp_ms")
    one, every = layout.encode_delete({"id": 1, "at": 5}), layout.encode_delete({"id": 1})
    assert [Cell("d", b"", 5, cell_type=CellType.DELETE_FAMILY_VERSION)] == one.cells
    assert [Cell("d", b"", LATEST, cell_type=CellType.DELETE_FAMILY)] == every.cells


def test_each_column_has_its_newest_value_and_the_event_its_newest_time() -> None:
    cells = [Cell("d", b"n", 9, b"\2"), Cell("d", b"n", 5, b"\1")]
    assert [{"id": 1, "n": 2, "at": 9}] == build_layout("timestamp_ms").decode_events(b"\1", cells)


def test_a_nullable_field_cannot_be_the_cell_timestamp() -> None:
    with pytest.raises(
        InvalidDesign, match=r"fields.at.nullable: the timestamp of a cell cannot be null"
    ):
        build_layout("timestamp_ms", nullable=True)


FIELDS: dict[str, Any] = {
    "host": "text", "at": {"type": "timestamp_ms", "at": "timestamp"}, "load": "u8"
}  # fmt: skip
START = 1_700_000_000_000


def test_an_event_moved_to_another_time_has_no_old_version() -> None:
    """After a move to an earlier or later time the old version is gone."""
    with rowkey.open(rowkey.Design("t", "[host]", fields=FIELDS), "memory:") as table:
        table.put({"host": "a", "at": START, "load": 5})
        for at in (START - 9, START + 9, START - 99):
            assert table.move({"host": "a"}, at=at)
            assert [{"host": "a", "at": at, "load": 5}] == list(table.scan())


def test_a_put_at_a_deleted_time_is_hidden_until_a_major_compaction() -> None:
    """A put at a deleted time is hidden until a major compaction, as in HBase."""
    event = {"host": "a", "at": START, "load": 5}
    with rowkey.open(rowkey.Design("t", "[host]", fields=FIELDS), "memory:") as table:
        table.put(event)
        table.delete(event)
        table.put(event)
        assert table.get(host="a") is None
        table.compact()
        table.put(event)
        assert event == table.get(host="a")
