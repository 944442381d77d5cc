"""A scripted hbase:meta, which answers the requests of the region locator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

from rowkey.cells import Cell
from rowkey.hbase.wire.cellblocks import encode_cells
from rowkey.hbase.wire.frames import Response
from rowkey.hbase.wire.names import ServerName, build_region_name, encode_table_name
from rowkey.hbase.wire.proto import (
    ProtoMessage,
    encode_bool,
    encode_bytes,
    encode_message,
    encode_uint,
)

if TYPE_CHECKING:
    from rowkey.hbase.errors import HBaseError
    from rowkey.hbase.settings import Deadline

SERVERS = tuple(ServerName(f"rs{number}", 16020, 1_700_000_000_000 + number) for number in range(3))
META_SERVER = SERVERS[0]


@dataclass(frozen=True)
class MetaEntry:
    """A row of meta."""

    table: str
    start: bytes
    stop: bytes
    id: int
    server: ServerName | None = SERVERS[0]
    state: str = "OPEN"
    seqnum: int = 2
    split: bool = False

    @cached_property
    def name(self) -> bytes:
        """Return the full name of the region."""
        return build_region_name(self.table, self.start, self.id)

    @cached_property
    def order(self) -> tuple[bytes, bytes, bytes]:
        """Return the sort key of its row."""
        return build_sort_key(self.name)

    def holds(self, row: bytes) -> bool:
        """Return whether the region holds a row."""
        return self.start <= row and (not self.stop or row < self.stop)

    def cells(self) -> list[Cell]:
        """Return the cells of its row, ordered by qualifier."""
        info = b"PBUF" + b"".join(
            (
                encode_uint(1, self.id),
                encode_bytes(2, encode_table_name(self.table)),
                encode_bytes(3, self.start),
                encode_bytes(4, self.stop),
                encode_bool(5, self.split),
                encode_bool(6, self.split),
            )
        )
        found = {b"regioninfo": info, b"state": self.state.encode()}
        if self.server is not None:
            found[b"server"] = f"{self.server.host}:{self.server.port}".encode()
            found[b"serverstartcode"] = self.server.start_code.to_bytes(8, "big")
            found[b"seqnumDuringOpen"] = self.seqnum.to_bytes(8, "big")
        return [Cell("info", name, 1, value) for name, value in sorted(found.items())]


def build_sort_key(row: bytes) -> tuple[bytes, bytes, bytes]:
    """Return the order of a row of meta: table, start key and id.

    One with a single comma stands behind all regions that begin at the first key.
    """
    table, _, rest = row.partition(b",")
    if row.count(b",") == 1:
        return table, b"", b"\xff"
    start, _, number = rest.rpartition(b",")
    return table, start, number


@dataclass
class FakeMeta:
    """The rows of meta, the tables' states and the failures; also servers and registry.

    Args:
        page: most rows of an answer, whatever was asked.
        heartbeats: answers without rows to give first.
        partial: whether the last row of an answer that is not the last is cut in two.
        failures: errors of the next requests, first to last.
    """

    entries: list[MetaEntry] = field(default_factory=list)
    states: dict[str, int] = field(default_factory=dict)
    page: int = 10_000
    heartbeats: int = 0
    partial: bool = False
    failures: list[HBaseError] = field(default_factory=list)
    scans: int = 0
    asked_where: int = 0
    dropped: list[tuple[str, int]] = field(default_factory=list)
    learnt: set[ServerName] = field(default_factory=set)
    next_id: int = 1_000
    server: ServerName = META_SERVER
    lock: Any = field(default_factory=Lock)

    def create(self, table: str, splits: Iterable[bytes] = ()) -> None:
        """Create a table whose regions are spread over the servers."""
        starts = [b"", *splits]
        stops = [*starts[1:], b""]
        self.next_id += 1
        for number, (start, stop) in enumerate(zip(starts, stops, strict=True)):
            server = SERVERS[number % len(SERVERS)]
            self.entries.append(MetaEntry(table, start, stop, self.next_id, server))
        self.states[table] = 0

    def living(self, table: str) -> list[MetaEntry]:
        """Return the regions of a table that are not retired, ascending."""
        found = [one for one in self.entries if one.table == table and not one.split]
        return sorted(found, key=lambda one: one.start)

    def truth(self, table: str, row: bytes) -> MetaEntry:
        """Return the region that holds a row."""
        (found,) = [one for one in self.living(table) if one.holds(row)]
        return found

    def swap(self, old: MetaEntry, **changes: Any) -> MetaEntry:
        """Replace a row of meta."""
        new = replace(old, **changes)
        self.entries[self.entries.index(old)] = new
        return new

    def split(self, table: str, at: bytes) -> None:
        """Split a region; its row stays for a while as a retired one."""
        old = self.truth(table, at)
        if old.start == at:
            return
        self.next_id += 1
        common: dict[str, Any] = {
            "id": self.next_id,
            "server": old.server,
            "seqnum": old.seqnum + 1,
        }
        self.entries += [replace(old, stop=at, **common), replace(old, start=at, **common)]
        self.swap(old, split=True, state="SPLIT")

    def merge(self, table: str, row: bytes) -> None:
        """Merge a region with the next one."""
        first = self.truth(table, row)
        if not first.stop:
            return
        second = self.truth(table, first.stop)
        self.next_id += 1
        self.entries.remove(second)
        self.swap(first, stop=second.stop, id=self.next_id, seqnum=first.seqnum + 9)

    def move(self, table: str, row: bytes, server: ServerName) -> None:
        """Move a region to another server."""
        old = self.truth(table, row)
        self.swap(old, server=server, seqnum=old.seqnum + 1)

    # What a client sees: the registry, the servers, their connections.

    def get_meta_server(self, deadline: Deadline) -> ServerName:
        """Return the registry's answer."""
        self.asked_where += 1
        return self.server

    def learn_servers(self, servers: Iterable[ServerName]) -> None:
        """Record the servers that the registry is given."""
        self.learnt.update(servers)

    def get_connection(
        self, address: tuple[str, int], service: str, deadline: Deadline
    ) -> FakeMeta:
        """Return this object as a connection."""
        assert (self.server.address, "ClientService") == (address, service)
        return self

    def drop_connections(self, address: tuple[str, int], error: HBaseError | None = None) -> None:
        """Record that connections were dropped."""
        self.dropped.append(address)

    def send(
        self, method: str, param: bytes, cells: bytes = b"", *, deadline: Deadline
    ) -> PendingCall:
        """Return a request."""
        with self.lock:
            if self.failures:
                return PendingCall(self.failures.pop(0))
            sent = ProtoMessage(param)
            where = sent.get_message(1)
            assert where is not None
            assert where.get_bytes(2) == b"hbase:meta,,1"
            asked = sent.get_message(2)
            assert asked is not None
            return PendingCall(self._scan(sent, asked) if method == "Scan" else self._get(asked))

    def _get(self, asked: ProtoMessage) -> Response:
        state = self.states.get(asked.get_bytes(1).decode())
        row = asked.get_bytes(1)
        cells = [] if state is None else [Cell("table", b"state", 1, encode_uint(1, state))]
        result = encode_message(1, encode_uint(2, len(cells)))
        return Response(0, None, result, encode_cells(row, cells))

    def _scan(self, sent: ProtoMessage, asked: ProtoMessage) -> Response:
        self.scans += 1
        assert asked.get_uint(23) == 2, "the default read type would be cut short"
        assert sent.get_bool(5), "a scanner would be left behind"
        if self.heartbeats:
            self.heartbeats -= 1
            return Response(
                0, None, encode_bool(3, True) + encode_bool(8, True) + encode_bool(9, True), b""
            )
        found = self._range(asked)
        wanted = sent.get_uint(11)
        rows = found[: min(wanted, self.page)]
        ended = len(rows) == len(found) and len(rows) < wanted
        blocks = [one.cells() for one in rows]
        partials = [False] * len(rows)
        if self.partial and not ended and len(rows) > 1:
            blocks[-1] = blocks[-1][:1]
            partials[-1] = True
        told = b"".join(encode_uint(1, len(block)) for block in blocks)
        told += encode_bool(3, len(rows) < wanted) + b"".join(
            encode_bool(7, one) for one in partials
        )
        told += encode_bool(8, not ended)
        cells = b"".join(encode_cells(one.name, b) for one, b in zip(rows, blocks, strict=True))
        return Response(0, None, told, cells)

    def _range(self, asked: ProtoMessage) -> list[MetaEntry]:
        """Return the rows of a range in its direction."""
        reverse = asked.get_bool(15)
        start, stop = build_sort_key(asked.get_bytes(3)), build_sort_key(asked.get_bytes(4))
        at_start = asked.get_bool(21, True)
        ordered = sorted(self.entries, key=lambda one: one.order, reverse=reverse)
        return [
            one
            for one in ordered
            if (one.order > stop if reverse else one.order < stop)
            and ((one.order < start if reverse else one.order > start)
                 or (at_start and one.order == start))
        ]  # fmt: skip


class PendingCall:
    """A sent request."""

    def __init__(self, outcome: Response | HBaseError) -> None:
        self.outcome = outcome

    def result(self, deadline: Deadline) -> Response:
        """Return the answer to the request."""
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome

    def cancel(self) -> None:
        """Do nothing."""
