"""happybase's arguments and the calls of the native client that they cause, without a cluster."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from rowkey import happybase
from rowkey.cells import LATEST, Cell, CellType, Family, RowCells
from rowkey.errors import Closed, InvalidArgument
from rowkey.happybase.connection import Connection
from rowkey.happybase.table import Table
from rowkey.hbase import ReadSpec, ScanSpec, Settings
from rowkey.hbase.filters import PrefixFilter
from rowkey.hbase.requests.row_writes import DeleteRow
from rowkey.hbase.scanning import ScanBlock
from rowkey.hbase.wire.cellblocks import encode_cells

NOW = LATEST


class Rows:
    """A native table that records its calls and always returns the same rows."""

    name = "t"

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.found: list[RowCells] = []
        self.closed = 0

    def get(self, row: bytes, read: ReadSpec) -> RowCells:
        """Record the call."""
        self.asked.append((row, read))
        return self.found[0]

    def get_many(self, rows: list[bytes], read: ReadSpec) -> list[RowCells]:
        """Record the call."""
        self.asked.append((rows, read))
        return self.found

    @contextmanager
    def scan(self, scan: ScanSpec) -> Iterator[Any]:
        """Record the call and return the rows in two answers."""
        self.asked.append(scan)

        class Scanner:
            """A scanner of two answers."""

            def iter_blocks(_self) -> Iterator[ScanBlock]:  # noqa: N805 - self is the table
                """Yield all rows twice."""
                for _ in range(2):
                    block = b"".join(encode_cells(*row) for row in self.found)
                    yield ScanBlock(block, [len(row.cells) for row in self.found])

        try:
            yield Scanner()
        finally:
            self.closed += 1

    def mutate_row(self, row: bytes, cells: list[Cell]) -> None:
        """Record the call."""
        self.asked.append(RowCells(row, cells))

    def delete(self, row: bytes, *, timestamp: int) -> None:
        """Record the call."""
        self.asked.append(DeleteRow(row, timestamp))

    def run_actions(self, actions: list[Any]) -> None:
        """Record the call."""
        self.asked.append(actions)

    def increment(self, row: bytes, amounts: list[Any]) -> list[int]:
        """Record the call."""
        self.asked.append((row, amounts))
        return [amounts[0][2] + 1]


class Cluster:
    """A client of one table and its admin, and the connection to it."""

    def __init__(self, rows: Rows) -> None:
        self.rows, self.client, self.admin = rows, self, self

    def table(self, name: str) -> Rows:
        """Return the table."""
        return self.rows

    def describe_table(self, name: str) -> Any:
        """Return the families of the table."""
        self.families = (Family("a"), Family("b"))
        return self


@pytest.fixture
def rows() -> Rows:
    """Return the native table."""
    return Rows()


@pytest.fixture
def table(rows: Rows) -> Table:
    """The happybase table over the native one."""
    connection: Any = Cluster(rows)
    return Table(b"t", connection)


def _put(row: bytes, *cells: tuple[str, bytes, bytes], at: int = NOW) -> RowCells:
    return RowCells(row, [Cell(family, name, at, value) for family, name, value in cells])


def _parameters(method: Any) -> Iterator[inspect.Parameter]:
    yield from inspect.signature(method).parameters.values()


def test_methods_have_the_arguments_of_happybase() -> None:
    """Arguments have the names, the order and the defaults of happybase 1.3."""
    told = {
        name: [(one.name, one.default) for one in list(_parameters(method))[1:]]
        for name, method in vars(Table).items()
        if inspect.isfunction(method)
    }
    missing = inspect.Parameter.empty
    assert [
        ("row_start", None), ("row_stop", None), ("row_prefix", None), ("columns", None),
        ("filter", None), ("timestamp", None), ("include_timestamp", False), ("batch_size", 1000),
        ("scan_batching", None), ("limit", None), ("sorted_columns", False), ("reverse", False),
    ] == told["scan"]  # fmt: skip
    reading = [("columns", None), ("timestamp", None), ("include_timestamp", False)]
    assert [("row", missing), *reading] == told["row"]
    assert [("rows", missing), *reading] == told["rows"]
    assert [
        ("row", missing), ("column", missing), ("versions", None), *reading[1:],
    ] == told["cells"]  # fmt: skip
    writing = [("timestamp", None), ("wal", True)]
    assert [("row", missing), ("data", missing), *writing] == told["put"]
    assert [("row", missing), ("columns", None), *writing] == told["delete"]
    assert [
        ("timestamp", None), ("batch_size", None), ("transaction", False), ("wal", True),
    ] == told["batch"]  # fmt: skip
    counting = [("row", missing), ("column", missing)]
    assert counting == told["counter_get"]
    assert [*counting, ("value", 0)] == told["counter_set"]
    assert [*counting, ("value", 1)] == told["counter_inc"] == told["counter_dec"]


def test_a_connection_has_the_arguments_of_happybase_and_its_own() -> None:
    """A connection has happybase's arguments in their order, followed by its own."""
    told = {one.name: one.default for one in list(_parameters(Connection.__init__))[1:]}
    assert {
        "host": "localhost", "port": 2181, "timeout": None, "autoconnect": True,
        "table_prefix": None, "table_prefix_separator": b"_", "compat": "0.98",
        "transport": "buffered", "protocol": "binary", "url": None, "settings": None,
    } == told  # fmt: skip
    assert ["host", "port", "timeout", "autoconnect"] == list(told)[:4]


