"""A client whose increments are answered with another request's cells still gets its own."""

from __future__ import annotations

from typing import Any, Self

from hypothesis import given
from hypothesis import strategies as st

from rowkey.cells import LATEST, Cell
from rowkey.hbase import Settings
from rowkey.hbase.errors import OverwrittenAnswer
from rowkey.hbase.locations import RegionLocation
from rowkey.hbase.requests import Action, Get, Increment, Multi
from rowkey.hbase.retrying_caller import RetryingCaller
from rowkey.hbase.table import HBaseTable
from rowkey.hbase.wire.cellblocks import decode_cells, encode_cells
from rowkey.hbase.wire.frames import Response
from rowkey.hbase.wire.names import ServerName
from rowkey.hbase.wire.proto import ProtoMessage, encode_message, encode_uint

TIME_MS = 1_700_000_000_000
ROW, OTHER_ROW = b"row", b"raw"
QUICK = Settings(retry_pause_s=0, max_retry_pause_s=0)


class OverwritingServer:
    """Counts, knows nonces, and answers some requests from memory that others have overwritten.

    Args:
        overwritten: the row and the timestamp of the cells in each of its first answers.
    """

    def __init__(self, overwritten: list[tuple[bytes, int]]) -> None:
        self.overwritten = overwritten
        self.total = 0
        self.stored: dict[int, bytes] = {}
        """The answer to each nonce."""
        self.answer = b""

    def get_connection(self, *_: object) -> Self:
        """Return the connection to every server."""
        return self

    def locate_region(self, *_: object) -> RegionLocation:
        """Return the only region."""
        return RegionLocation("t", b"t,,1.", b"", b"", ServerName("s", 1, 1), 1)

    def send(self, method: str, param: bytes, cells: bytes, **__: object) -> Self:
        """Add an amount, unless its nonce is known, and prepare the answer."""
        del method
        nonce = ProtoMessage(ProtoMessage(param).get_bytes(2)).get_uint(9)
        ((row, cell),), _ = decode_cells(cells)
        if nonce not in self.stored:
            self.total += int.from_bytes(cell.value, "big", signed=True)
            now = cell._replace(timestamp=TIME_MS, value=self.total.to_bytes(8, "big", signed=True))
            self.stored[nonce] = encode_cells(row, [now])
        self.answer = self.stored[nonce]
        if self.overwritten:
            other_row, timestamp = self.overwritten.pop()
            self.answer = encode_cells(other_row, [cell._replace(timestamp=timestamp)])
        return self

    def result(self, _: object) -> Response:
        """Return the answer to the last request."""
        return Response(1, None, encode_message(1, encode_uint(2, 1)), self.answer)


@given(
    st.lists(st.integers(-9, 9), max_size=4),
    st.lists(st.sampled_from([(ROW, LATEST), (OTHER_ROW, LATEST), (OTHER_ROW, 5)]), max_size=4),
)
def test_each_increment_counts_once_although_its_first_answer_is_overwritten(
    amounts: list[int], overwritten: list[tuple[bytes, int]]
) -> None:
    """Counters and timestamps are those that are stored, whatever the first answers hold."""
    server: Any = OverwritingServer(overwritten)
    registry: Any = None
    table = HBaseTable(RetryingCaller(registry, server, server, QUICK), "t")
    total = 0
    for amount in amounts:
        total += amount
        (cell,) = table.increment_cells(ROW, [("d", b"n", amount)])
        assert (TIME_MS, total) == (cell.timestamp, int.from_bytes(cell.value, "big", signed=True))
    assert total == server.total


def test_an_overwritten_answer_fails_only_one_action_of_a_batch() -> None:
    """The other actions of a batch have their outcomes."""
    first_request, last_request = (Increment(row, [("d", b"n", 1)]) for row in (ROW, b"c"))
    actions: list[Action] = [first_request, Get(b"b"), last_request]
    counter = Cell("d", b"n", TIME_MS, (7).to_bytes(8, "big"))
    cells = [(ROW, counter._replace(timestamp=LATEST)), (b"b", counter), (b"c", counter)]
    results = b"".join(
        encode_message(1, encode_uint(1, place), encode_message(2, encode_uint(2, 1)))
        for place in range(1, 4)
    )
    block = b"".join(encode_cells(row, [cell]) for row, cell in cells)
    answer = Response(1, None, encode_message(1, results), block)
    first, second, third = Multi([(b"t,,1.", actions)]).decode(answer)
    assert isinstance(first, OverwrittenAnswer)
    assert ((b"b", [counter]), [7]) == (second, third)
