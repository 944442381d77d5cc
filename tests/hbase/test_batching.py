"""Batches against a scripted caller: applied, failed and repeated changes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.cells import LATEST, Cell, CellBlock, CellType, RowCells
from rowkey.errors import Conflict, InvalidArgument
from rowkey.hbase import Settings
from rowkey.hbase.errors import (
    CallTimedOut,
    HBaseError,
    MaybeApplied,
    NoSuchColumnFamily,
    NotServingRegion,
    OperationTimedOut,
    OverwrittenAnswer,
    PartialBatchFailure,
    RegionServerStopped,
    RegionTooBusy,
    RemoteError,
)
from rowkey.hbase.locations import RegionLocation
from rowkey.hbase.requests import Increment, Multi, Mutate, RawMulti
from rowkey.hbase.requests.multi import ActionFailure
from rowkey.hbase.retrying_caller import RetryingCaller
from rowkey.hbase.table import HBaseTable
from rowkey.hbase.wire.cellblocks import decode_cells
from rowkey.hbase.wire.names import ServerName, build_region_name
from rowkey.hbase.wire.proto import ProtoMessage

if TYPE_CHECKING:
    from rowkey.hbase.settings import Deadline

STARTS = [b"", b"h", b"p"]
REGIONS = [
    RegionLocation(
        "t", build_region_name("t", start, n), start, stop, ServerName(f"s{n % 2}", 1, 1), n
    )
    for n, (start, stop) in enumerate(zip(STARTS, [*STARTS[1:], b""], strict=True))
]
QUICK = Settings(
    operation_timeout_s=2.0,
    call_timeout_s=0.5,
    retry_pause_s=0.001,
    max_retry_pause_s=0.002,
    batch_actions=3,
    max_attempts=40,
)
Verdict = HBaseError | None


class RegionMap:
    """A map of regions, one of which is not open."""

    def __init__(self, closed: bytes | None = None) -> None:
        self.closed = closed
        self.forgotten = 0

    def locate_region(self, table: str, row: bytes, deadline: Deadline) -> RegionLocation:
        region = next(one for one in REGIONS if one.has_row(row))
        if region.start == self.closed:
            time.sleep(min(deadline.get_remaining_s(), 0.05))
            raise OperationTimedOut(table, "a region is OPENING, not OPEN")
        return region

    def forget_region(self, region: RegionLocation) -> None:
        self.forgotten += 1

    def forget_server(self, address: tuple[str, int]) -> None:
        self.forgotten += 1

    def record_move(self, *_: object) -> None:
        self.forgotten += 1


class NoConnections:
    """Connections that do not exist."""

    def drop_connections(self, *_: object) -> None:
        """Do nothing."""


class ScriptedCaller(RetryingCaller):
    """Handles each action as scripted and records it.

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
        super().__init__(None, NoConnections(), RegionMap(closed), settings)  # type: ignore[arg-type]
        self.verdict, self.whole = verdict, whole
        self.sent: list[list[bytes]] = []
        self.tries: Counter[bytes] = Counter()
        self.done: list[tuple[bytes, bytes]] = []

    def send_request(
        self, address: tuple[str, int], request: Any, region: bytes, deadline: Deadline
    ) -> Any:
        return request

    def wait_for_answer(self, call: Any, request: Any, attempts: Any) -> Any:
        rows = list_sent_rows(request)
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


def list_sent_rows(request: Mutate | Multi | RawMulti) -> list[tuple[bytes, bytes]]:
    """Return the rows of a request in order, each with a value of it."""
    if isinstance(request, Mutate):
        return [(request.row, request.cells[0].value)]
    if isinstance(request, Multi):
        actions = [action for _, some in request.regions for action in some]
        return [(one.row, one.cells[0].value if type(one) is RowCells else b"") for one in actions]
    cells, _ = decode_cells(request.cells)
    rows = [
        next(action.iter_messages(2)).get_bytes(1)
        for _, actions, _ in request.regions
        for action in ProtoMessage(actions).iter_messages(3)
    ]
    assert rows == [row for row, _ in cells]
    return [(row, cell.value) for row, cell in cells]


def build_put(row: bytes, value: bytes = b"v") -> RowCells:
    """Return a row of one cell."""
    return RowCells(row, [Cell("d", b"q", LATEST, value)])


ROWS = st.lists(st.binary(min_size=1, max_size=2), max_size=12)
ERRORS = st.sampled_from(
    [None, None, NotServingRegion("t", "x"), RegionTooBusy("t", "x"), NoSuchColumnFamily("t", "x")]
)


def list_failed_indexes(call: Callable[[], None], rows: list[bytes]) -> list[tuple[int, bytes]]:
    """Return the indexes of the actions that a call reports as failed."""
    try:
        call()
    except PartialBatchFailure as some:
        return [(failure.index, failure.row) for failure in some.failures]
    except NoSuchColumnFamily:
        return [(0, row) for row in rows]
    return []