@pytest.mark.parametrize(
    ("columns", "wanted"),
    [
        (None, None),
        ([], None),
        (["a"], {"a": ()}),
        ([b"a:"], {"a": (b"",)}),
        (("a:x", b"a:y:z", "b"), {"a": (b"x", b"y:z"), "b": ()}),
        (["a:x", "a"], {"a": ()}),
        (["a", "a:x"], {"a": (b"x",)}),
        (["é:ü"], {"é": ("ü".encode(),)}),
    ],
)
def test_columns_are_parsed_as_in_the_thrift_server(
    table: Table, rows: Rows, columns: Any, wanted: Any
) -> None:
    """Columns and families are parsed as in the Thrift server."""
    rows.found = [RowCells(b"k", [])]
    assert {} == table.row("k", columns)
    assert [] == table.rows(["k"], columns)
    rows.found = []
    assert [] == list(table.scan(columns=columns))
    read = ReadSpec(wanted)
    assert [(b"k", read), ([b"k"], read), ScanSpec(read=read)] == rows.asked


def test_a_row_is_read_as_a_dictionary_by_family_and_qualifier(table: Table, rows: Rows) -> None:
    """Rows are dictionaries by family:qualifier, and missing rows are left out of several."""
    cells = [Cell("a", b"x", 5, b"1"), Cell("b", b"", 7, b"2")]
    plain, stamped = {b"a:x": b"1", b"b:": b"2"}, {b"a:x": (b"1", 5), b"b:": (b"2", 7)}
    rows.found = [RowCells(b"k", cells)]
    assert plain == table.row(b"k")
    assert stamped == table.row(b"k", timestamp=9, include_timestamp=True)
    assert ReadSpec(time_range=(0, 9)) == rows.asked[-1][1]
    assert [b"1", b"2"] == table.cells(b"k", "a:x")
    assert ReadSpec({"a": (b"x",)}, versions=2**31 - 1) == rows.asked[-1][1]
    assert [(b"1", 5), (b"2", 7)] == table.cells(b"k", "a", 3, 9, True)
    assert ReadSpec({"a": ()}, (0, 9), versions=3) == rows.asked[-1][1]
    rows.found = [RowCells(b"k", cells), RowCells(b"l", []), RowCells(b"k", cells)]
    assert [(b"k", plain), (b"k", plain)] == table.rows(("k", b"l", "k"))
    rows.found = []
    assert [] == table.rows([])


