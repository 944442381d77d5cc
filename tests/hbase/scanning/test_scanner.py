"""A scan returns each row once and in order, whatever servers and regions do meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbase.scanning.wires import ImmediateRenewer
from hbase.scanning.world import WORDS, World, expected_rows
from rowkey.cells import Cell, build_sort_key
from rowkey.errors import Closed
from rowkey.hbase.errors import (
    InvalidRequest,
    MalformedAnswer,
    NoSuchColumnFamily,
    OperationTimedOut,
    parse_remote_error,
)
from rowkey.hbase.read_spec import ScanSpec
from rowkey.hbase.scanning import LeaseRenewer, Scanner, scan_block
from rowkey.hbase.scanning.remaining_scan import RemainingScan
from rowkey.hbase.settings import Settings
from rowkey.hbase.wire.cellblocks import decode_rows
from rowkey.hbase.wire.proto import WireFormatError

if TYPE_CHECKING:
    from rowkey.cells import RowCells


@pytest.fixture(autouse=True)
def _renew_leases_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        LeaseRenewer, "get_for_caller", classmethod(lambda cls, caller: ImmediateRenewer())
    )


def build_cells(number: int) -> list[Cell]:
    """Return this many cells of a row in order; some columns have two versions."""
    cells = [Cell("d", b"q%d" % (n // 2), 7 - n % 2, b"v%d" % n) for n in range(number)]
    return sorted(cells, key=build_sort_key)


def build_table(rows: int = 6, cells: int = 1) -> dict[bytes, list[Cell]]:
    """Return the rows a, b, c, … with equal cells."""
    return {bytes([97 + n]): build_cells(cells) for n in range(rows)}


def open_scanner(world: World, scan: ScanSpec | None = None) -> Scanner:
    """Return a scanner of the world."""
    return Scanner(world.caller, "t", scan or ScanSpec(), world.settings)


def read_all(found: Scanner) -> list[RowCells]:
    """Return all rows of a scanner."""
    return [row for answer in found.iter_blocks() for row in answer.iter_row_cells()]


KEYS = st.binary(min_size=1, max_size=2).map(lambda key: bytes(97 + byte % 4 for byte in key))
"""Few close keys, so that the ends of ranges, regions and rows coincide."""

ENDS = st.one_of(st.just(b""), KEYS)
EVENTS = st.builds(lambda verb, key: f"{verb} @{key.hex()}", st.sampled_from(
    ["split", "merge", "move"]), KEYS)  # fmt: skip
SCRIPTS = st.lists(st.one_of(st.sampled_from(WORDS), EVENTS), max_size=40)


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Draw a table of some rows and regions with many failures."""
    rows = draw(st.dictionaries(KEYS, st.integers(1, 7).map(build_cells), max_size=20))
    splits = sorted(draw(st.sets(KEYS, max_size=4)))
    return World(rows, splits, draw(SCRIPTS), size=draw(st.integers(1, 30)))


SCANS = st.builds(
    ScanSpec, ENDS, ENDS, st.booleans(), st.booleans(), st.booleans(),
    limit=st.one_of(st.none(), st.integers(1, 12), st.just(150)),
    batch=st.one_of(st.none(), st.integers(1, 3)),
    answer_rows=st.one_of(st.none(), st.integers(1, 5)),
    expected_rows=st.one_of(st.none(), st.integers(1, 9), st.just(150)),
)  # fmt: skip


@given(worlds(), SCANS, st.data())
def test_a_scan_returns_each_row_once_despite_splits_and_errors(
    world: World, scan: ScanSpec, data: st.DataObject
) -> None:
    """A scan returns each row once despite splits, moves, errors, pieces and renewals."""
    found = open_scanner(world, scan)
    if data.draw(st.booleans(), label="short leases"):
        world.ttl_ms = 1
    rows: list[RowCells] = []
    while True:
        if data.draw(st.booleans(), label="renew"):
            found.renew_if_due()
        if data.draw(st.booleans(), label="look first"):
            first = found.peek_row_key()
            assert found.peek_row_key() == first
        else:
            first = b"not looked at"
        answer = found.read_block()
        if answer is None:
            assert first in (None, b"not looked at")
            break
        pieces = list(answer.iter_row_cells())
        assert answer.last_row_key == pieces[-1].row
        assert first in (pieces[0].row, b"not looked at")
        rows += pieces
    wanted = expected_rows(world, scan)
    got: dict[bytes, list[Cell]] = {}
    for row, cells in rows:
        got.setdefault(row, []).extend(cells)
        assert 0 < len(cells) <= (scan.batch or 100)
        assert list(got)[-1] == row
    assert [(row, world.rows[row]) for row in wanted] == list(got.items())
    if scan.batch is None:
        assert len(wanted) == len(rows)
    assert [] == world.broken
    assert 1 >= world.most_in_flight


def test_the_right_region_is_scanned_after_a_wrong_location() -> None:
    """After a wrong location the right region is scanned, and no row is missing."""
    world = World(build_table(), [b"c", b"e"], ["wrong place", "fine", "wrong place"])
    assert list(world.rows) == [row for row, _ in read_all(open_scanner(world))]


