"""happybase's table: rows as dictionaries of `family:qualifier`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

from rowkey.cells import COUNTER_BYTES, find_table_name_mistakes
from rowkey.errors import InvalidArgument
from rowkey.happybase.arguments import (
    MAX_INTEGER,
    BytesOrText,
    RowData,
    RowItem,
    WrongArgumentType,
    build_read_spec,
    build_type_error,
    check_positive_integer,
    split_column,
    to_bytes,
    to_row_dict,
    to_text,
)
from rowkey.happybase.batch import Batch
from rowkey.happybase.descriptors import to_family_dict, to_region_dict
from rowkey.happybase.filter_parser import parse_filter
from rowkey.hbase import Client, Filter, HBaseTable, ScanSpec, errors
from rowkey.hbase import HBaseTable as Native
from rowkey.messages import format_value
from rowkey.regions import compute_prefix_stop

if TYPE_CHECKING:
    from rowkey.happybase.connection import Connection

DEFAULT_BATCH_SIZE = 1_000
"""happybase's default number of rows per response; here the client's settings apply instead."""


class Table:
    """A happybase table; `Connection.table` returns it.

    Row keys, columns and values may be text, which is encoded as UTF-8; results are bytes. Reads
    with a `timestamp` return cells older than it. A column is `family:qualifier`; a family alone
    selects all its columns, and `family:` the column with the empty qualifier, as in the Thrift
    server.

    Args:
        name: its name, with the prefix.
        connection: the connection of the cluster.

    Raises:
        InvalidArgument: the name is not valid for a table.
    """

    def __init__(self, name: bytes, connection: Connection) -> None:
        self.name, self.connection = name, connection
        self._name_text = to_text("name", name)
        for mistake in find_table_name_mistakes(self._name_text):
            raise mistake
        self._native_binding: tuple[Client, Native] | None = None

    def __repr__(self) -> str:
        return f"<{__name__}.{type(self).__name__} name={self.name!r}>"

    @property
    def native_table(self) -> Native:
        """Return the table of the native client, for functions that happybase does not have.

        Raises:
            Closed: the connection is not open.
        """
        client = self.connection.client
        if self._native_binding is None or self._native_binding[0] is not client:
            self._native_binding = client, client.table(self._name_text)
        return self._native_binding[1]

    # Describing

    def families(self) -> dict[bytes, dict[str, Any]]:
        """Return the options of each family by name; raise TableNotFound if there is no table."""
        described = self.connection.client.admin.describe_table(self._name_text)
        return {family.name.encode(): to_family_dict(family) for family in described.families}

    def regions(self) -> list[dict[str, Any]]:
        """Return the regions in key order; an empty list if the table does not exist."""
        try:
            return [
                to_region_dict(region)
                for region in self.connection.client.admin.list_regions(self._name_text)
            ]
        except errors.TableNotFound:
            return []

    # Reading

    def row(
        self,
        row: BytesOrText,
        columns: Sequence[BytesOrText] | None = None,
        timestamp: int | None = None,
        include_timestamp: bool = False,
    ) -> dict[bytes, Any]:
        """Return the newest value of each column of a row; an empty dictionary if it has none.

        Args:
            row: the row key.
            columns: list or tuple of columns and families; None for all.
            timestamp: cells older than this are read; None for all.
            include_timestamp: whether each value is a pair (value, timestamp).
        """
        cells = self.native_table.get(
            to_bytes("row", row), build_read_spec(columns, timestamp)
        ).cells
        return to_row_dict(cells, timestamps=include_timestamp)

    def rows(
        self,
        rows: Sequence[BytesOrText],
        columns: Sequence[BytesOrText] | None = None,
        timestamp: int | None = None,
        include_timestamp: bool = False,
    ) -> list[tuple[bytes, dict[bytes, Any]]]:
        """Return rows as (row key, dictionary) in the given order; missing rows are left out.

        The arguments are those of `row`. For no rows it returns an empty list, where happybase
        returns an empty dictionary.
        """
        read = build_read_spec(columns, timestamp)
        if isinstance(rows, bytes | str) or not hasattr(rows, "__iter__"):
            raise build_type_error("rows", rows, "a list or a tuple of row keys")
        keys = [to_bytes(f"rows[{number}]", row) for number, row in enumerate(rows)]
        return [
            (key, to_row_dict(result.cells, timestamps=include_timestamp))
            for key, result in zip(keys, self.native_table.get_many(keys, read), strict=True)
            if result.cells
        ]

    def cells(
        self,
        row: BytesOrText,
        column: BytesOrText,
        versions: int | None = None,
        timestamp: int | None = None,
        include_timestamp: bool = False,
    ) -> list[Any]:
        """Return the versions of a column of a row, newest first.

        Args:
            row: the row key.
            versions: maximum number of versions; None for all.
            timestamp: cells older than this are read; None for all.
            include_timestamp: whether each value is a pair (value, timestamp).
        """
        if versions is not None:
            check_positive_integer("versions", versions)
        read = build_read_spec([column], timestamp, versions=versions or MAX_INTEGER)
        cells = self.native_table.get(to_bytes("row", row), read).cells
        if include_timestamp:
            return [(cell.value, cell.timestamp) for cell in cells]
        return [cell.value for cell in cells]

    def scan(
        self,
        row_start: BytesOrText | None = None,
        row_stop: BytesOrText | None = None,
        row_prefix: BytesOrText | None = None,
        columns: Sequence[BytesOrText] | None = None,
        filter: BytesOrText | Filter | None = None,  # noqa: A002 - happybase's name
        timestamp: int | None = None,
        include_timestamp: bool = False,
        batch_size: int = DEFAULT_BATCH_SIZE,
        scan_batching: int | None = None,
        limit: int | None = None,
        sorted_columns: bool = False,
        reverse: bool = False,
    ) -> Iterator[RowItem]:
        """Return an iterator over the rows of a range as (row key, dictionary).

        Arguments are checked at once. The scan starts when the first row is requested and is
        closed with the iterator.

        Args:
            row_start: the first row key; in reverse the highest one.
            row_stop: the row key where the scan stops, excluded. A range from a key to itself is
                empty, where the Thrift server returns that row.
            row_prefix: prefix of the row keys, instead of start and stop. In reverse it returns
                the same rows; happybase would miss the row whose key is the prefix itself.
            columns: list or tuple of columns and families; None for all.
            filter: a text in HBase's filter language, or one of `rowkey.hbase.filters`.
            timestamp: cells older than this are read; None for all.
            include_timestamp: whether each value is a pair (value, timestamp).
            batch_size: rows of one response; with happybase's 1,000 the client's settings apply.
            scan_batching: maximum cells of a partial row; each partial row is returned by itself.
            limit: maximum number of rows or partial rows.
            sorted_columns: whether a row is an OrderedDict; columns are sorted in any case.
            reverse: whether rows come in descending order.

        Raises:
            WrongArgumentType: an argument has the wrong type.
            InvalidArgument: a number is out of range, or the filter is not valid.

        Cost: 1.2 µs of this process for a row of one cell, if rows have the same columns.
        """
        scan = _build_scan_spec(
            row_start, row_stop, row_prefix, columns, filter, timestamp,
            batch_size, scan_batching, limit, reverse,
        )  # fmt: skip
        return _iterate_scan_rows(
            self.native_table, scan, limit, timestamps=include_timestamp, ordered=sorted_columns
        )

    # Writing

    def put(
        self,
        row: BytesOrText,
        data: RowData,
        timestamp: int | None = None,
        wal: bool = True,
    ) -> None:
        """Write values of one row, by `family:qualifier`, atomically; for `wal` see `Batch`."""
        with self.batch(timestamp=timestamp, wal=wal) as batch:
            batch.put(row, data)

    def delete(
        self,
        row: BytesOrText,
        columns: Sequence[BytesOrText] | None = None,
        timestamp: int | None = None,
        wal: bool = True,
    ) -> None:
        """Delete a row, or some of its columns and families.

        Args:
            row: the row key.
            columns: columns and families to delete; None for the whole row.
            timestamp: cells up to and including it are deleted; None for all.
            wal: without effect.
        """
        with self.batch(timestamp=timestamp, wal=wal) as batch:
            batch.delete(row, columns)

    def batch(
        self,
        timestamp: int | None = None,
        batch_size: int | None = None,
        transaction: bool = False,
        wal: bool = True,
    ) -> Batch:
        """Return a batch that collects puts and deletes; the arguments are those of `Batch`."""
        return Batch(self, timestamp, batch_size, transaction, wal)

    # Counters

    def counter_get(self, row: BytesOrText, column: BytesOrText) -> int:
        """Return the value of a counter; a missing counter is created with 0."""
        return self.counter_inc(row, column, 0)

    def counter_set(self, row: BytesOrText, column: BytesOrText, value: int = 0) -> None:
        """Set a counter to a value."""
        self.put(
            row,
            {
                to_bytes("column", column): _to_counter_amount(value).to_bytes(
                    COUNTER_BYTES, "big", signed=True
                )
            },
        )

    def counter_inc(self, row: BytesOrText, column: BytesOrText, value: int = 1) -> int:
        """Add a number to a counter atomically, and return its new value.

        Raises:
            MaybeApplied: the answer was lost, and the value may have been added.
        """
        family, qualifier = split_column(column)
        amount = (family, qualifier or b"", _to_counter_amount(value))
        return self.native_table.increment(to_bytes("row", row), [amount])[0]

    def counter_dec(self, row: BytesOrText, column: BytesOrText, value: int = 1) -> int:
        """Subtract a number from a counter atomically, and return its new value."""
        return self.counter_inc(row, column, -_to_counter_amount(value))


def _to_counter_amount(value: object) -> int:
    """Return a value as a whole number of 64 bits, or raise InvalidArgument."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise build_type_error("value", value, "an integer")
    amount = int(value)
    if not -(2**63) <= amount < 2**63:
        what = f"{format_value(amount)} is out of range"
        raise InvalidArgument("value", what, "a whole number from -2^63 to 2^63-1")
    return amount


