"""Batches against a caller that only pretends: what is done, what is told, what is sent twice."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.cells import LATEST, Cell, CellBlock, Kind, RowCells
from rowkey.errors import Refused
from rowkey.hbase import Settings
from rowkey.hbase.calling import Caller
from rowkey.hbase.errors import (
    CallTimedOut,
    HBaseError,
    MaybeApplied,
    NoSuchColumnFamily,
    NotServingRegion,
    OutOfTime,
    RegionServerStopped,
    RegionTooBusy,
    RemoteError,
    SomeFailed,
)
from rowkey.hbase.locations import Region
from rowkey.hbase.requests import Increment, Multi, Mutate, RawMulti
from rowkey.hbase.requests.raw_multi import ActionFailure
from rowkey.hbase.table import Table
from rowkey.hbase.wire.cellblocks import decode_cells
from rowkey.hbase.wire.names import Server, region_name
from rowkey.hbase.wire.proto import Message

if TYPE_CHECKING:
    from collections.abc import Callable

    from rowkey.hbase.settings import Deadline

STARTS = [b"", b"h", b"p"]
REGIONS = [
    Region("t", region_name("t", start, n), start, stop, Server(f"s{n % 2}", 1, 1), n)
    for n, (start, stop) in enumerate(zip(STARTS, [*STARTS[1:], b""], strict=True))
]
QUICK = Settings(
    operation_s=2.0, call_s=0.5, pause_s=0.001, pause_most_s=0.002, batch_actions=3, attempts=40
)
Verdict = HBaseError | None


class Places:
    """Knows all regions, but for one that is not open."""

    def __init__(self, closed: bytes | None = None) -> None:
        self.closed = closed
        self.forgotten = 0

    def locate(self, table: str, row: bytes, deadline: Deadline) -> Region:
        region = next(one for one in REGIONS if one.holds(row))
        if region.start == self.closed:
            time.sleep(min(deadline.left(), 0.05))
            raise OutOfTime(table, "a region is OPENING, not OPEN")
        return region

    def forget(self, region: Region) -> None:
        self.forgotten += 1

    def forget_server(self, address: tuple[str, int]) -> None:
        self.forgotten += 1

    def moved(self, *_: object) -> None:
        self.forgotten += 1


class Drops:
    """Connections of which there are none."""

    def drop(self, *_: object) -> None:
        """Nothing is there to be dropped."""


class Pretender(Caller):
    """Does what it is told with each action, and notes it.

    Args:
        verdict: what becomes of a row each time it is sent: an error, or None if it is done.
        whole: an error of a whole request, by the number of the request.
        closed: start of a region that is never open.
        settings: limits.
    """

    def __init__(
        self,
        verdict: Callable[[bytes, int], Verdict] = lambda row, time: None,
        whole: Callable[[int], Verdict] = lambda number: None,
        closed: bytes | None = None,
        settings: Settings = QUICK,
    ) -> None:
        super().__init__(None, Drops(), Places(closed), settings)  # type: ignore[arg-type]
        self.verdict, self.whole = verdict, whole
        self.sent: list[list[bytes]] = []
        self.tries: Counter[bytes] = Counter()
        self.done: list[tuple[bytes, bytes]] = []

    def on_region(self, region: Region, request: Any, deadline: Deadline) -> Any:
        return request

    def answer(self, call: Any, request: Any, attempts: Any) -> Any:
        rows = told(request)
        self.sent.append([row for row, _ in rows])
        error = self.whole(len(self.sent))
        if error is not None:
            raise error
        found = [self._one(row, value) for row, value in rows]
        if isinstance(request, Mutate):
            if found[0] is not None:
                raise found[0]
            return None
        if isinstance(request, Multi):
            return found
        places = [(n, m) for n, (_, _, count) in enumerate(request.regions) for m in range(count)]
        both = zip(places, found, strict=True)
        return [ActionFailure(*place, error) for place, error in both if error is not None]

    def _one(self, row: bytes, value: bytes) -> Verdict:
        self.tries[row] += 1
        error = self.verdict(row, self.tries[row])
        if error is None:
            self.done.append((row, value))
        return error


def told(request: Mutate | Multi | RawMulti) -> list[tuple[bytes, bytes]]:
    """The rows of a request in its order, each with a value of it."""
    if isinstance(request, Mutate):
        return [(request.row, request.cells[0].value)]
    if isinstance(request, Multi):
        actions = [action for _, some in request.regions for action in some]
        return [(one.row, one.cells[0].value if type(one) is RowCells else b"") for one in actions]
    cells, _ = decode_cells(request.cells)
    rows = [
        action.messages(2)[0].blob(1)
        for _, actions, _ in request.regions
        for action in Message(actions).messages(3)
    ]
    assert rows == [row for row, _ in cells]
    return [(row, cell.value) for row, cell in cells]


def put(row: bytes, value: bytes = b"v") -> RowCells:
    """A row of one cell."""
    return RowCells(row, [Cell("d", b"q", LATEST, value)])


ROWS = st.lists(st.binary(min_size=1, max_size=2), max_size=12)
ERRORS = st.sampled_from(
    [None, None, NotServingRegion("t", "x"), RegionTooBusy("t", "x"), NoSuchColumnFamily("t", "x")]
)


def named_by(call: Callable[[], None], rows: list[bytes]) -> list[tuple[int, bytes]]:
    """The actions that a call says have failed, by number; a single one is not numbered."""
    try:
        call()
    except SomeFailed as some:
        return [(failure.index, failure.row) for failure in some.failures]
    except NoSuchColumnFamily:
        return [(0, row) for row in rows]
    return []


@given(ROWS, st.lists(ERRORS, min_size=1, max_size=30), st.booleans())
def test_every_change_is_done_or_named(rows: list[bytes], fate: list[Verdict], load: bool) -> None:
    """Each is applied, in the order of its row, or named once with its own number; never both."""
    fates = iter(fate)
    caller = Pretender(lambda row, time: next(fates, None))
    changes = [put(row, b"%d" % number) for number, row in enumerate(rows)]
    table = Table(caller, "t")
    values = pa.array([b"%d" % number for number in range(len(rows))], pa.binary())
    blocks = [CellBlock(pa.array(rows, pa.binary()), "d", b"q", values)]
    named = named_by(
        (lambda: table.load(blocks)) if load else (lambda: table.mutate(changes)), rows
    )
    failed = dict(named)
    assert len(failed) == len(named)
    assert all(rows[number] == row for number, row in failed.items())
    done = Counter(int(value) for _, value in caller.done)
    assert set(range(len(rows))) - failed.keys() == set(done) - failed.keys()
    assert not failed.keys() & set(done)
    for row in set(rows):
        numbers = [int(value) for other, value in caller.done if other == row]
        assert numbers == sorted(numbers)


def test_a_later_change_of_a_row_that_failed_is_not_sent() -> None:
    """It is named with the reason of the first, and other rows of its wave are done."""
    caller = Pretender(lambda row, time: NoSuchColumnFamily("t", "x") if row == b"b" else None)
    with pytest.raises(SomeFailed, match="2 of 5") as caught:
        Table(caller, "t").mutate([put(row) for row in (b"a", b"b", b"b", b"a", b"c")])
    assert [1, 2] == [failure.index for failure in caught.value.failures]
    assert [b"a", b"a", b"c"] == sorted(row for row, _ in caller.done)


def test_a_closed_region_keeps_no_other_waiting() -> None:
    """Rows of open regions are done although one between them never opens."""
    caller = Pretender(closed=b"h")
    rows = [b"a", b"b", b"i", b"j", b"q", b"z"]
    with pytest.raises(SomeFailed, match="2 of 6") as caught:
        Table(caller, "t").mutate([put(row) for row in rows])
    assert [2, 3] == [failure.index for failure in caught.value.failures]
    assert [b"a", b"b", b"q", b"z"] == sorted(row for row, _ in caller.done)


def test_no_request_is_larger_than_allowed() -> None:
    """However regions and servers share the actions."""
    caller = Pretender()
    Table(caller, "t").mutate([put(b"%c%d" % (97 + n % 26, n)) for n in range(200)])
    assert 200 == len(caller.done)
    assert QUICK.batch_actions == max(map(len, caller.sent))


@pytest.mark.parametrize("error", [CallTimedOut("s", "x"), RemoteError("s", "x")])
def test_what_counts_is_never_sent_twice(error: HBaseError) -> None:
    """An increment whose answer is lost is told so; gets and puts beside it are asked again."""
    caller = Pretender(whole=lambda number: error if number == 1 else None)
    actions: list[Any] = [put(b"a"), Increment(b"b", [("d", b"n", 1)], nonce=5)]
    with pytest.raises(SomeFailed, match="1 of 2") as caught:
        Table(caller, "t").run(actions)
    (failure,) = caught.value.failures
    assert isinstance(failure.error, MaybeApplied)
    assert [[b"a", b"b"], [b"a"]] == caller.sent


def test_what_was_surely_not_done_is_sent_again() -> None:
    """A server that is being stopped has not begun: even what counts goes elsewhere."""
    stopped = RegionServerStopped("s", "x")
    caller = Pretender(whole=lambda number: stopped if number == 1 else None)
    gone = RowCells(b"b", [Cell("d", b"q", LATEST, kind=Kind.DELETE)])
    Table(caller, "t").mutate([put(b"a"), gone])
    assert [[b"a", b"b"], [b"a", b"b"]] == caller.sent


def test_a_second_delete_of_the_newest_would_find_the_one_before() -> None:
    """So it is not sent twice if its answer is lost."""
    caller = Pretender(whole=lambda number: CallTimedOut("s", "x") if number == 1 else None)
    gone = RowCells(b"b", [Cell("d", b"q", LATEST, kind=Kind.DELETE)])
    with pytest.raises(SomeFailed, match="1 of 2"):
        Table(caller, "t").mutate([put(b"a"), gone])
    assert [[b"a", b"b"], [b"a"]] == caller.sent


@pytest.mark.parametrize(
    "bad",
    [
        RowCells(b"", [Cell("d", b"q", 1, b"v")]),
        RowCells("text", [Cell("d", b"q", 1, b"v")]),  # type: ignore[arg-type]
        RowCells(b"r", [Cell("d", "q", 1, b"v")]),  # type: ignore[arg-type]
        RowCells(b"r", [Cell("d", b"q", 1, b"v" * (10 << 20))]),
        RowCells(b"r", [Cell("", b"q", 1, b"v")]),
        RowCells(b"r", []),
    ],
)
def test_a_bad_change_is_refused_before_anything_is_sent(bad: RowCells) -> None:
    """One cell that HBase does not take would fail all others of its region."""
    caller = Pretender()
    for changes in ([bad], [put(b"a"), bad]):
        with pytest.raises(Refused):
            Table(caller, "t").mutate(changes)
    assert [] == caller.sent
