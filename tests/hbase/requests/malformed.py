"""Answers that follow HBase's protocol for each request, and malformed ones made of them."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from google.protobuf.message import DecodeError

import rowkey.hbase
from hbase.requests import protos
from rowkey.cells import Cell, RowCells
from rowkey.hbase.messages.contract import Request
from rowkey.hbase.messages.schema import FamilySchema, TableSchema
from rowkey.hbase.read_spec import ScanSpec
from rowkey.hbase.requests import (
    cluster,
    multi,
    regions,
    registry,
    row_reads,
    row_writes,
    snapshots,
    tables,
)
from rowkey.hbase.wire.cellblocks import encode_cells
from rowkey.hbase.wire.names import ServerName, encode_table_name
from rowkey.hbase.wire.proto import (
    decode_varint,
    encode_bool,
    encode_bytes,
    encode_message,
    encode_text,
    encode_uint,
    encode_varint,
)

CALL_ID = 5
REGION = b"t,,1.0123456789abcdef0123456789abcdef."


@dataclass(frozen=True)
class Example:
    """A request and an answer to it.

    Args:
        request: the request.
        message: the message of the answer, with no field that the request does not read.
        cells: its cell block.
        is_optional: whether an answer without its fields is an answer too.
        wrong: answers that are malformed only for this request, each a message and a cell block.
    """

    request: Request[Any]
    message: bytes = b""
    cells: bytes = b""
    is_optional: bool = False
    wrong: tuple[tuple[bytes, bytes], ...] = ()


CELL, OTHER = Cell("d", b"q", 7, b"value789"), Cell("d", b"r", 7, b"other")
BLOCK, OTHER_ROW = encode_cells(b"r", [CELL]), encode_cells(b"s", [CELL])
ONE_CELL = encode_message(1, encode_uint(2, 1))
DONE = encode_uint(2, 1)
NOT_DONE = encode_uint(2, 0)
SERVER = ServerName("rs1", 16020, 17).encode()
TABLE = encode_table_name("t")
INFO = encode_uint(1, 9) + encode_message(2, TABLE)
PUT = RowCells(b"r", [CELL])
FAMILY = FamilySchema("d")
SCHEMA = TableSchema("t", (FAMILY,))


def build_results(*results: bytes) -> bytes:
    """Return the answer about one region with these results."""
    return encode_message(1, *(encode_message(1, one) for one in results))


def build_result(index: int, cell_count: int | None = None) -> bytes:
    """Return the result of the action with an index."""
    return encode_uint(1, index) + encode_message(2, encode_uint(2, cell_count))


def build_scan_answer(*counts: int) -> bytes:
    """Return the message of a scan's answer with rows of so many cells."""
    ends = encode_uint(2, 3) + encode_bool(3, True) + encode_bool(8, True)
    return ends + b"".join(encode_uint(1, count) for count in counts)