def _to_filter(value: object) -> Filter | None:
    """Return the filter of a scan, given as an object or as text in the filter language.

    Raises:
        InvalidArgument: it is neither a filter nor a text, or the text is no filter.
    """
    if value is None or isinstance(value, Filter):
        return value
    if not isinstance(value, bytes | str):
        raise build_type_error("filter", value, "a text of HBase's filter language, or a Filter")
    return parse_filter(value)


def _build_scan_spec(
    start: BytesOrText | None,
    stop: BytesOrText | None,
    prefix: BytesOrText | None,
    columns: Sequence[BytesOrText] | None,
    row_filter: BytesOrText | Filter | None,
    timestamp: int | None,
    batch_size: int,
    scan_batching: int | None,
    limit: int | None,
    reverse: bool,
) -> ScanSpec:
    """Convert happybase's arguments of a scan to a scan of the native client.

    Raises:
        WrongArgumentType: a prefix is combined with a start or a stop, or a type is wrong.
        InvalidArgument: a number is out of range, or the filter is not valid.
    """
    check_positive_integer("batch_size", batch_size)
    for name, number in (("limit", limit), ("scan_batching", scan_batching)):
        if number is not None:
            check_positive_integer(name, number)
    bounds: dict[str, Any]
    if prefix is None:
        first = b"" if start is None else to_bytes("row_start", start)
        last = b"" if stop is None else to_bytes("row_stop", stop)
        bounds = {"start": first, "stop": last}
    elif start is None and stop is None:
        bounds = _build_prefix_bounds(to_bytes("row_prefix", prefix), reverse)
    else:
        what = "a prefix cannot be combined with row_start or row_stop"
        raise WrongArgumentType("row_prefix", what, "either a prefix, or a start and a stop")
    return ScanSpec(
        **bounds,
        reverse=bool(reverse),
        read=build_read_spec(columns, timestamp, cell_filter=_to_filter(row_filter)),
        limit=limit,
        batch=scan_batching,
        answer_rows=None if batch_size == DEFAULT_BATCH_SIZE else batch_size,
    )


