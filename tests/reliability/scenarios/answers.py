"""Answers of HBase's servers to a client: frames, cell blocks and rows of hbase:meta."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from hbase.fakes import AcceptedConnection, FakeServer, answer_frame, fault_frame
from hbase.locations.fake_meta import FakeMeta
from reliability.scenarios.contract import ReadAsStored, Scenario, StoredObject
from rowkey.cells import Cell, RowCells
from rowkey.hbase.client import Client
from rowkey.hbase.errors import HBaseError
from rowkey.hbase.read_spec import ScanSpec
from rowkey.hbase.settings import Settings
from rowkey.hbase.wire.cellblocks import encode_cells
from rowkey.hbase.wire.names import ServerName
from rowkey.hbase.wire.proto import (
    ProtoMessage,
    encode_bool,
    encode_message,
    encode_uint,
    encode_varint,
)

if TYPE_CHECKING:
    from hbase.fakes import ReceivedRequest
    from rowkey.hbase.table import HBaseTable

CALL_ID = 0x0ABCDEF
"""The call id of recorded frames, of four bytes as a varint; the id of the request replaces it."""
LATE_CALL_ID = 0x0FEDCBA
"""The call id of an answer that comes when its call is over."""
SETTINGS = Settings(
    operation_timeout_s=0.4,
    call_timeout_s=0.15,
    retry_pause_s=0.01,
    max_retry_pause_s=0.01,
    max_attempts=4,
)
NOT_TRUE = b"the condition is not true"
FLAG_BYTES = 2
"""Size of the message that answers a check: one flag, which says whether it was true."""
READS = ("get", "scan", "increment")
"""The calls that return cells."""


def list_cells(call: str, text: str) -> list[tuple[bytes, list[Cell]]]:
    """Return the rows of the answer to a call.

    Args:
        call: the call.
        text: the rows and values of one table begin with it.
    """
    first = {"own": b"row", "older": b"row", "other": b"other"}[text]
    value = text.encode() * 20
    match call:
        case "get":
            return [(first, [Cell("d", b"a", 1, value), Cell("d", b"b", 2, b"2")])]
        case "scan":
            return [(b"%s-%d" % (first, n), [Cell("d", b"a", n + 1, value)]) for n in range(8)]
        case "increment":
            number = {"own": 7, "older": 6, "other": 7}[text]
            return [(first, [Cell("d", b"n", 5, number.to_bytes(8, "big"))])]
    return []


def encode_body(call: str) -> bytes:
    """Return the protobuf message of the answer to a call."""
    match call:
        case "get":
            return encode_message(1, encode_uint(2, 2))
        case "scan":
            counts = b"".join(encode_uint(1, 1) for _ in range(8))
            flags = b"".join(encode_bool(7, False) for _ in range(8))
            return (
                counts + encode_uint(2, 1) + encode_bool(3, False) + flags + encode_bool(8, False)
            )
        case "increment":
            return encode_message(1, encode_uint(2, 1))
        case "put many":
            result = encode_message(1, encode_uint(1, 1)) + encode_message(1, encode_uint(1, 2))
            return encode_message(1, result)
    return encode_bool(2, True)


def encode_block(rows: Iterable[tuple[bytes, list[Cell]]]) -> bytes:
    """Return rows as a cell block."""
    return b"".join(encode_cells(row, cells) for row, cells in rows)


class FixedRegistry:
    """Says that hbase:meta is on one server."""

    def __init__(self, server: ServerName) -> None:
        self.server = server

    def get_meta_server(self, deadline: Any) -> ServerName:
        """Return the server."""
        del deadline
        return self.server

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None


class RecordedServer:
    """A server that answers from the files of a place, and a client of it."""

    def __init__(self, place: Path) -> None:
        self.place, self.call = place, ""
        self.sent: bytes = b""
        self._server = FakeServer(self._script)
        host, port = self._server.address
        self.meta = FakeMeta()
        self.meta.server = ServerName(host, port, 1)
        self.meta.create("t")
        self.meta.entries = [
            self.meta.swap(entry, server=self.meta.server) for entry in [*self.meta.entries]
        ]
        self.region = self.meta.entries[0].name
        registry: Any = FixedRegistry(self.meta.server)
        address: Any = type("Address", (), {"open_registry": lambda *_: registry})()
        self.client = Client(address, SETTINGS)
        self.table = self.client.table("t")

    def close(self) -> None:
        """Close the client and the server."""
        self.client.close()
        self._server.close()

    def _script(self, peer: AcceptedConnection) -> None:
        while True:
            with suppress(FileNotFoundError):  # a lost answer
                peer.write(self._build_answer(peer.read_request()))

    def _build_answer(self, asked: ReceivedRequest) -> bytes:
        param = ProtoMessage(asked.param)
        region = param.get_message(1)
        name = b"" if region is None or asked.method == "Multi" else region.get_bytes(2)
        if name == b"hbase:meta,,1":
            return self._build_meta_answer(asked)
        if name not in (b"", self.region):
            java = "org.apache.hadoop.hbase.NotServingRegionException"
            return fault_frame(asked.call_id, java, f"{name!r} is not online")
        recorded = self.place / "frames" / self.call
        if recorded.parent.is_dir():
            own, own_id = encode_varint(CALL_ID), asked.call_id | 0
            number = bytes((own_id >> shift & 0x7F) | 0x80 for shift in (0, 7, 14))
            return recorded.read_bytes().replace(own, number + bytes([own_id >> 21]), 1)
        cells = (self.place / "cells" / self.call).read_bytes()
        self.sent = cells
        return answer_frame(asked.call_id, encode_body(self.call), cells)

    def _build_meta_answer(self, asked: ReceivedRequest) -> bytes:
        """Return the answer about the table's region, with the cells of the place."""
        deadline: Any = None
        found: Any = self.meta.send(asked.method, asked.param, deadline=deadline).result(deadline)
        own = self.meta.entries[0]
        right = encode_cells(own.name, own.cells())
        cells = bytes(found.cells)
        file = self.place / "meta"
        if file.is_file() and right in cells:
            host, port = self.meta.server.address
            stored = file.read_bytes().replace(b"127.0.0.1:10000", f"{host}:{port:05}".encode())
            cells = cells.replace(right, stored)
        return answer_frame(asked.call_id, found.message, cells)