@pytest.mark.parametrize(
    ("argument", "scan"),
    [
        ({}, ScanSpec()),
        ({"row_start": "a", "row_stop": b"b"}, ScanSpec(b"a", b"b")),
        ({"row_prefix": "ab"}, ScanSpec(b"ab", b"ac")),
        ({"row_prefix": b"a\xff"}, ScanSpec(b"a\xff", b"b")),
        ({"row_prefix": b"\xff"}, ScanSpec(b"\xff", b"")),
        ({"row_prefix": b""}, ScanSpec()),
        (
            {"row_prefix": b"ab", "reverse": True},
            ScanSpec(b"ac", b"ab", include_start=False, include_stop=True, reverse=True),
        ),
        ({"row_prefix": b"\xff", "reverse": True}, ScanSpec(b"", b"\xff", reverse=True)),
        ({"filter": "PrefixFilter('a')"}, ScanSpec(read=ReadSpec(filter=PrefixFilter(b"a")))),
        ({"filter": PrefixFilter(b"a")}, ScanSpec(read=ReadSpec(filter=PrefixFilter(b"a")))),
        ({"timestamp": 5, "limit": 7}, ScanSpec(limit=7, read=ReadSpec(time_range=(0, 5)))),
        ({"batch_size": 9, "scan_batching": 2}, ScanSpec(answer_rows=9, batch=2)),
        ({"batch_size": 1000}, ScanSpec()),
    ],
)
def test_scan_arguments_become_range_and_selection(
    table: Table, rows: Rows, argument: dict[str, Any], scan: ScanSpec
) -> None:
    """A scan has the range and selection of its arguments and starts with its first row."""
    found = table.scan(**argument)
    assert [] == rows.asked
    assert [] == list(found)
    assert [scan] == rows.asked


def test_scanned_rows_come_in_order_up_to_the_limit(table: Table, rows: Rows) -> None:
    """Rows come in order from all answers up to the limit, sorted if requested."""
    rows.found = [RowCells(b"%d" % at, [Cell("a", b"x", at, b"v")]) for at in range(3)]
    three = [(b"%d" % at, {b"a:x": b"v"}) for at in range(3)]
    assert three * 2 == list(table.scan())
    assert (three * 2)[:4] == list(table.scan(limit=4))
    ordered = list(table.scan(sorted_columns=True, include_timestamp=True))
    assert (b"1", OrderedDict({b"a:x": (b"v", 1)})) == ordered[1]
    assert OrderedDict is type(ordered[1][1])
    before = rows.closed
    begun: Any = table.scan()
    assert three[0] == next(begun)
    assert before == rows.closed
    begun.close()
    assert before + 1 == rows.closed


def test_a_put_and_a_delete_are_each_sent_alone(table: Table, rows: Rows) -> None:
    """A put and a delete are each sent alone with a timestamp, and wal has no effect."""
    both: dict[bytes | str, bytes | str] = {"a:x": "1", b"b:": b"2"}
    table.put("k", both)
    table.put(b"k", {b"a:x": b"1"}, 7, wal=False)
    table.put(b"k", {})
    table.delete(b"k")
    table.delete(b"k", timestamp=7)
    table.delete(b"k", ["a:x", b"b", "c:"])
    table.delete(b"k", [])
    assert [
        _put(b"k", ("a", b"x", b"1"), ("b", b"", b"2")),
        _put(b"k", ("a", b"x", b"1"), at=7),
        DeleteRow(b"k", NOW),
        DeleteRow(b"k", 7),
        RowCells(
            b"k",
            [
                Cell("a", b"x", NOW, cell_type=CellType.DELETE_COLUMN),
                Cell("b", b"", NOW, cell_type=CellType.DELETE_FAMILY),
                Cell("c", b"", NOW, cell_type=CellType.DELETE_COLUMN),
            ],
        ),
    ] == rows.asked


def test_a_batch_is_sent_once_and_the_last_put_of_a_column_wins(table: Table, rows: Rows) -> None:
    """A batch is sent once by rows; the last put of a column wins, and deletes win over puts."""
    with table.batch(timestamp=7) as batch:
        batch.put("k", {"a:x": "1"})
        batch.delete(b"l")
        batch.put(b"k", {"a:x": "2", "a:y": "3"})
        batch.delete("m")
        batch.put(b"m", {"a:x": "4"})
        assert [] == rows.asked
    family = [Cell(name, b"", 7, cell_type=CellType.DELETE_FAMILY) for name in "ab"]
    assert [
        [
            _put(b"k", ("a", b"x", b"2"), ("a", b"y", b"3"), at=7),
            DeleteRow(b"l", 7),
            RowCells(b"m", [Cell("a", b"x", 7, b"4"), *family]),
        ]
    ] == rows.asked
    batch.send()
    assert 1 == len(rows.asked)


