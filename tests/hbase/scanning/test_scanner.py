"""What a scan promises, whatever servers and regions do meanwhile: each row once, in order."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbase.scanning.world import WORDS, World, expected_rows
from rowkey.cells import Cell, in_order
from rowkey.errors import Refused
from rowkey.hbase.errors import (
    AskedWrongly,
    MalformedAnswer,
    NoSuchColumnFamily,
    OutOfTime,
    from_remote,
)
from rowkey.hbase.reading import Scan
from rowkey.hbase.scanning import Keeper, Scanner, answer
from rowkey.hbase.scanning.remainder import Remainder
from rowkey.hbase.settings import Deadline, Settings
from rowkey.hbase.wire.cellblocks import decode_rows
from rowkey.hbase.wire.proto import Malformed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rowkey.cells import RowCells


class Still(Keeper):
    """A keeper without a thread: what is left to it is done at once."""

    def watch(self, scanner: Any) -> None:
        return None

    def finish(self, source: Any) -> None:
        while not source.close():
            source.fetch(Deadline.after(1))


@pytest.fixture(autouse=True)
def _still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Keeper, "of", classmethod(lambda cls, caller: Still()))


def cells_of(number: int) -> list[Cell]:
    """So many cells of a row, in their order; some columns have two versions."""
    cells = [Cell("d", b"q%d" % (n // 2), 7 - n % 2, b"v%d" % n) for n in range(number)]
    return sorted(cells, key=in_order)


def table(rows: int = 6, cells: int = 1) -> dict[bytes, list[Cell]]:
    """Rows a, b, c…, all alike."""
    return {bytes([97 + n]): cells_of(cells) for n in range(rows)}


def scanner(world: World, scan: Scan | None = None) -> Scanner:
    """A scanner of that world."""
    return Scanner(world.caller, "t", scan or Scan(), world.settings)


def read(found: Scanner) -> list[RowCells]:
    """All that it gives."""
    return [row for answer in found.answers() for row in answer.rows()]


KEYS = st.binary(min_size=1, max_size=2).map(lambda key: bytes(97 + byte % 4 for byte in key))
"""Few keys, near each other: ends of ranges, of regions and of rows meet."""

ENDS = st.one_of(st.just(b""), KEYS)
EVENTS = st.builds(lambda verb, key: f"{verb} @{key.hex()}", st.sampled_from(
    ["split", "merge", "move"]), KEYS)  # fmt: skip
SCRIPTS = st.lists(st.one_of(st.sampled_from(WORDS), EVENTS), max_size=40)


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """A table of some rows, cut into regions, in which much goes wrong."""
    rows = draw(st.dictionaries(KEYS, st.integers(1, 7).map(cells_of), max_size=20))
    splits = sorted(draw(st.sets(KEYS, max_size=4)))
    return World(rows, splits, draw(SCRIPTS), size=draw(st.integers(1, 30)))


SCANS = st.builds(
    Scan, ENDS, ENDS, st.booleans(), st.booleans(), st.booleans(),
    limit=st.one_of(st.none(), st.integers(1, 12), st.just(150)),
    batch=st.one_of(st.none(), st.integers(1, 3)),
    rows=st.one_of(st.none(), st.integers(1, 5)),
)  # fmt: skip


@given(worlds(), SCANS, st.data())
def test_a_scan_gives_the_rows_of_its_range_once_and_in_order(
    world: World, scan: Scan, data: st.DataObject
) -> None:
    """Splits, moves, errors, lost answers, pieces, heartbeats and renewals change nothing."""
    found = scanner(world, scan)
    if data.draw(st.booleans(), label="short leases"):
        world.ttl_ms = 1
    rows: list[RowCells] = []
    while True:
        if data.draw(st.booleans(), label="renew"):
            found.keep()
        if data.draw(st.booleans(), label="look first"):
            first = found.first_row()
            assert found.first_row() == first
        else:
            first = b"not looked at"
        answer = found.next_answer()
        if answer is None:
            assert first in (None, b"not looked at")
            break
        pieces = list(answer.rows())
        assert answer.last_row == pieces[-1].row
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


def test_a_region_that_does_not_hold_the_row_is_not_scanned() -> None:
    """A location in the wrong place would leave rows out without an error."""
    world = World(table(), [b"c", b"e"], ["wrong place", "fine", "wrong place"])
    assert list(world.rows) == [row for row, _ in read(scanner(world))]


@pytest.mark.parametrize("reverse", [False, True])
def test_a_row_ends_where_another_begins(reverse: bool) -> None:
    """A flag that says that more comes, and none does, joins no two rows."""
    world = World(table(), script=["tiny pieces"] * 9)
    rows = read(scanner(world, Scan(reverse=reverse)))
    assert sorted(world.rows, reverse=reverse) == [row for row, _ in rows]


def test_pieces_go_on_behind_the_last_cell_given() -> None:
    """The row is begun again after an error; what was given of it is left out."""
    world = World(table(2, cells=5), script=["tiny", "reset", "tiny", "unknown scanner"], size=2)
    rows = read(scanner(world, Scan(batch=1)))
    assert [(row, [cell]) for row in (b"a", b"b") for cell in cells_of(5)] == rows


def test_pieces_of_the_next_row_are_not_taken_for_those_given() -> None:
    """Nothing was left of the row after all, though its flag said so, and the next is like it."""
    world = World(table(3), script=["tiny pieces", "reset"], size=2)
    rows = read(scanner(world, Scan(batch=1)))
    assert [(row, cells_of(1)) for row in (b"a", b"b", b"c")] == rows


def test_a_limit_counts_rows_and_not_pieces() -> None:
    """Also where the flag of a row's last piece says that more of it comes."""
    world = World(table(4, cells=3), script=["tiny pieces"] * 20)
    rows = read(scanner(world, Scan(batch=2, limit=2)))
    assert [b"a", b"b"] == sorted({row for row, _ in rows})
    assert [*cells_of(3), *cells_of(3)] == [cell for _, cells in rows for cell in cells]