@pytest.mark.parametrize("reverse", [False, True])
def test_two_rows_are_not_joined_by_a_partial_flag(reverse: bool) -> None:
    """A partial flag without a next piece does not join two rows."""
    world = World(build_table(), script=["tiny pieces"] * 9)
    rows = read_all(open_scanner(world, ScanSpec(reverse=reverse)))
    assert sorted(world.rows, reverse=reverse) == [row for row, _ in rows]


def test_a_partial_row_continues_after_its_last_returned_cell_after_an_error() -> None:
    world = World(
        build_table(2, cells=5), script=["tiny", "reset", "tiny", "unknown scanner"], size=2
    )
    rows = read_all(open_scanner(world, ScanSpec(batch=1)))
    assert [(row, [cell]) for row in (b"a", b"b") for cell in build_cells(5)] == rows


def test_the_next_row_is_whole_if_nothing_was_left_of_a_partial_row() -> None:
    """If nothing was left of a partial row, the next row is returned whole."""
    world = World(build_table(3), script=["tiny pieces", "reset"], size=2)
    rows = read_all(open_scanner(world, ScanSpec(batch=1)))
    assert [(row, build_cells(1)) for row in (b"a", b"b", b"c")] == rows


def test_a_scan_limit_counts_rows_and_not_pieces() -> None:
    """A limit counts rows, also if a row's last piece is flagged as partial."""
    world = World(build_table(4, cells=3), script=["tiny pieces"] * 20)
    rows = read_all(open_scanner(world, ScanSpec(batch=2, limit=2)))
    assert [b"a", b"b"] == sorted({row for row, _ in rows})
    assert [*build_cells(3), *build_cells(3)] == [cell for _, cells in rows for cell in cells]


@pytest.mark.parametrize(
    "scan",
    [
        ScanSpec(limit=3),
        ScanSpec(b"b", b"b", include_stop=True),
        ScanSpec(b"b", b"b\0"),
        ScanSpec(b"e", limit=100),
    ],
)
def test_a_small_scan_is_one_request(scan: ScanSpec) -> None:
    """A small scan is one request that leaves no scanner open at the server."""
    world = World(build_table())
    wanted = expected_rows(world, scan)
    assert wanted == [row for row, _ in read_all(open_scanner(world, scan))]
    assert ["open"] == world.asked
    assert {} == world.scanners


def test_a_scan_of_an_empty_range_sends_no_request() -> None:
    """An empty range is not sent, since a server would take `[b, b)` for the row b."""
    world = World(build_table())
    assert [] == read_all(open_scanner(world, ScanSpec(b"b", b"b")))
    assert [] == world.asked


def test_the_constructor_of_a_scanner_sends_its_first_request() -> None:
    """Sixteen scanners send sixteen requests before any is read."""
    world = World(build_table(16), [bytes([97 + n]) for n in range(1, 16)])
    made = [open_scanner(world, ScanSpec(bytes([97 + n]), answer_rows=1)) for n in range(16)]
    assert ["open"] * 16 == world.asked
    assert sorted(world.rows) == [one.peek_row_key() for one in made]
    assert ["open"] * 16 == world.asked


def test_exactly_one_answer_is_prefetched() -> None:
    """The next request is sent before a block is returned, and none after it."""
    world = World(build_table(), size=1)
    found = open_scanner(world)
    assert ["open"] == world.asked
    found.read_block()
    assert ["open", "next"] == world.asked
    assert b"b" == found.peek_row_key()
    assert b"a" == found.position
    assert ["open", "next"] == world.asked


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("splits", [[], [b"d"], [b"b", b"c", b"d"]])
def test_the_expected_rows_take_one_small_request_of_each_region(
    splits: list[bytes], reverse: bool
) -> None:
    """The expected rows are requested exactly, and nothing is left open or prefetched."""
    world = World(build_table(6), splits)
    found = open_scanner(world, ScanSpec(expected_rows=4, reverse=reverse))
    rows: list[RowCells] = []
    while len(rows) < 4:
        answer = found.read_block()
        assert answer is not None
        rows += answer.iter_row_cells()
    assert sorted(world.rows, reverse=reverse)[:4] == [row for row, _ in rows]
    assert world.asked == ["open"] * len(world.asked)
    returned = 0
    for requested, region_rows in zip(
        world.requested_rows, count_region_rows(world, reverse=reverse), strict=False
    ):
        assert 4 - returned == requested
        returned += min(requested, region_rows)
    assert 4 == returned
    assert {} == world.scanners


def count_region_rows(world: World, *, reverse: bool) -> list[int]:
    """Return how many rows each region has, in the order of a scan."""
    counts = [sum(map(one.has_row, world.keys)) for one in world.regions]
    return counts[::-1] if reverse else counts