def test_a_batch_with_a_size_is_sent_when_full_and_at_the_end(table: Table, rows: Rows) -> None:
    with table.batch(batch_size=3) as batch:
        batch.put(b"k", {"a:x": b"1", "a:y": b"2"})
        assert [] == rows.asked
        batch.delete(b"l")
        assert 1 == len(rows.asked)
        batch.delete(b"m")
    assert DeleteRow(b"m", NOW) == rows.asked[1]


@pytest.mark.parametrize(("transaction", "sent"), [(True, 0), (False, 1)])
def test_a_transaction_is_not_sent_if_its_block_raises(
    table: Table, rows: Rows, transaction: bool, sent: int
) -> None:
    """A transaction is not sent when its block raised; any other batch is."""
    with suppress(KeyError), table.batch(transaction=transaction) as batch:
        batch.put(b"k", {"a:x": b"1"})
        raise KeyError
    assert sent == len(rows.asked)
    with table.batch(transaction=True) as batch:
        batch.put(b"k", {"a:x": b"1"})
    assert sent + 1 == len(rows.asked)


def test_a_batch_keeps_its_changes_after_an_error(
    table: Table, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError

    batch = table.batch()
    batch.put(b"k", {"a:x": b"1"})
    with monkeypatch.context() as broken, suppress(OSError):
        broken.setattr(rows, "mutate_row", fail)
        batch.send()
    assert [] == rows.asked
    batch.send()
    assert [_put(b"k", ("a", b"x", b"1"))] == rows.asked


def test_counter_methods_send_increments_and_set_sends_8_bytes(table: Table, rows: Rows) -> None:
    assert 1 == table.counter_get("k", "a:c")
    assert 2 == table.counter_inc(b"k", b"a:c")
    assert -4 == table.counter_dec("k", "a", 5)
    table.counter_set(b"k", "a:c", -1)
    assert [
        (b"k", [("a", b"c", 0)]),
        (b"k", [("a", b"c", 1)]),
        (b"k", [("a", b"", -5)]),
        _put(b"k", ("a", b"c", b"\xff" * 8)),
    ] == rows.asked


WRONG: list[tuple[str, dict[str, Any], type[Exception]]] = [
    ("row", {"row": 5}, TypeError),
    ("row", {"row": "\ud800"}, ValueError),
    ("row", {"row": b"k", "columns": "a"}, TypeError),
    ("row", {"row": b"k", "columns": [5]}, TypeError),
    ("row", {"row": b"k", "columns": [":x"]}, ValueError),
    ("row", {"row": b"k", "columns": [b"\xff:x"]}, ValueError),
    ("row", {"row": b"k", "timestamp": "1"}, TypeError),
    ("row", {"row": b"k", "timestamp": -1}, ValueError),
    ("row", {"row": b"k", "timestamp": 2**63}, ValueError),
    ("rows", {"rows": [None]}, TypeError),
    ("cells", {"row": b"k", "column": "a:x", "versions": "1"}, TypeError),
    ("cells", {"row": b"k", "column": "a:x", "versions": 0}, ValueError),
    ("cells", {"row": b"k", "column": None}, TypeError),
    ("scan", {"batch_size": 0}, ValueError),
    ("scan", {"batch_size": None}, TypeError),
    ("scan", {"limit": 0}, ValueError),
    ("scan", {"scan_batching": 0}, ValueError),
    ("scan", {"row_prefix": b"a", "row_start": b"a"}, TypeError),
    ("scan", {"row_prefix": b"a", "row_stop": b"a"}, TypeError),
    ("scan", {"row_start": 5}, TypeError),
    ("scan", {"filter": 5}, TypeError),
    ("scan", {"filter": "Nope()"}, ValueError),
    ("scan", {"scan_batching": 2, "filter": "PageFilter(1)"}, ValueError),
    ("put", {"row": b"", "data": {"a:x": b"1"}}, ValueError),
    ("put", {"row": b"k", "data": {"a": b"1"}}, ValueError),
    ("put", {"row": b"k", "data": {"a:x": 5}}, TypeError),
    ("put", {"row": b"k", "data": [("a:x", b"1")]}, TypeError),
    ("put", {"row": 5, "data": {"a:x": b"1"}}, TypeError),
    ("delete", {"row": b"k", "columns": "a"}, TypeError),
    ("delete", {"row": b"k", "columns": 5}, TypeError),
    ("delete", {"row": b""}, ValueError),
    ("batch", {"batch_size": 3, "transaction": True}, TypeError),
    ("batch", {"batch_size": 0}, ValueError),
    ("batch", {"timestamp": "1"}, TypeError),
    ("counter_inc", {"row": b"k", "column": "a:c", "value": 2**63}, ValueError),
    ("counter_dec", {"row": b"k", "column": "a:c", "value": "1"}, TypeError),
    ("counter_set", {"row": b"k", "column": "a:c", "value": 1.5}, TypeError),
    ("counter_set", {"row": b"k", "column": "a", "value": 1}, ValueError),
]


@pytest.mark.parametrize(("method", "argument", "kind"), WRONG)
def test_wrong_arguments_raise_the_same_errors_as_in_happybase(
    table: Table, rows: Rows, method: str, argument: dict[str, Any], kind: type[Exception]
) -> None:
    """Wrong arguments raise TypeError or ValueError as in happybase, and nothing is sent."""
    with pytest.raises(kind) as caught:
        getattr(table, method)(**argument)
    assert isinstance(caught.value, InvalidArgument)
    assert [] == rows.asked


CONNECTIONS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"port": 9090}, ValueError, "port of a Thrift gateway"),
    ({"port": "2181"}, TypeError, "port"),
    ({"port": 70_000}, ValueError, "port"),
    ({"host": 5}, TypeError, "host"),
    ({"host": "a b"}, ValueError, "host"),
    ({"compat": "0.99"}, ValueError, "compat"),
    ({"transport": "raw"}, ValueError, "buffered, framed"),
    ({"protocol": "json"}, ValueError, "binary, compact"),
    ({"table_prefix": 5}, TypeError, "table_prefix"),
    ({"table_prefix_separator": None}, TypeError, "table_prefix_separator"),
    ({"timeout": "5"}, TypeError, "timeout"),
    ({"timeout": -5}, ValueError, "timeout"),
    ({"settings": 5}, TypeError, "settings"),
    ({"url": "thrift://h"}, ValueError, "scheme"),
    ({"url": "hbase://h", "host": "g"}, ValueError, "cannot be combined with host"),
]


