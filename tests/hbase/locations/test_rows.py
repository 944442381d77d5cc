"""Rows of hbase:meta as servers write them."""

from __future__ import annotations

import pytest

from hbase.locations.fake_meta import Entry
from rowkey.cells import Cell, RowCells
from rowkey.errors import Unsupported
from rowkey.hbase.locations.rows import at_or_below, at_start, behind_all, meta_row, meta_scan
from rowkey.hbase.wire.proto import Malformed, Message

ENTRY = Entry("ns:t", b"a,b", b"c", 17)


def row_of(entry: Entry, **changed: bytes | None) -> RowCells:
    """A row of meta, some columns changed or left out."""
    kept = [cell for cell in entry.cells() if cell.qualifier.decode() not in changed]
    more = [Cell("info", name.encode(), 1, value) for name, value in changed.items() if value]
    return RowCells(entry.name, kept + more)


def test_the_lookup_is_the_one_servers_answered() -> None:
    """Reversed, pread, one row, closed at once; beside it only a bound of the answer's size."""
    param, cells = meta_scan(at_or_below("t", b"row"), b"t,,", 1, reverse=True).encode(
        b"hbase:meta,,1"
    )
    scan = Message(param).message(2)
    assert scan is not None
    want = (b"t,row,:", b"t,,", True, 2, 1, 1, True, b"")
    sent = Message(param)
    limits = (sent.uint(4), sent.uint(11), sent.flag(5), cells)
    assert want == (scan.blob(3), scan.blob(4), scan.flag(15), scan.uint(23), *limits)


def test_a_long_key_is_cut_to_a_row() -> None:
    """No row of meta is longer than 32,767 bytes; no start key is that long."""
    longest = b"\xff" * 32_767
    rows = (at_or_below("ns:t", longest), at_start("ns:t", longest), behind_all("ns:t"))
    assert [32_767, 32_766, 7] == [len(row) for row in rows]


def test_a_row_is_read() -> None:
    """Table, bounds, state, server and opening come from its columns."""
    row = meta_row(row_of(ENTRY))
    assert row is not None
    assert row.region is not None
    told = (row.table, row.start, row.stop, row.region.server, row.region.seqnum, row.retired)
    assert ("ns:t", b"a,b", b"c", ENTRY.server, 2, False) == told


@pytest.mark.parametrize("state", [b"OPENING", b"CLOSED", b"CLOSING", b"SPLIT", b"strange\xff"])
def test_only_open_will_do(state: bytes) -> None:
    """A region in any other state is given with no server, though one stands there."""
    row = meta_row(row_of(ENTRY, state=state))
    assert row is not None
    assert (None, ENTRY.server) == (row.region, row.server)


def test_a_row_without_a_state_is_open() -> None:
    """So wrote versions that had no such column."""
    row = meta_row(row_of(ENTRY, state=None))
    assert row is not None
    assert row.region is not None


def test_a_row_without_a_server_is_not_open() -> None:
    """Parents in a clone of a snapshot never had one."""
    row = meta_row(row_of(ENTRY, server=None))
    assert row is not None
    assert row.region is None


@pytest.mark.parametrize("info", [None, b"junk", b"PBUF", b"PBUF\x08\x01"])
def test_what_is_no_region_is_passed_over(info: bytes | None) -> None:
    """A row without the description of a region tells nothing."""
    assert meta_row(row_of(ENTRY, regioninfo=info)) is None


@pytest.mark.parametrize(
    "change", [{"regioninfo": b"PBUF\xff"}, {"server": b"nowhere"}, {"server": b"h:99999"}]
)
def test_what_cannot_be_read_is_told(change: dict[str, bytes]) -> None:
    """Malformed bytes raise what the house raises, never another error."""
    with pytest.raises(Unsupported):
        meta_row(row_of(ENTRY, **change))


@pytest.mark.parametrize(
    "name", [b"t", b"t,a", b"t,a,", b"t,a,x17.0123.", b"t,a,.0123.", b"t,a," + b"1" * 5000]
)
def test_a_region_without_a_number_is_malformed(name: bytes) -> None:
    """The number tells which of two regions is newer: without it nothing can be learnt."""
    with pytest.raises(Malformed, match="is no region's name"):
        meta_row(row_of(ENTRY)._replace(row=name))
