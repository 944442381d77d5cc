"""A simulated cluster of one table that answers scans and fails by a script.

It speaks the bytes of the protocol, so that requests and answers are encoded and read as in life.
What goes wrong, and when, is read from a script, one word for each request.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any

from hbase.scanning.wires import FakeConnections, FakeLocations
from rowkey.hbase.errors import ConnectionLost, HBaseError, parse_remote_error
from rowkey.hbase.locations import RegionLocation
from rowkey.hbase.retrying_caller import RetryingCaller
from rowkey.hbase.settings import Settings
from rowkey.hbase.wire.cellblocks import encode_cells
from rowkey.hbase.wire.frames import Response
from rowkey.hbase.wire.names import ServerName, build_region_name
from rowkey.hbase.wire.proto import (
    ProtoMessage,
    encode_bool,
    encode_bytes,
    encode_message,
    encode_uint,
)

if TYPE_CHECKING:
    from rowkey.cells import Cell
    from rowkey.errors import RowkeyError

HBASE = "org.apache.hadoop.hbase."
SERVERS = [ServerName(f"rs{number}", 16020, 1) for number in range(3)]

ERRORS = {
    "not serving": "NotServingRegionException",
    "opening": "exceptions.RegionOpeningException",
    "too large": "MultiActionResultTooLarge",
    "too busy": "CallQueueTooBigException",
    "stopped": "regionserver.RegionServerStoppedException",
    "starting": "ipc.ServerNotRunningYetException",
    "reset": "exceptions.ScannerResetException",
    "unknown scanner": "UnknownScannerException",
}
"""Errors that a server may answer."""

WORDS = [
    *ERRORS, "fine", "late", "tiny", "tiny pieces", "heartbeat", "cursor", "no last word", "lost",
    "timed out", "refused", "silent", "split", "merge", "move", "expire", "stale", "wrong place",
]  # fmt: skip
"""All events that can happen at a request; `fine` is none."""


@dataclass
class ServedScanner:
    """A scanner at its server."""

    region: bytes
    keys: deque[bytes]
    batch: int | None
    reverse: bool
    expected: int = 0
    pieces: deque[tuple[bytes, list[Cell], bool]] = field(default_factory=deque)


class World:
    """The table, its regions, and what goes wrong.

    Args:
        rows: cells of each row, in their order.
        splits: the split keys of its regions.
        script: a word of `WORDS` for each request; after its end no request fails.
        settings: of the client.
        size: the maximum number of cells in an answer.
    """

    def __init__(
        self,
        rows: Mapping[bytes, Sequence[Cell]],
        splits: Iterable[bytes] = (),
        script: Iterable[str] = (),
        settings: Settings | None = None,
        size: int = 1000,
    ) -> None:
        self.rows = dict(rows)
        self.keys = sorted(rows)
        self.script = deque(script)
        self.size = size
        self.ttl_ms = 60_000
        self.ids = count(1)
        self.regions: list[RegionLocation] = []
        self.former: list[RegionLocation] = []
        self.scanners: dict[int, ServedScanner] = {}
        self.asked: list[str] = []
        self.requested_rows: list[int] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self.is_silent = False
        self.fails: RowkeyError | None = None
        self.told_off: set[int] = set()
        self.broken: list[str] = []
        edges = [b"", *splits, b""]
        for start, stop in pairwise(edges):
            self.regions.append(self._region(start, stop))
        quick = Settings(retry_pause_s=0, max_retry_pause_s=0)
        self.settings = settings or quick
        places: Any = FakeLocations(self)
        servers: Any = FakeConnections(self)
        registry: Any = None
        self.caller = RetryingCaller(registry, servers, places, self.settings)
        self.places: FakeLocations = places

    def _region(self, start: bytes, stop: bytes) -> RegionLocation:
        number = next(self.ids)
        name = build_region_name("t", start, number)
        return RegionLocation("t", name, start, stop, SERVERS[number % len(SERVERS)], number)

    def holder(self, row: bytes) -> RegionLocation:
        """Return the region that holds a row."""
        return next(one for one in self.regions if one.has_row(row))

    def before(self, row: bytes) -> RegionLocation:
        """Return the region that holds the greatest keys below a row."""
        if not row:
            return self.regions[-1]
        return next(one for one in self.regions if one.start < row <= one.stop or not one.stop)

    def split(self, row: bytes) -> None:
        """Split the region of a row there, unless a region starts there."""
        old = self.holder(row)
        if row not in (b"", old.start):
            self._replace([old], [self._region(old.start, row), self._region(row, old.stop)])

    def merge(self, row: bytes) -> None:
        """Merge the region of a row and the next one."""
        at = self.regions.index(self.holder(row))
        pair = self.regions[at : at + 2]
        if len(pair) == 2:
            self._replace(pair, [self._region(pair[0].start, pair[1].stop)])

    def move(self, row: bytes) -> None:
        """Move the region of a row to another server under its name."""
        old = self.holder(row)
        number = next(self.ids)
        server = SERVERS[(SERVERS.index(old.server) + 1) % len(SERVERS)]
        self._replace([old], [RegionLocation("t", old.name, old.start, old.stop, server, number)])

    def _replace(self, old: list[RegionLocation], new: list[RegionLocation]) -> None:
        at = self.regions.index(old[0])
        self.regions[at : at + len(old)] = new
        self.former += old
        names = {one.name for one in old}
        for number in [key for key, one in self.scanners.items() if one.region in names]:
            del self.scanners[number]

    def happen(self) -> str:
        """Return the next word of the script, after applying what does not concern the request."""
        word = self.script.popleft() if self.script else "fine"
        verb, _, key = word.partition(" @")
        row = bytes.fromhex(key) if key else b""
        if verb in ("split", "merge", "move"):
            getattr(self, verb)(row)
        elif verb == "expire":
            self.scanners.clear()
        return verb

    def answer(self, address: tuple[str, int], sent: ProtoMessage, word: str) -> Response:
        """Return a server's answer to a request.

        Raises:
            HBaseError: an error, as the waiting thread gets it.
        """
        number = sent.get_uint(3)
        try:
            if word in ERRORS:
                raise self._error(ERRORS[word])
            said = self._scan(address, sent, word)
            if word in ("lost", "timed out"):
                raise ConnectionLost(str(address), "the answer was lost")
        except HBaseError:
            self.told_off.add(number)
            raise
        return said

    def _error(self, java: str, says: str = "it is so") -> HBaseError:
        return parse_remote_error(HBASE + java, f"{HBASE}{java}: {says}", False)

    def _scan(self, address: tuple[str, int], sent: ProtoMessage, word: str) -> Response:
        if not sent.has_field(3):
            number, served = self._open(address, sent)
            extra = encode_uint(4, self.ttl_ms) + encode_uint(11, 7)
        else:
            number, extra = sent.get_uint(3), b""
            if number in self.told_off:
                self.broken.append("a scanner was asked again after an error")
            if sent.get_bool(5) and not sent.has_field(6):
                self.asked.append("close")
                self.scanners.pop(number, None)
                return Response(0, None, encode_uint(2, number) + encode_bool(3, True), b"")
            if number not in self.scanners:
                raise self._error("UnknownScannerException")
            served = self.scanners[number]
            if sent.get_uint(6) != served.expected:
                raise self._error("exceptions.OutOfOrderScannerNextException")
            served.expected += 1
            if sent.get_bool(10):
                self.asked.append("renew")
                return Response(0, None, encode_uint(2, number), b"")
            self.asked.append("next")
        if word == "silent":
            self.told_off.add(number)
            return Response(0, None, encode_uint(2, number), b"")
        self.requested_rows.append(sent.get_uint(4, 1))
        return self._give(number, served, sent, word, extra)

    def _open(self, address: tuple[str, int], sent: ProtoMessage) -> tuple[int, ServedScanner]:
        self.asked.append("open")
        name = sent.get_message(1).get_bytes(2)  # type: ignore[union-attr]
        found = [one for one in self.regions if one.name == name]
        if not found:
            raise self._error("NotServingRegionException")
        if found[0].server.address != address:
            host, port = found[0].server.address
            where = f"hostname={host} port={port} startCode=1. locationSeqNum={found[0].seqnum}."
            raise self._error("exceptions.RegionMovedException", where)
        scan = sent.get_message(2)
        assert scan is not None
        keys = self._within(found[0], scan)
        batch = scan.get_uint(9) or None
        served = ServedScanner(name, deque(keys), batch, scan.get_bool(15))
        number = next(self.ids)
        self.scanners[number] = served
        return number, served

    def _within(self, region: RegionLocation, scan: ProtoMessage) -> list[bytes]:
        """Return the row keys of a scan that are in a region, silently without the others."""
        start, stop = scan.get_bytes(3), scan.get_bytes(4)
        with_start, with_stop = scan.get_bool(21, True), scan.get_bool(22, False)
        if start and start == stop:
            with_stop = with_stop or with_start
            if not with_stop:
                self.broken.append("an empty range was sent")
        keys = [row for row in self.keys if region.has_row(row)]
        if scan.get_bool(15):
            keys = [
                row for row in reversed(keys)
                if (not start or row < start or (row == start and with_start))
                and (not stop or row > stop or (row == stop and with_stop))
            ]  # fmt: skip
        else:
            keys = [
                row for row in keys
                if (row > start or (row == start and with_start))
                and (not stop or row < stop or (row == stop and with_stop))
            ]  # fmt: skip
        return keys

    def _give(
        self, number: int, served: ServedScanner, sent: ProtoMessage, word: str, extra: bytes
    ) -> Response:
        """Return some pieces and whether more follow."""
        size = {"tiny": 3, "tiny pieces": 1, "heartbeat": 0, "cursor": 0}.get(word, self.size)
        rows_most, limit = sent.get_uint(4, 1), sent.get_uint(11) or None
        counts: list[int] = []
        partials: list[bool] = []
        block: list[bytes] = []
        complete, enough = 0, False
        begun = b""
        while size > 0 and len(counts) < rows_most and not enough:
            piece = self._piece(served, size, pieces=word == "tiny pieces")
            if piece is None:
                break
            row, cells, partial = piece
            if begun and row != begun:  # the piece before was the last of its row after all
                complete += 1
                enough = complete == limit
            begun = row if partial else b""
            counts.append(len(cells))
            partials.append(partial)
            block.append(encode_cells(row, cells))
            size -= len(cells)
            complete += not partial
            enough = enough or complete == limit
        is_empty = not served.keys and not served.pieces
        more_in_region = not is_empty or word == "no last word"
        more = not enough
        said = (
            extra + encode_uint(2, number) + encode_bool(3, more) + encode_bool(8, more_in_region)
        )
        said += b"".join(encode_uint(1, one) for one in counts)
        said += b"".join(encode_bool(7, one) for one in partials)
        if word == "cursor" and served.keys and not served.pieces:
            said += encode_message(12, encode_bytes(1, served.keys[0]))
        if size <= 0 and not counts:
            said += encode_bool(9, True)
        if not more or not more_in_region or sent.get_bool(5):
            self.scanners.pop(number, None)
        return Response(0, None, said, b"".join(block))

    def _piece(
        self, served: ServedScanner, size: int, *, pieces: bool
    ) -> tuple[bytes, list[Cell], bool] | None:
        """Return the next piece of a row, sometimes wrongly flagged as partial."""
        if not served.pieces:
            if not served.keys:
                return None
            row = served.keys.popleft()
            served.pieces.append((row, list(self.rows[row]), False))
        row, cells, _ = served.pieces.popleft()
        most = min(size, served.batch or size)
        if len(cells) <= most:
            lies = pieces and bool(served.keys)
            return row, cells, lies
        served.pieces.append((row, cells[most:], False))
        return row, cells[:most], True


def expected_rows(world: World, scan: Any) -> list[bytes]:
    """Return the row keys that a scan must return in their order."""
    keys = world.keys
    low, high = (scan.stop, scan.start) if scan.reverse else (scan.start, scan.stop)
    with_low, with_high = (
        (scan.include_stop, scan.include_start)
        if scan.reverse
        else (scan.include_start, scan.include_stop)
    )
    begin = bisect_left(keys, low)
    if low and not with_low and keys[begin : begin + 1] == [low]:
        begin += 1
    end = bisect_left(keys, high) if high else len(keys)
    if high and with_high and keys[end : end + 1] == [high]:
        end += 1
    found = keys[begin:end]
    return (found[::-1] if scan.reverse else found)[: scan.limit]