BAD_ROWS = (
    (ONE_CELL, encode_cells(b"r", [CELL, OTHER])),
    (ONE_CELL, b""),
    (ONE_CELL, OTHER_ROW),
    (encode_message(1, encode_uint(2, 2)), BLOCK + OTHER_ROW),
    (encode_message(1, encode_uint(2, 2**31 - 1)), BLOCK),
    (encode_message(1), b""),
)
BAD_CELLS = (
    *BAD_ROWS,
    (ONE_CELL, encode_cells(b"r", [OTHER])),
    (ONE_CELL, encode_cells(b"r", [CELL._replace(value=b"short", timestamp=2**63 - 1)])),
    (encode_message(1, encode_uint(2, 2)), encode_cells(b"r", [CELL, OTHER])),
    (encode_message(1, encode_uint(2, 0)), b""),
)
BAD_SCANS = (
    (build_scan_answer(1, 1, 1), BLOCK + OTHER_ROW + encode_cells(b"t", [CELL])),
    (build_scan_answer(), BLOCK),
)
READ_AND_PUT = build_results(build_result(2, 1), build_result(1))
BAD_MULTIS = (
    (READ_AND_PUT, b""),
    (READ_AND_PUT, OTHER_ROW),
    (READ_AND_PUT, BLOCK + BLOCK),
    (READ_AND_PUT + READ_AND_PUT, BLOCK),
    (build_results(build_result(2, 1)), BLOCK),
    (build_results(build_result(2, 1), build_result(1), build_result(3)), BLOCK),
    (build_results(build_result(2, 1), build_result(1), build_result(1)), BLOCK),
    (build_results(build_result(2, 1), encode_uint(1, 1)), BLOCK),
    (build_results(build_result(2), build_result(1)), b""),
)
PUTS_DONE = build_results(build_result(1), build_result(2))
BAD_PUTS = tuple(
    (build_results(*results), b"")
    for results in (
        [build_result(1)],
        [build_result(1), build_result(1)],
        [build_result(1), build_result(2), build_result(3)],
        [build_result(1), encode_uint(1, 2)],
        [build_result(0), build_result(2)],
    )
)
APPLIED = encode_message(1, encode_bool(3, True))
BAD_CHANGES = ((NOT_DONE, b""), (encode_message(1), b""), (NOT_DONE + DONE + b"\0", b""))
MASTER_ENTRY = encode_message(1, encode_message(1, SERVER), encode_bool(2, True))