class Answers(Scenario):
    """A client whose server sends recorded answers, each in the place of the right one."""

    calls: ClassVar[tuple[str, ...]] = (
        "get",
        "scan",
        "put",
        "delete",
        "increment",
        "check and put",
        "put many",
    )
    refusals = (HBaseError,)
    folder = "cells"

    def build(self, folder: Path) -> None:
        """Record the answers of a table, older ones, and those of another table."""
        for text, name in (
            ("own", "closed"),
            ("older", "closed.earlier"),
            ("other", "closed.other"),
        ):
            place = folder / name
            (place / self.folder).mkdir(parents=True)
            for call in self.calls:
                cells = encode_block(list_cells(call, text))
                self.write_answer(place / self.folder / call, call, cells, text)

    def write_answer(self, path: Path, call: str, cells: bytes, text: str) -> None:
        """Record an answer as a file."""
        del call, text
        path.write_bytes(cells)

    def open(self, place: Path) -> RecordedServer:
        """Start the server and the client."""
        return RecordedServer(place)

    def run(self, session: RecordedServer, call: str) -> str:
        """Send a request, and compare the answer with that of an undamaged server."""
        session.call = call
        expected, found = list_cells(call, "own"), self._send(session.table, call)
        if found == expected:
            return ""
        cells = [(row, cells) for row, cells in found if row.startswith(b"row")]
        if call in READS and found == cells and encode_block(found) == session.sent:
            raise ReadAsStored
        return f"{found} instead of {expected}"[:300]

    @staticmethod
    def _send(table: HBaseTable, call: str) -> list[tuple[bytes, list[Cell]]]:
        """Send a request; return the rows of its answer."""
        condition = [Cell("d", b"a", 1, b"v")]
        match call:
            case "get":
                row = table.get(b"row")
                return [(row.row, [*row.cells])]
            case "scan":
                with table.scan(ScanSpec(b"row", b"rox")) as scanner:
                    return [(row.row, [*row.cells]) for row in scanner.iter_row_cells()]
            case "increment":
                return [(b"row", [*table.increment_cells(b"row", [("d", b"n", 1)])])]
            case "put":
                table.put(b"row", {("d", b"a"): b"v"})
            case "delete":
                table.delete(b"row")
            case "check and put":
                if not table.check_and_mutate(b"row", "d", b"a", "=", b"x", condition):
                    return [(NOT_TRUE, [])]
            case "put many":
                table.mutate_rows([RowCells(b"row-%d" % number, condition) for number in range(2)])
        return []

    def list_names(self, place: Path, path: Path) -> list[str]:
        """Return the texts of which an error has at least one: the server, or the table."""
        return ["127.0.0.1", "the answer to", "hbase:meta", "t: "]