def _build_prefix_bounds(prefix: bytes, reverse: bool) -> dict[str, Any]:
    """Return the bounds of a scan over the rows whose keys start with a prefix."""
    stop = compute_prefix_stop(prefix) or b""
    if reverse:
        bounds = {"start": stop, "stop": prefix}
        return {**bounds, "include_start": False, "include_stop": True} if stop else bounds
    return {"start": prefix, "stop": stop}


def _iterate_scan_rows(
    table: HBaseTable, scan: ScanSpec, limit: int | None, *, timestamps: bool, ordered: bool
) -> Iterator[RowItem]:
    """Yield the rows of a scan as (row key, dictionary), or partial rows if it has a `batch`.

    Args:
        scan: the scan, started when the first row is requested.
        limit: maximum number of rows or partial rows.
        timestamps: whether each value is a pair (value, timestamp).
        ordered: whether a row is an OrderedDict.

    Raises:
        HBaseError: the rows cannot be read.
    """
    remaining = limit
    with table.scan(scan) as scanner:
        for answer in scanner.iter_blocks():
            rows = answer.list_row_items(timestamps=timestamps)
            if remaining is not None:
                rows = rows[:remaining]
                remaining -= len(rows)
            if ordered:
                rows = [(row, OrderedDict(values)) for row, values in rows]
            yield from rows
            if remaining == 0:
                return