EXAMPLES = [
    Example(row_reads.Get(b"r"), ONE_CELL, BLOCK, wrong=BAD_ROWS),
    Example(
        row_reads.Exists(b"r"),
        encode_message(1, encode_uint(2, 0), encode_bool(3, True)),
        wrong=((ONE_CELL, BLOCK), (encode_message(1, encode_uint(2, 0)), b"")),
    ),
    Example(row_writes.Mutate(b"r", [CELL]), DONE, wrong=BAD_CHANGES),
    Example(row_writes.DeleteRow(b"r"), DONE, wrong=BAD_CHANGES),
    Example(
        row_writes.MutateRow(b"r", [CELL]),
        APPLIED,
        wrong=((encode_message(1, encode_bool(3, False)), b""), (APPLIED + APPLIED, b"")),
    ),
    Example(row_writes.CheckAndMutate(b"r", "d", b"q", "=", b"v", [CELL]), NOT_DONE),
    Example(row_writes.Append(b"r", [("d", b"q", b"a")]), ONE_CELL, BLOCK, wrong=BAD_CELLS),
    Example(row_writes.Increment(b"r", [("d", b"q", 1)]), ONE_CELL, BLOCK, wrong=BAD_CELLS),
    Example(
        row_writes.NewCells(row_writes.Increment(b"r", [("d", b"q", 1)])),
        ONE_CELL,
        BLOCK,
        wrong=BAD_CELLS,
    ),
    Example(
        multi.Multi([(REGION, [PUT, row_reads.Get(b"r")])]), READ_AND_PUT, BLOCK, wrong=BAD_MULTIS
    ),
    Example(multi.RawMulti([(REGION, b"", 2)], b""), PUTS_DONE, wrong=BAD_PUTS),
    Example(
        row_reads.OpenScanner(ScanSpec(), 2, 99),
        build_scan_answer(1, 1),
        BLOCK + OTHER_ROW,
        is_optional=True,
        wrong=BAD_SCANS,
    ),
    Example(
        row_reads.NextRows(3, 0, 2),
        build_scan_answer(1, 1),
        BLOCK + OTHER_ROW,
        is_optional=True,
        wrong=BAD_SCANS,
    ),
    Example(
        row_reads.RenewScanner(3, 0),
        build_scan_answer(),
        is_optional=True,
        wrong=((build_scan_answer(1), BLOCK),),
    ),
    Example(
        row_reads.CloseScanner(3),
        build_scan_answer(),
        is_optional=True,
        wrong=((build_scan_answer(1), BLOCK),),
    ),
    Example(tables.CreateTable(SCHEMA), encode_uint(1, 7)),
    Example(tables.DeleteTable("t"), encode_uint(1, 7)),
    Example(tables.EnableTable("t"), encode_uint(1, 7)),
    Example(tables.DisableTable("t"), encode_uint(1, 7)),
    Example(tables.TruncateTable("t"), encode_uint(1, 7)),
    Example(tables.ModifyTable(SCHEMA), encode_uint(1, 7)),
    Example(tables.AddColumn("t", FAMILY), encode_uint(1, 7)),
    Example(tables.ModifyColumn("t", FAMILY), encode_uint(1, 7)),
    Example(tables.DeleteColumn("t", "d"), encode_uint(1, 7)),
    Example(
        tables.GetTableDescriptors("t"),
        encode_message(1, SCHEMA.encode()),
        is_optional=True,
        wrong=(
            (encode_message(1, TableSchema("u", (FAMILY,)).encode()), b""),
            (encode_message(1, SCHEMA.encode()) * 2, b""),
            (encode_message(1, encode_message(3, FAMILY.encode())), b""),
            (encode_message(1, encode_message(1, TABLE), encode_message(3, b"")), b""),
        ),
    ),
    Example(
        tables.GetTableNames(),
        encode_message(1, TABLE),
        is_optional=True,
        wrong=((b"\n\0", b""), (encode_message(1, encode_text(1, "default")), b"")),
    ),
    Example(
        tables.GetTableState("t"),
        encode_message(1, encode_uint(1, 1)),
        wrong=((b"\n\0", b""), (encode_message(1, encode_uint(1, 4)), b"")),
    ),
    Example(tables.CreateNamespace("n"), encode_uint(1, 7)),
    Example(tables.DeleteNamespace("n"), encode_uint(1, 7)),
    Example(
        tables.ListNamespaces(),
        encode_message(1, encode_bytes(1, b"n")),
        is_optional=True,
        wrong=((b"\n\0", b""),),
    ),
    Example(regions.SplitRegion(regions.RegionInfo("t", b"", b"", 1), b"k"), encode_uint(1, 7)),
    Example(regions.MergeRegions(REGION, REGION), encode_uint(1, 7)),
    Example(regions.MoveRegion(REGION)),
    Example(regions.FlushRegion(), encode_bool(2, True)),
    Example(regions.CompactRegion()),
    Example(
        regions.GetRegionInfo(),
        encode_message(1, INFO) + encode_uint(2, 1),
        wrong=((encode_message(1, INFO) + encode_uint(2, 4), b""),),
    ),
    Example(
        regions.GetRegionLoad("t"),
        encode_message(1, encode_message(1, encode_uint(1, 1), encode_bytes(2, REGION))),
        is_optional=True,
        wrong=((b"\n\0", b""), (encode_message(1, encode_message(1, encode_uint(1, 1))), b"")),
    ),
    Example(
        cluster.GetClusterStatus(),
        encode_message(1, encode_message(7, SERVER), encode_message(11, SERVER)),
        wrong=tuple(
            (encode_message(1, encode_message(number)), b"") for number in (1, 2, 4, 5, 7, 11, 12)
        ),
    ),
    Example(
        tables.GetProcedureResult(7),
        encode_uint(1, 2),
        wrong=((encode_uint(1, 3), b""),),
    ),
    Example(snapshots.TakeSnapshot("s", "t"), encode_uint(1, 60_000)),
    Example(snapshots.IsSnapshotDone("s", "t"), encode_bool(1, True)),
    Example(snapshots.RestoreSnapshot("s", "t"), encode_uint(1, 7)),
    Example(snapshots.DeleteSnapshot("s")),
    Example(
        snapshots.ListSnapshots(),
        encode_message(1, encode_text(1, "s"), encode_text(2, "t")),
        is_optional=True,
        wrong=((b"\n\0", b""),),
    ),
    Example(cluster.SetBalancerRunning(True), encode_bool(1, False)),
    Example(cluster.IsBalancerEnabled(), encode_bool(1, True)),
    Example(cluster.SetSplitOrMerge(cluster.MasterSwitch.SPLIT, True), encode_bool(1, True)),
    Example(cluster.IsSplitOrMergeEnabled(cluster.MasterSwitch.SPLIT), encode_bool(1, True)),
    Example(registry.GetClusterId(), encode_text(1, "id"), is_optional=True),
    Example(
        registry.GetActiveMaster(),
        encode_message(1, SERVER),
        is_optional=True,
        wrong=((b"\n\0", b""),),
    ),
    Example(registry.GetMasters(), MASTER_ENTRY, is_optional=True, wrong=((b"\n\0", b""),)),
    Example(
        registry.GetBootstrapNodes(),
        encode_message(1, SERVER),
        is_optional=True,
        wrong=((b"\n\0", b""),),
    ),
    Example(
        registry.GetMetaRegionLocations(),
        encode_message(1, encode_message(1, INFO), encode_message(2, SERVER)),
        is_optional=True,
        wrong=((b"\n\0", b""), (encode_message(1, encode_message(2, SERVER)), b"")),
    ),
]