@pytest.mark.parametrize(("argument", "kind", "message"), CONNECTIONS)
def test_a_connection_refuses_wrong_arguments_before_anything_is_sent(
    argument: dict[str, Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message) as caught:
        Connection(**argument)
    assert isinstance(caught.value, InvalidArgument)


@pytest.fixture
def open_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let connections open without a cluster."""
    monkeypatch.setattr("rowkey.hbase.client.Client.read_cluster_id", lambda _, **_limits: "")


@pytest.mark.parametrize(
    ("argument", "place"),
    [
        ({}, "hbase://localhost:2181/hbase"),
        ({"host": None, "port": None}, "hbase://localhost:2181/hbase"),
        ({"host": "zk", "port": 2182}, "hbase://zk:2182/hbase"),
        ({"host": "a,b:2183, c"}, "hbase://a:2181,b:2183,c:2181/hbase"),
        ({"host": "::1"}, "hbase://[::1]:2181/hbase"),
        ({"host": "[::1]:2183"}, "hbase://[::1]:2183/hbase"),
        ({"url": "hbase+master://m1"}, "hbase+master://m1:16000"),
    ],
)
@pytest.mark.usefixtures("open_offline")
def test_host_and_port_are_those_of_zookeeper_or_a_url(
    argument: dict[str, Any], place: str
) -> None:
    """Host and port are ZooKeeper's, or a URL replaces them."""
    connection = Connection(**argument)
    assert place == str(connection.client.address)
    connection.close()


@pytest.mark.usefixtures("open_offline")
def test_the_timeout_limits_an_operation_with_its_retries() -> None:
    """The timeout limits an operation with its retries; 0 and None use the settings."""
    connection = Connection(timeout=2_000)
    assert (
        Settings(operation_timeout_s=2, call_timeout_s=2, connect_timeout_s=2)
        == connection.client.settings
    )
    connection.close()
    for timeout in (None, 0):
        connection = Connection(timeout=timeout, settings=Settings(call_timeout_s=3))
        assert Settings(call_timeout_s=3) == connection.client.settings
        connection.close()


@pytest.mark.usefixtures("open_offline")
def test_a_closed_connection_raises_and_can_be_reopened() -> None:
    """A closed connection raises, closing twice is harmless, and it can be reopened."""
    connection = Connection(autoconnect=False)
    for _ in range(2):
        with pytest.raises(Closed, match=r"Call open\(\) first"):
            connection.tables()
        connection.open()
        first = connection.client
        connection.open()
        assert first is connection.client
        connection.close()
        connection.close()
    unused = Connection(autoconnect=False)
    del unused


@pytest.mark.usefixtures("open_offline")
def test_a_table_prefix_precedes_the_name_of_a_table() -> None:
    """A prefix and its separator precede a table's name unless `use_prefix` is false."""
    connection = Connection(table_prefix="p", table_prefix_separator="-", autoconnect=False)
    assert b"p-t" == connection.table("t").name
    assert b"t" == connection.table(b"t", use_prefix=False).name
    assert repr(connection.table("t")).endswith("Table name=b'p-t'>")
    assert b"t" == Connection(autoconnect=False).table("t").name
    with pytest.raises(InvalidArgument):
        connection.table("a b")


@pytest.mark.parametrize(
    ("families", "kind"),
    [
        ([], TypeError),
        ({}, ValueError),
        ({"a": {"nope": 1}}, TypeError),
        ({"a": 5}, TypeError),
        ({5: {}}, TypeError),
        ({"a": {"max_versions": 0}}, ValueError),
        ({"a": {"max_versions": "x"}}, ValueError),
        ({"a": {"compression": "nope"}}, ValueError),
        ({"a": {"compression": 5}}, TypeError),
        ({"a": {"time_to_live": "x"}}, ValueError),
        ({"a": {"bloom_filter_type": "nope"}}, ValueError),
        ({"a:b": {}}, ValueError),
    ],
)
@pytest.mark.usefixtures("open_offline")
def test_invalid_families_are_refused_before_anything_is_sent(
    families: Any, kind: type[Exception]
) -> None:
    connection = Connection()
    with pytest.raises(kind):
        connection.create_table("t", families)
    connection.close()


@pytest.mark.usefixtures("open_offline")
def test_a_pool_gives_a_thread_the_same_connection_in_nested_blocks() -> None:
    """A thread gets the same connection in nested blocks, and other threads another or none."""
    from threading import Thread

    pool = happybase.ConnectionPool(2, host="zk", table_prefix="p")
    with pool.connection() as outer, pool.connection(timeout=0) as inner:
        assert outer is inner
        assert b"p_t" == outer.table("t").name
        told: list[Any] = []

        def other() -> None:
            with pool.connection() as second:
                told.append(second is not outer and second.client is outer.client)
                thread = Thread(target=third)
                thread.start()
                thread.join()

        def third() -> None:
            try:
                with pool.connection(timeout=0.01):
                    told.append("got one")
            except happybase.NoConnectionsAvailable as error:
                told.append(isinstance(error, RuntimeError))

        thread = Thread(target=other)
        thread.start()
        thread.join()
        assert [True, True] == told
    with pytest.raises(KeyError), pool.connection(timeout=1):
        raise KeyError
    with pool.connection(timeout=0) as again:
        assert "hbase://zk:2181/hbase" == str(again.client.address)


@pytest.mark.parametrize(("size", "kind"), [("2", TypeError), (0, ValueError), (True, TypeError)])
def test_a_pool_has_a_size_of_at_least_1(size: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        happybase.ConnectionPool(size)


@pytest.mark.usefixtures("open_offline")
def test_a_pool_refuses_a_timeout_that_is_negative_or_no_number() -> None:
    pool = happybase.ConnectionPool(1)
    for timeout, kind in ((-1, ValueError), ("1", TypeError), (float("nan"), ValueError)):
        wrong: Any = timeout
        with pytest.raises(kind), pool.connection(wrong):
            pass