@pytest.mark.parametrize(
    "scan",
    [Scan(limit=3), Scan(b"b", b"b", include_stop=True), Scan(b"b", b"b\0"), Scan(b"e", limit=100)],
)
def test_a_small_scan_is_one_call(scan: Scan) -> None:
    """It opens, answers and closes at once; nothing is left open at the server."""
    world = World(table())
    wanted = expected_rows(world, scan)
    assert wanted == [row for row, _ in read(scanner(world, scan))]
    assert ["open"] == world.asked
    assert {} == world.scanners


def test_an_empty_range_is_not_sent() -> None:
    """A server would take `[b, b)` for the row b."""
    world = World(table())
    assert [] == read(scanner(world, Scan(b"b", b"b")))
    assert [] == world.asked


def test_scanners_are_sent_when_they_are_made() -> None:
    """Sixteen of them ask sixteen times before any is read, and each once more when it is."""
    world = World(table(16), [bytes([97 + n]) for n in range(1, 16)])
    made = [scanner(world, Scan(bytes([97 + n]), rows=1)) for n in range(16)]
    assert ["open"] * 16 == world.asked
    assert sorted(world.rows) == [one.first_row() for one in made]
    assert ["open"] * 16 == world.asked


def test_one_answer_is_asked_ahead_and_no_more() -> None:
    """The next request is sent before an answer is given, and none behind it."""
    world = World(table(), size=1)
    found = scanner(world)
    assert ["open"] == world.asked
    found.next_answer()
    assert ["open", "next"] == world.asked
    assert b"b" == found.first_row()
    assert b"a" == found.position
    assert ["open", "next"] == world.asked


def test_a_closed_scanner_refuses_and_is_closed_at_its_server() -> None:
    """Nobody takes it for the end of the scan; closing twice is harmless."""
    world = World(table(), size=1)
    with scanner(world) as found:
        rows = found.rows()
        next(rows)
    found.close()
    with pytest.raises(Refused, match="closed"):
        next(rows)
    with pytest.raises(Refused, match="closed"):
        found.first_row()
    assert {} == world.scanners
    assert "close" == world.asked[-1]


@pytest.mark.parametrize("word", ["lost", "refused", "silent"])
def test_a_dead_end_is_told_and_reading_on_tries_again(word: str) -> None:
    """The attempts of one answer are counted; after the error the scan goes on where it was."""
    settings = Settings(pause_s=0, pause_most_s=0, attempts=3)
    world = World(table(), script=["fine", *[word] * 3], settings=settings, size=1)
    found = scanner(world)
    assert b"a" == found.next_answer().first_row  # type: ignore[union-attr]
    with pytest.raises(OutOfTime):
        found.next_answer()
    assert [b"b", b"c", b"d", b"e", b"f"] == [row for row, _ in read(found)]


def test_what_is_asked_wrongly_is_told_again_and_again() -> None:
    """It is raised at once, and no end of the scan follows it."""
    world = World(table())
    java = "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException"
    world.answer = _raising(from_remote(java, f"{java}: no x", True))  # type: ignore[method-assign]
    found = scanner(world)
    for _ in range(2):
        with pytest.raises(NoSuchColumnFamily):
            found.next_answer()
    assert issubclass(NoSuchColumnFamily, AskedWrongly)


def _raising(error: Exception) -> Any:
    def answer(*_: Any) -> Any:
        raise error

    return answer


def test_the_bounds_of_a_scan_of_meta_are_no_bytes() -> None:
    """Java's scan of a table's regions runs from "t,," to "t ,,": downwards, as bytes sort."""
    rest = Remainder(Scan(b"t,,", b"t ,,"), "hbase:meta")
    assert (False, True) == (rest.is_over, Remainder(Scan(b"t,,", b"t ,,"), "t").is_over)
    rest.go_behind(b"t,,17.x.")
    assert not rest.is_over
    assert Remainder(Scan(b"t,,", b"t,,"), "hbase:meta").is_over


def test_what_is_to_be_asked_at_once_is_asked_after_a_pause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A scan that is asked again is not smaller than before: without a pause it would spin."""
    pauses: list[float | None] = []

    def wait(_: Event, seconds: float | None = None) -> bool:
        pauses.append(seconds)
        return False

    monkeypatch.setattr(Event, "wait", wait)
    there = World({b"a": [Cell("d", b"", 1)]}, script=["too large", "fine"])
    with Scanner(there.caller, "t", Scan(), there.settings) as found:
        assert [b"a"] == [row for row, _ in found.rows()]
    assert 1 == len(pauses)


def test_cells_that_are_none_end_a_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows before them are given, and nobody reads on behind them as if nothing were missing."""

    def broken(block: bytes, counts: Sequence[int]) -> Iterator[RowCells]:
        yield from decode_rows(block, counts)[:2]
        raise Malformed("a cell of kind 5")

    monkeypatch.setattr(answer, "iter_rows", broken)
    there = World({key: [Cell("d", b"", 1)] for key in (b"a", b"b", b"c")})
    with Scanner(there.caller, "t", Scan(), there.settings) as found:
        rows = found.rows()
        assert [b"a", b"b"] == [next(rows).row, next(rows).row]
        with pytest.raises(MalformedAnswer, match="a cell of kind 5"):
            next(rows)
        with pytest.raises(Refused, match="closed"):
            next(found.rows())