def list_request_classes() -> set[type[Request[Any]]]:
    """Return every class of requests that a module of `rowkey.hbase` defines."""
    classes = set()
    for module in pkgutil.walk_packages(rowkey.hbase.__path__, "rowkey.hbase."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, type) and issubclass(value, Request):
                classes.add(value)
    return {one for one in classes if not inspect.isabstract(one)}


def build_frame(message: bytes, cells: bytes = b"") -> bytes:
    """Return the frame of an answer, without its length."""
    block = encode_message(3, encode_uint(1, len(cells))) if cells else b""
    header = encode_uint(1, CALL_ID) + block
    return encode_varint(len(header)) + header + encode_varint(len(message)) + message + cells


def split_fields(message: bytes) -> list[bytes]:
    """Return the fields of a well-formed message, each encoded."""
    fields, at = [], 0
    while at < len(message):
        tag, stop = decode_varint(message, at)
        size, stop = decode_varint(message, stop)
        stop += size if tag & 7 == 2 else 0
        fields.append(message[at:stop])
        at = stop
    return fields


def is_protobuf(message: bytes) -> bool:
    """Return whether Google's protobuf parses the bytes."""
    try:
        protos.build_message("Nothing").ParseFromString(message)
    except DecodeError:
        return False
    return True


class MalformedAnswers:
    """Makes malformed answers to a request, each of another sort than the one before.

    Args:
        example: the request and its answer.
        random: what the answers are drawn from.
    """

    def __init__(self, example: Example, random: Random) -> None:
        self.example, self.random = example, random
        self.message, self.cells = example.message, example.cells

    def draw(self, count: int) -> Iterator[tuple[str, bytes]]:
        """Yield so many: the name of the sort, and the frame."""
        sorts = [
            self.drop_message, self.drop_call_id, self.pass_end, self.send_endless_varint,
            self.truncate, self.send_random_message, self.send_random_frame, self.change_cells,
            self.announce_other_cells, self.insert_before_cells,
        ]  # fmt: skip
        if self.message:
            sorts += [self.truncate_field, self.change_field]
        if self.message and not self.example.is_optional:
            sorts += [self.drop_field, self.empty_message]
        if self.example.wrong:
            sorts += [self.send_wrong_content, self.send_wrong_content]
        for number in range(count):
            make = sorts[number % len(sorts)]
            yield make.__name__, make()

    def drop_message(self) -> bytes:
        """Return a header without a message."""
        return build_frame(b"")[:-1]

    def drop_call_id(self) -> bytes:
        """Return an answer to no call."""
        frame = build_frame(self.message, self.cells)
        return b"\0" + frame[1 + frame[0] :]

    def pass_end(self) -> bytes:
        """Return a message with a field that is longer than the rest of it."""
        junk = self.random.randbytes(self.random.randrange(9))
        sizes = [len(junk) + 1, 1 << 20, 2**31 - 1, 2**31, 2**32, 2**63, 2**64 - 1]
        tag = encode_varint(self.random.randrange(1, 40) << 3 | 2)
        field = tag + encode_varint(self.random.choice(sizes)) + junk
        return build_frame(self.message + field, self.cells)

    def send_endless_varint(self) -> bytes:
        """Return a message with a number that does not end, or is too long."""
        tag = encode_varint(self.random.randrange(1, 40) << 3)
        endless = b"\xff" * self.random.choice([1, 5, 9, 10, 11, 60, 5_000])
        return build_frame(self.message + tag + endless, self.cells)

    def truncate(self) -> bytes:
        """Return the beginning of an answer."""
        frame = build_frame(self.message, self.cells)
        return frame[: self.random.randrange(len(frame))]

    def truncate_field(self) -> bytes:
        """Return a message that ends within a field."""
        field = self.random.choice(split_fields(self.message))
        return build_frame(field[: self.random.randrange(1, len(field))], self.cells)

    def send_random_message(self) -> bytes:
        """Return a message of random bytes."""
        while is_protobuf(message := self.random.randbytes(self.random.randrange(1, 80))):
            pass
        return build_frame(message)

    def send_random_frame(self) -> bytes:
        """Return random bytes."""
        while (frame := self.random.randbytes(self.random.randrange(1, 80)))[:1] < b"\x03":
            pass
        return frame

    def change_field(self) -> bytes:
        """Return a message with a number for a byte string, or the other way round."""
        fields = split_fields(self.message)
        place = self.random.randrange(len(fields))
        tag = fields[place][0]
        fields[place] = (
            encode_bytes(tag >> 3, b"\xff\xff") if tag & 7 == 0 else encode_uint(tag >> 3, 300)
        )
        return build_frame(b"".join(fields), self.cells)

    def drop_field(self) -> bytes:
        """Return a message without a field that it must have."""
        fields = split_fields(self.message)
        del fields[self.random.randrange(len(fields))]
        return build_frame(b"".join(fields), self.cells)

    def empty_message(self) -> bytes:
        """Return an empty message, perhaps with the cells."""
        return build_frame(b"", self.random.choice([b"", self.cells]))

    def change_cells(self) -> bytes:
        """Return a cell block of another length than the message says."""
        junk = self.random.randbytes(self.random.randrange(1, 60))
        shorter = self.cells[: self.random.randrange(1, len(self.cells))] if self.cells else junk
        return build_frame(self.message, self.random.choice([self.cells + junk, shorter]))

    def announce_other_cells(self) -> bytes:
        """Return a header that announces a longer cell block than there is."""
        more = self.random.choice([1, 50, 2**31 - 1, 2**32, 2**63])
        return self.build_with_cell_bytes(len(self.cells) + more, b"")

    def insert_before_cells(self) -> bytes:
        """Return bytes between the message and the cell block."""
        junk = self.random.randbytes(self.random.randrange(1, 20))
        return self.build_with_cell_bytes(len(self.cells), junk)

    def build_with_cell_bytes(self, size: int, between: bytes) -> bytes:
        """Return an answer that announces `size` bytes of cells, with bytes before the cells."""
        header = encode_uint(1, CALL_ID) + encode_message(3, encode_uint(1, size))
        message = encode_varint(len(self.message)) + self.message
        return encode_varint(len(header)) + header + message + between + self.cells

    def send_wrong_content(self) -> bytes:
        """Return an answer that is malformed for this request only."""
        return build_frame(*self.random.choice(self.example.wrong))