class Frames(Answers):
    """Answers as whole frames: a length, a header, a message and a cell block."""

    folder = "frames"

    def write_answer(self, path: Path, call: str, cells: bytes, text: str) -> None:
        """Record a whole frame; an older one answers a call that is over."""
        call_id = LATE_CALL_ID if text == "older" else CALL_ID
        path.write_bytes(answer_frame(call_id, encode_body(call), cells))

    def run(self, session: RecordedServer, call: str) -> str:
        """Send a request; the cells of an answer that came whole are read as they were sent."""
        file = session.place / "frames" / call
        recorded = file.read_bytes() if file.is_file() else b""
        right = answer_frame(CALL_ID, encode_body(call), encode_block(list_cells(call, "own")))
        size = len(encode_block(list_cells(call, "own")))
        is_changed_in_cells = size > 0 and recorded[:-size] == right[:-size]
        session.sent = recorded[-size:] if is_changed_in_cells else b""
        problem = super().run(session, call)
        is_flag_changed = recorded[:-FLAG_BYTES] == right[:-FLAG_BYTES]
        if problem.startswith(f"{[(NOT_TRUE, [])]} ") and is_flag_changed:
            raise ReadAsStored  # the flag of the message says so
        return problem


class MetaRows(Answers):
    """The cells of the row of hbase:meta that says where a region is."""

    calls: ClassVar[tuple[str, ...]] = ("get", "scan", "put")

    def build(self, folder: Path) -> None:
        """Record the row, that of the region before it moved, and that of another table."""
        super().build(folder)
        for name, table, port in (
            ("closed", "t", 10_000),
            ("closed.earlier", "t", 9),
            ("closed.other", "u", 10_000),
        ):
            meta = FakeMeta()
            meta.create(table)
            entry = meta.swap(meta.entries[0], server=ServerName("127.0.0.1", port, 1))
            (folder / name / "meta").write_bytes(encode_cells(entry.name, entry.cells()))

    def list_names(self, place: Path, path: Path) -> list[str]:
        """Return the texts of which an error has at least one; a damaged row names another host."""
        return [*super().list_names(place, path), "the host name cannot be resolved"]


_IN_USE = (
    "no-file",
    "read-error",
    "write-error",
    "no-space",
    "sync-error",
    "rename-error",
    "crash",
)
_NO_CHECKSUM = (
    "HBase's answers have no checksum. Where other bytes are a valid answer, within the range and "
    "in order, a client cannot tell them from the server's."
)
OBJECTS = (
    StoredObject(
        "rpc-frame", "frame of an answer", Frames, ("frames/*",), (), _IN_USE, _NO_CHECKSUM
    ),
    StoredObject("cell-block", "cell block", Answers, ("cells/*",), (), _IN_USE, _NO_CHECKSUM),
    StoredObject("meta-row", "row of hbase:meta", MetaRows, ("meta",), (), _IN_USE, "", 0.25),
)