@given(ROWS, st.lists(ERRORS, min_size=1, max_size=30), st.booleans())
def test_every_change_of_a_batch_is_done_or_reported_once(
    rows: list[bytes], fate: list[Verdict], load: bool
) -> None:
    """Each change is either applied in the order of its row or reported once with its index."""
    fates = iter(fate)
    caller = ScriptedCaller(lambda row, time: next(fates, None))
    changes = [build_put(row, b"%d" % number) for number, row in enumerate(rows)]
    table = HBaseTable(caller, "t")
    values = pa.array([b"%d" % number for number in range(len(rows))], pa.binary())
    blocks = [CellBlock(pa.array(rows, pa.binary()), "d", b"q", values)]
    named = list_failed_indexes(
        (lambda: table.put_blocks(blocks)) if load else (lambda: table.mutate_rows(changes)), rows
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


def test_a_change_after_a_failed_one_of_its_row_is_not_sent() -> None:
    """A change after a failed one of its row is reported with the same error and not sent."""
    caller = ScriptedCaller(lambda row, time: NoSuchColumnFamily("t", "x") if row == b"b" else None)
    with pytest.raises(PartialBatchFailure, match="2 of 5") as caught:
        HBaseTable(caller, "t").mutate_rows(
            [build_put(row) for row in (b"a", b"b", b"b", b"a", b"c")]
        )
    assert [1, 2] == [failure.index for failure in caught.value.failures]
    assert [b"a", b"a", b"c"] == sorted(row for row, _ in caller.done)


def test_a_region_that_never_opens_delays_no_rows_of_other_regions() -> None:
    """Rows of open regions are written although one region never opens."""
    caller = ScriptedCaller(closed=b"h")
    rows = [b"a", b"b", b"i", b"j", b"q", b"z"]
    with pytest.raises(PartialBatchFailure, match="2 of 6") as caught:
        HBaseTable(caller, "t").mutate_rows([build_put(row) for row in rows])
    assert [2, 3] == [failure.index for failure in caught.value.failures]
    assert [b"a", b"b", b"q", b"z"] == sorted(row for row, _ in caller.done)


def test_no_batch_request_exceeds_the_limits() -> None:
    """No request exceeds the limits, however regions and servers share the actions."""
    caller = ScriptedCaller()
    HBaseTable(caller, "t").mutate_rows([build_put(b"%c%d" % (97 + n % 26, n)) for n in range(200)])
    assert 200 == len(caller.done)
    assert QUICK.batch_actions == max(map(len, caller.sent))


def test_an_increment_whose_answer_was_overwritten_raises_maybe_applied() -> None:
    """It raises MaybeApplied, and the other actions are done."""
    overwritten = OverwrittenAnswer.from_row(b"b")
    caller = ScriptedCaller(lambda row, time: overwritten if (row, time) == (b"b", 1) else None)
    actions: list[Any] = [build_put(b"a"), Increment(b"b", [("d", b"n", 1)])]
    with pytest.raises(PartialBatchFailure, match="1 of 2") as caught:
        HBaseTable(caller, "t").run_actions(actions)
    (failure,) = caught.value.failures
    assert isinstance(failure.error, MaybeApplied)
    assert [[b"a", b"b"]] == caller.sent


@pytest.mark.parametrize("error", [CallTimedOut("s", "x"), RemoteError("s", "x")])
def test_an_increment_with_a_lost_answer_raises_maybe_applied(error: HBaseError) -> None:
    """An increment with a lost answer raises MaybeApplied, while gets and puts are repeated."""
    caller = ScriptedCaller(whole=lambda number: error if number == 1 else None)
    actions: list[Any] = [build_put(b"a"), Increment(b"b", [("d", b"n", 1)], nonce=5)]
    with pytest.raises(PartialBatchFailure, match="1 of 2") as caught:
        HBaseTable(caller, "t").run_actions(actions)
    (failure,) = caught.value.failures
    assert isinstance(failure.error, MaybeApplied)
    assert [[b"a", b"b"], [b"a"]] == caller.sent


def test_an_increment_that_a_stopping_server_refused_is_sent_to_another() -> None:
    stopped = RegionServerStopped("s", "x")
    caller = ScriptedCaller(whole=lambda number: stopped if number == 1 else None)
    gone = RowCells(b"b", [Cell("d", b"q", LATEST, cell_type=CellType.DELETE)])
    HBaseTable(caller, "t").mutate_rows([build_put(b"a"), gone])
    assert [[b"a", b"b"], [b"a", b"b"]] == caller.sent


def test_a_delete_of_the_newest_version_with_a_lost_answer_is_not_repeated() -> None:
    caller = ScriptedCaller(whole=lambda number: CallTimedOut("s", "x") if number == 1 else None)
    gone = RowCells(b"b", [Cell("d", b"q", LATEST, cell_type=CellType.DELETE)])
    with pytest.raises(PartialBatchFailure, match="1 of 2"):
        HBaseTable(caller, "t").mutate_rows([build_put(b"a"), gone])
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
def test_a_change_that_hbase_would_refuse_is_not_sent(bad: RowCells) -> None:
    """A cell that HBase would refuse is refused before anything is sent."""
    caller = ScriptedCaller()
    for changes in ([bad], [build_put(b"a"), bad]):
        with pytest.raises(InvalidArgument):
            HBaseTable(caller, "t").mutate_rows(changes)
    assert [] == caller.sent


PUT = Mutate(b"a", [Cell("d", b"q", 1, b"v")])


def test_the_caller_can_stop_a_change_before_each_retry() -> None:
    """A caller that says each time whether a change may be sent stops it before a retry."""
    answers = iter([1.0])

    def check_send() -> float:
        for seconds in answers:
            return seconds
        raise Conflict("table t", "it is too late")

    caller = ScriptedCaller(lambda row, time: NotServingRegion("t", "it has moved"))
    with pytest.raises(Conflict, match="it is too late"):
        caller.call_row("t", b"a", PUT, check_send=check_send)
    assert [[b"a"]] == caller.sent
