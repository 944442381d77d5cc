"""happybase's table: rows as dictionaries of `family:qualifier`."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

from rowkey.cells import COUNTER_BYTES, check_table
from rowkey.errors import Refused, shown
from rowkey.hbase.errors import TableNotFound
from rowkey.hbase.happybase.arguments import (
    COUNT_MOST,
    as_bytes,
    as_read,
    as_text,
    check_whole,
    row_dict,
    split_column,
    wrong_type,
)
from rowkey.hbase.happybase.batch import Batch
from rowkey.hbase.happybase.descriptors import family_dict, region_dict
from rowkey.hbase.happybase.scans import DEFAULT_BATCH, as_scan, scan_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rowkey.hbase.client import Client
    from rowkey.hbase.filters import Filter
    from rowkey.hbase.happybase.arguments import Data, Text
    from rowkey.hbase.happybase.connection import Connection
    from rowkey.hbase.table import Table as Native
    from rowkey.hbase.wire.pairs import Pairs


class Table:
    """A table as happybase has it; `Connection.table` gives it.

    Row keys, columns and values may be text, which stands for its UTF-8; what is read is bytes. A
    `timestamp` of a read is an end: cells up to it, and not with it, are read. A column is
    `family:qualifier`; a family alone stands for all of it, and `family:` for the column without
    a qualifier, as Thrift's server reads it.

    Args:
        name: its name, with the prefix.
        connection: by which it is reached.

    Raises:
        Refused: no table can have that name.
    """

    def __init__(self, name: bytes, connection: Connection) -> None:
        self.name, self.connection = name, connection
        self._text = as_text("name", name)
        for mistake in check_table(self._text):
            raise mistake
        self._bound: tuple[Client, Native] | None = None

    def __repr__(self) -> str:
        return f"<{__name__}.{type(self).__name__} name={self.name!r}>"

    @property
    def native(self) -> Native:
        """The same table of the native client, for what happybase has no words for.

        Raises:
            Refused: the connection is not open.
        """
        client = self.connection.client
        if self._bound is None or self._bound[0] is not client:
            self._bound = client, client.table(self._text)
        return self._bound[1]

    # What it is

    def families(self) -> dict[bytes, dict[str, Any]]:
        """The options of each family, by its name; raises TableNotFound if there is no table."""
        described = self.connection.client.admin.describe(self._text)
        return {family.name.encode(): family_dict(family) for family in described.families}

    def regions(self) -> list[dict[str, Any]]:
        """The regions in the order of their keys; none if there is no such table."""
        try:
            return [region_dict(one) for one in self.connection.client.admin.regions(self._text)]
        except TableNotFound:
            return []

    # Reading

    def row(
        self,
        row: Text,
        columns: Sequence[Text] | None = None,
        timestamp: int | None = None,
        include_timestamp: bool = False,
    ) -> dict[bytes, Any]:
        """The newest value of each column of a row; an empty dictionary if there is no such row.

        Args:
            row: the row key.
            columns: a list or tuple of columns and families; None for all.
            timestamp: up to which, and not with it, cells are read.
            include_timestamp: whether each value comes as (value, timestamp).
        """
        found = self.native.get(as_bytes("row", row), as_read(columns, timestamp))
        return row_dict(found.cells, timestamps=include_timestamp)

    def rows(
        self,
        rows: Sequence[Text],
        columns: Sequence[Text] | None = None,
        timestamp: int | None = None,
        include_timestamp: bool = False,
    ) -> list[tuple[bytes, dict[bytes, Any]]]:
        """Several rows as (row key, dictionary), in the order asked; those not found are left out.

        Its arguments are those of `row`. Of no rows it is an empty list, where happybase gives an
        empty dictionary.
        """
        read = as_read(columns, timestamp)
        keys = [as_bytes(f"rows[{number}]", row) for number, row in enumerate(rows)]
        return [
            (key, row_dict(found.cells, timestamps=include_timestamp))
            for key, found in zip(keys, self.native.get_many(keys, read), strict=True)
            if found.cells
        ]

    def cells(
        self,
        row: Text,
        column: Text,
        versions: int | None = None,
        timestamp: int | None = None,
        include_timestamp: bool = False,
    ) -> list[Any]:
        """The versions of a column, newest first.

        Args:
            row: the row key.
            column: the column.
            versions: most versions; None for all that are kept.
            timestamp: up to which, and not with it, cells are read.
            include_timestamp: whether each value comes as (value, timestamp).
        """
        if versions is not None:
            check_whole("versions", versions)
        read = as_read([column], timestamp, versions=versions or COUNT_MOST)
        found = self.native.get(as_bytes("row", row), read)
        if include_timestamp:
            return [(cell.value, cell.timestamp) for cell in found.cells]
        return [cell.value for cell in found.cells]

    def scan(
        self,
        row_start: Text | None = None,
        row_stop: Text | None = None,
        row_prefix: Text | None = None,
        columns: Sequence[Text] | None = None,
        filter: Text | Filter | None = None,  # noqa: A002 - happybase's name
        timestamp: int | None = None,
        include_timestamp: bool = False,
        batch_size: int = DEFAULT_BATCH,
        scan_batching: int | None = None,
        limit: int | None = None,
        sorted_columns: bool = False,
        reverse: bool = False,
    ) -> Iterator[Pairs]:
        """The rows of a range, one by one, as (row key, dictionary).

        Arguments are checked at once; the scan begins with the first row that is asked for, and
        ends with its iterator.

        Args:
            row_start: the first row key; in reverse the highest one.
            row_stop: the row key at which it ends, which is not among them; so no row lies from a
                key to itself, where Thrift's server gives that one.
            row_prefix: what the row keys begin with, instead of start and stop. In reverse it gives
                the same rows; happybase would miss the row that is the prefix itself.
            columns: a list or tuple of columns and families; None for all.
            filter: in HBase's filter language, or one of `rowkey.hbase.filters`.
            timestamp: up to which, and not with it, cells are read.
            include_timestamp: whether each value comes as (value, timestamp).
            batch_size: rows of one answer; happybase's 1,000 leaves them to the client's settings.
            scan_batching: most cells of a piece of a row, each of which then comes by itself.
            limit: most rows, or pieces.
            sorted_columns: whether a row is an OrderedDict; columns are in their order anyhow.
            reverse: whether it runs downwards.

        Raises:
            WrongType: an argument is of another type.
            Refused: a number is out of range, or the filter is none.

        Cost: 1.2 µs of this process for a row of one cell, where rows are alike.
        """
        scan = as_scan(
            row_start, row_stop, row_prefix, columns, filter, timestamp,
            batch_size, scan_batching, limit, reverse,
        )  # fmt: skip
        return scan_rows(
            self.native, scan, limit, timestamps=include_timestamp, ordered=sorted_columns
        )

    # Writing

    def put(
        self,
        row: Text,
        data: Data,
        timestamp: int | None = None,
        wal: bool = True,
    ) -> None:
        """Write values by `family:qualifier`, all of them together; `Batch` tells of `wal`."""
        with self.batch(timestamp=timestamp, wal=wal) as batch:
            batch.put(row, data)

    def delete(
        self,
        row: Text,
        columns: Sequence[Text] | None = None,
        timestamp: int | None = None,
        wal: bool = True,
    ) -> None:
        """Delete a row, or columns and families of it, as far as they are not newer than a moment.

        Args:
            row: the row key.
            columns: what is deleted; None for all.
            timestamp: up to which, and with it, cells are deleted.
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
        """Collects puts and deletes; its arguments are those of `Batch`."""
        return Batch(self, timestamp, batch_size, transaction, wal)

    # Counting

    def counter_get(self, row: Text, column: Text) -> int:
        """The value of a counter, which is made with 0 if there is none."""
        return self.counter_inc(row, column, 0)

    def counter_set(self, row: Text, column: Text, value: int = 0) -> None:
        """Write the value of a counter, whatever it was."""
        self.put(row, {column: _amount(value).to_bytes(COUNTER_BYTES, "big", signed=True)})

    def counter_inc(self, row: Text, column: Text, value: int = 1) -> int:
        """Add to a counter, with nothing in between; gives the new value.

        Raises:
            MaybeApplied: the answer was lost, and it may have been added.
        """
        family, qualifier = split_column(column)
        amount = (family, qualifier or b"", _amount(value))
        return self.native.increment(as_bytes("row", row), [amount])[0]

    def counter_dec(self, row: Text, column: Text, value: int = 1) -> int:
        """Take from a counter, with nothing in between; gives the new value."""
        return self.counter_inc(row, column, -_amount(value))


def _amount(given: object) -> int:
    """What a counter can hold."""
    if not isinstance(given, Integral) or isinstance(given, bool):
        raise wrong_type("value", given, "a whole number")
    amount = int(given)
    if not -(2**63) <= amount < 2**63:
        raise Refused("value", f"{shown(amount)} is out of range", "-2^63..2^63-1")
    return amount
