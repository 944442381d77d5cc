"""Writes with sync set the durability of every mutation, and a cluster accepts them."""

from __future__ import annotations

from secrets import token_hex
from typing import Any

import pyarrow as pa
import pytest

from rowkey.cells import Cell, CellBlock, CellType, Family, RowCells
from rowkey.engines import ScanRange, TableSpec, open_engine
from rowkey.hbase.requests import (
    Append,
    CheckAndMutate,
    Increment,
    Multi,
    Mutate,
    MutateRow,
    Request,
)
from rowkey.hbase.wire.encoded_puts import encode_puts
from rowkey.hbase.wire.proto import ProtoMessage

REGION = b"t,,1.0123456789abcdef0123456789abcdef."
PUT, GONE = Cell("d", b"q", 1, b"v"), Cell("d", b"p", 1, cell_type=CellType.DELETE)
COLUMN = ("d", b"q", "=", None)


def list_durabilities(sent: ProtoMessage) -> list[int]:
    """Return the durability of each mutation in a request, 0 if it has none."""
    if actions := [
        action for region in sent.iter_messages(1) for action in region.iter_messages(3)
    ]:
        return [mutation.get_uint(6) for action in actions for mutation in action.iter_messages(2)]
    return [mutation.get_uint(6) for mutation in sent.iter_messages(2)]


@pytest.mark.parametrize("sync", [False, True])
def test_every_write_can_request_a_synced_log(sync: bool) -> None:
    """Each write sets the durability with sync and leaves it to the table without."""
    requests: list[Request[Any]] = [
        Mutate(b"r", [PUT], sync),
        MutateRow(b"r", [PUT, GONE], sync),
        Increment(b"r", [("d", b"q", 1)], sync=sync),
        Append(b"r", [("d", b"q", b"x")], sync=sync),
        CheckAndMutate(b"r", *COLUMN, [PUT], sync),
        CheckAndMutate(b"r", *COLUMN, [PUT, GONE], sync),
        Multi([(REGION, [RowCells(b"a", [PUT]), RowCells(b"b", [PUT, GONE])])], sync=sync),
    ]
    for request in requests:
        found = list_durabilities(ProtoMessage(request.encode(REGION)[0]))
        assert found
        assert {4 if sync else 0} == set(found)


@pytest.mark.parametrize("sync", [False, True])
def test_a_column_load_can_request_a_synced_log(sync: bool) -> None:
    """Every put of a load sets the durability."""
    rows = pa.array([b"a", b"bb", b"ccc"], pa.binary())
    puts = encode_puts([CellBlock(rows, "d", b"q", rows, 1)], sync=sync)
    actions = list(ProtoMessage(puts.slice_puts(0, 3).actions).iter_messages(3))
    assert [4 if sync else 0] * 3 == [
        next(action.iter_messages(2)).get_uint(6) for action in actions
    ]
    assert [b"a", b"bb", b"ccc"] == [
        next(action.iter_messages(2)).get_bytes(1) for action in actions
    ]


def test_rows_written_with_sync_are_stored(hbase_url: str) -> None:
    name = f"synced.{token_hex(4)}"
    with open_engine(hbase_url, sync=True) as engine:
        store = engine.create_table(TableSpec(name, (Family("d"),)))
        try:
            store.mutate([RowCells(b"a", [PUT]), RowCells(b"b", [PUT])])
            rows = pa.array([b"c", b"d"], pa.binary())
            store.load_blocks([CellBlock(rows, "d", b"q", rows)])
            (cell,) = store.increment(b"e", [("d", b"n", 1)])
            assert bytes(7) + b"\x01" == cell.value
            with store.scan([ScanRange()])[0] as cursor:
                assert [b"a", b"b", b"c", b"d", b"e"] == [row.row for row in cursor]
        finally:
            engine.drop_table(name)
