"""Parsing rows of hbase:meta."""

from __future__ import annotations

import pytest

from hbase.locations.fake_meta import MetaEntry
from rowkey.cells import Cell, RowCells
from rowkey.errors import Unavailable
from rowkey.hbase.locations.meta import (
    build_end_key,
    build_key_above_holder,
    build_key_at_start,
    build_meta_scan,
    parse_meta_row,
)
from rowkey.hbase.wire.proto import ProtoMessage, WireFormatError

ENTRY = MetaEntry("ns:t", b"a,b", b"c", 17)


def build_row(entry: MetaEntry, **changed: bytes | None) -> RowCells:
    """Return a row of meta with some columns changed or removed."""
    kept = [cell for cell in entry.cells() if cell.qualifier.decode() not in changed]
    more = [Cell("info", name.encode(), 1, value) for name, value in changed.items() if value]
    return RowCells(entry.name, kept + more)


def test_a_lookup_request_has_the_recorded_bytes() -> None:
    """A lookup is a reversed small scan of one row with the recorded bytes."""
    param, cells = build_meta_scan(
        build_key_above_holder("t", b"row"), b"t,,", 1, reverse=True
    ).encode(b"hbase:meta,,1")
    scan = ProtoMessage(param).get_message(2)
    assert scan is not None
    want = (b"t,row,:", b"t,,", True, 2, 1, 1, True, b"")
    sent = ProtoMessage(param)
    limits = (sent.get_uint(4), sent.get_uint(11), sent.get_bool(5), cells)
    assert want == (
        scan.get_bytes(3),
        scan.get_bytes(4),
        scan.get_bool(15),
        scan.get_uint(23),
        *limits,
    )


def test_a_row_key_of_meta_is_truncated_to_the_greatest_length() -> None:
    """No row key of hbase:meta is longer than 32,767 bytes."""
    longest = b"\xff" * 32_767
    rows = (
        build_key_above_holder("ns:t", longest),
        build_key_at_start("ns:t", longest),
        build_end_key("ns:t"),
    )
    assert [32_767, 32_766, 7] == [len(row) for row in rows]


def test_a_row_of_meta_is_parsed_from_its_columns() -> None:
    """Table, bounds, state, server and opening come from its columns."""
    row = parse_meta_row(build_row(ENTRY))
    assert row is not None
    assert row.open_region is not None
    told = (
        row.table,
        row.start,
        row.stop,
        row.open_region.server,
        row.open_region.seqnum,
        row.is_retired,
    )
    assert ("ns:t", b"a,b", b"c", ENTRY.server, 2, False) == told


@pytest.mark.parametrize("state", [b"OPENING", b"CLOSED", b"CLOSING", b"SPLIT", b"strange\xff"])
def test_only_open_regions_have_a_location(state: bytes) -> None:
    """A region in any other state has no location, though its row names a server."""
    row = parse_meta_row(build_row(ENTRY, state=state))
    assert row is not None
    assert (None, ENTRY.server) == (row.open_region, row.server)


def test_a_meta_row_without_a_state_is_an_open_region() -> None:
    """A row without a state, from old versions of HBase, is an open region."""
    row = parse_meta_row(build_row(ENTRY, state=None))
    assert row is not None
    assert row.open_region is not None


def test_a_meta_row_without_a_server_is_not_open() -> None:
    """A row without a server, such as a cloned snapshot's parent, is not open."""
    row = parse_meta_row(build_row(ENTRY, server=None))
    assert row is not None
    assert row.open_region is None


@pytest.mark.parametrize("info", [None, b"junk"])
def test_meta_rows_without_a_region_are_skipped(info: bytes | None) -> None:
    """A row without the column of a region is ignored."""
    assert parse_meta_row(build_row(ENTRY, regioninfo=info)) is None


@pytest.mark.parametrize(
    "change",
    [
        {"regioninfo": b"PBUF\xff"},
        {"regioninfo": b"PBUF\x08\x01"},
        {"regioninfo": b"PBUF"},
        {"server": b"nowhere"},
        {"server": b"h:99999"},
    ],
)
def test_malformed_meta_rows_raise_wire_format_errors(change: dict[str, bytes]) -> None:
    """Malformed bytes raise no other error."""
    with pytest.raises(Unavailable):
        parse_meta_row(build_row(ENTRY, **change))


@pytest.mark.parametrize(
    "name", [b"t", b"t,a", b"t,a,", b"t,a,x17.0123.", b"t,a,.0123.", b"t,a," + b"1" * 5000]
)
def test_a_region_name_without_id_is_malformed(name: bytes) -> None:
    with pytest.raises(WireFormatError, match="is not the name of a region"):
        parse_meta_row(build_row(ENTRY)._replace(row=name))