def test_further_requests_double_when_more_than_the_expected_rows_are_read() -> None:
    """Each further request is twice as large, until answers are full and are prefetched."""
    world = World(build_table(26))
    found = open_scanner(world, ScanSpec(expected_rows=2, answer_rows=8))
    requests = [[2], [2, 4], [2, 4, 8], [2, 4, 8, 8, 8]]
    for requested in requests:
        assert found.peek_row_key() is not None
        assert found.read_block() is not None
        assert requested == world.requested_rows
    assert ["open", "open", "next", "next", "next"] == world.asked
    assert sorted(world.rows)[22:] == [row for row, _ in read_all(found)]


def test_the_rest_of_the_expected_rows_is_prefetched_if_an_answer_was_cut() -> None:
    """The rest of the expected rows is requested before the first part is returned."""
    world = World(build_table(26), size=6)
    found = open_scanner(world, ScanSpec(expected_rows=10))
    for requested in ([10, 4], [10, 4], [10, 4, 20, 14]):
        assert found.read_block() is not None
        assert requested == world.requested_rows


def test_pieces_of_a_row_are_read_on_by_the_same_scanner() -> None:
    """Pieces of a row are read on by the same scanner, so that none is read twice."""
    world = World(build_table(1, cells=9))
    rows = read_all(open_scanner(world, ScanSpec(batch=1, expected_rows=2)))
    assert build_cells(9) == [cell for _, cells in rows for cell in cells]
    assert ["open", "next", "next"] == world.asked
    assert [2, 4, 8] == world.requested_rows


def test_reading_a_closed_scanner_raises_closed() -> None:
    """A closed scanner raises Closed, is closed at its server, and may be closed again."""
    world = World(build_table(), size=1)
    with open_scanner(world) as found:
        rows = found.iter_row_cells()
        next(rows)
    found.close()
    with pytest.raises(Closed, match="closed"):
        next(rows)
    with pytest.raises(Closed, match="closed"):
        found.peek_row_key()
    assert {} == world.scanners
    assert "close" == world.asked[-1]


@pytest.mark.parametrize("word", ["lost", "refused", "silent"])
def test_reading_on_after_an_error_continues_the_scan(word: str) -> None:
    """The attempts for one answer are limited, and reading on continues the scan."""
    settings = Settings(retry_pause_s=0, max_retry_pause_s=0, max_attempts=3)
    world = World(build_table(), script=["fine", *[word] * 3], settings=settings, size=1)
    found = open_scanner(world)
    assert b"a" == found.read_block().first_row_key  # type: ignore[union-attr]
    with pytest.raises(OperationTimedOut):
        found.read_block()
    assert [b"b", b"c", b"d", b"e", b"f"] == [row for row, _ in read_all(found)]


def test_an_invalid_scan_raises_each_time() -> None:
    """An invalid scan raises at each read and never looks finished."""
    world = World(build_table())
    java = "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException"
    world.answer = _raising(parse_remote_error(java, f"{java}: no x", True))  # type: ignore[method-assign]
    found = open_scanner(world)
    for _ in range(2):
        with pytest.raises(NoSuchColumnFamily):
            found.read_block()
    assert issubclass(NoSuchColumnFamily, InvalidRequest)


def _raising(error: Exception) -> Any:
    def answer(*_: Any) -> Any:
        raise error

    return answer


def test_a_scan_of_meta_is_not_ordered_as_bytes() -> None:
    """A scan of meta from "t,," to "t ,," is not empty, though its bytes run downwards."""
    rest = RemainingScan(ScanSpec(b"t,,", b"t ,,"), "hbase:meta")
    assert (False, True) == (rest.is_over, RemainingScan(ScanSpec(b"t,,", b"t ,,"), "t").is_over)
    rest.continue_after(b"t,,17.x.")
    assert not rest.is_over
    assert RemainingScan(ScanSpec(b"t,,", b"t,,"), "hbase:meta").is_over


def test_a_scan_pauses_before_it_retries_an_immediate_retry_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Errors that HBase marks for an immediate retry are retried after a pause."""
    pauses: list[float | None] = []

    def wait(_: Event, seconds: float | None = None) -> bool:
        pauses.append(seconds)
        return False

    monkeypatch.setattr(Event, "wait", wait)
    there = World({b"a": [Cell("d", b"", 1)]}, script=["too large", "fine"])
    with Scanner(there.caller, "t", ScanSpec(), there.settings) as found:
        assert [b"a"] == [row for row, _ in found.iter_row_cells()]
    assert 1 == len(pauses)


def test_rows_before_malformed_cells_are_returned_and_the_scan_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rows before malformed cells are returned, and reading on raises Closed."""

    def broken(block: bytes, counts: Sequence[int]) -> Iterator[list[RowCells]]:
        yield decode_rows(block, counts)[:2]
        raise WireFormatError("a cell of kind 5")

    monkeypatch.setattr(scan_block, "iter_row_groups", broken)
    there = World({key: [Cell("d", b"", 1)] for key in (b"a", b"b", b"c")})
    with Scanner(there.caller, "t", ScanSpec(), there.settings) as found:
        rows = found.iter_row_cells()
        assert [b"a", b"b"] == [next(rows).row, next(rows).row]
        with pytest.raises(MalformedAnswer, match="a cell of kind 5"):
            next(rows)
        with pytest.raises(Closed, match="closed"):
            next(found.iter_row_cells())
