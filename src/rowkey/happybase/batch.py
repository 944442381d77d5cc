"""happybase's batch: collect puts and deletes and send them together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rowkey.cells import LATEST, Cell, CellType, RowCells, check_row
from rowkey.happybase.arguments import (
    BytesOrText,
    RowData,
    WrongArgumentType,
    build_type_error,
    check_positive_integer,
    split_column,
    split_full_column,
    to_bytes,
    to_timestamp,
)
from rowkey.hbase import DeleteRow

if TYPE_CHECKING:
    from rowkey.happybase.table import Table


@dataclass(slots=True)
class _RowChanges:
    """The puts and deletes of one row in a batch; a delete of a column wins over its puts."""

    puts: dict[tuple[str, bytes], bytes] = field(default_factory=dict)
    deletes: dict[tuple[str, bytes | None], None] = field(default_factory=dict)
    deletes_row: bool = False

    def build_cells(self, timestamp: int, families: Iterable[str]) -> Iterator[Cell]:
        """Yield the puts and deletes of the row as cells.

        Args:
            timestamp: the timestamp of all cells.
            families: the table's families; used if the whole row is deleted.
        """
        for (family, qualifier), value in self.puts.items():
            yield Cell(family, qualifier, timestamp, value)
        if self.deletes_row:
            for family in families:
                yield Cell(family, b"", timestamp, cell_type=CellType.DELETE_FAMILY)
            return
        for family, column in self.deletes:
            cell_type = CellType.DELETE_FAMILY if column is None else CellType.DELETE_COLUMN
            yield Cell(family, column or b"", timestamp, cell_type=cell_type)


class Batch:
    """Collect puts and deletes and send them together; `Table.batch` returns it.

    As a context manager it sends them at the end of the block, also when the block raised, unless
    `transaction` is set. Changes of one row are applied atomically. In one batch deletes win over
    puts of the same columns in any order, since the Thrift server sends all puts before all
    deletes.

    Args:
        timestamp: the timestamp of all changes; None for the server's current time.
        batch_size: number of changes after which they are sent; None to send only at the end. A put
            counts once per column, a delete of a whole row once.
        transaction: whether nothing is sent when the block raised.
        wal: accepted for compatibility and ignored: changes are always written to the write-ahead
            log, since they would otherwise be lost with their server.

    Raises:
        WrongArgumentType: both `transaction` and `batch_size` are given, or a type is wrong.
        InvalidArgument: a number is out of range.
    """

    def __init__(
        self,
        table: Table,
        timestamp: int | None = None,
        batch_size: int | None = None,
        transaction: bool = False,
        wal: bool = True,
    ) -> None:
        milliseconds = to_timestamp(timestamp)
        if batch_size is not None:
            if transaction:
                what = "a transaction cannot be combined with batch_size"
                remedy = "Remove batch_size: a transaction is sent at the end of its block."
                raise WrongArgumentType("transaction", what, remedy=remedy)
            check_positive_integer("batch_size", batch_size)
        self._table, self._batch_size, self._transaction = table, batch_size, transaction
        self._timestamp = LATEST if milliseconds is None else milliseconds
        self._families: list[str] | None = None
        self._clear_changes()

    def _clear_changes(self) -> None:
        self._rows: dict[bytes, _RowChanges] = {}
        self._count = 0

    def _get_row_changes(self, row: BytesOrText) -> _RowChanges:
        """Return the collected changes of a row, empty for a new row."""
        key = to_bytes("row", row)
        check_row(key)
        return self._rows.setdefault(key, _RowChanges())

    def put(self, row: BytesOrText, data: RowData, wal: bool | None = None) -> None:
        """Add values of a row, by `family:qualifier`, to the batch.

        Raises:
            WrongArgumentType: a row key, a column or a value has the wrong type.
            InvalidArgument: a row key or a column is not valid; nothing is added.
        """
        if not hasattr(data, "items"):
            raise build_type_error("data", data, "a dictionary")
        values = {
            split_full_column(column): to_bytes("value", value) for column, value in data.items()
        }
        if values:
            self._get_row_changes(row).puts.update(values)
        self._add_to_count(len(values))

    def delete(
        self,
        row: BytesOrText,
        columns: Iterable[BytesOrText] | None = None,
        wal: bool | None = None,
    ) -> None:
        """Add deletes of columns or families of a row to the batch; None deletes the whole row.

        Raises:
            WrongArgumentType: a row key or a column has the wrong type.
            InvalidArgument: a row key or a column is not valid; nothing is added.
        """
        if columns is None:
            self._get_row_changes(row).deletes_row = True
            self._add_to_count(1)
            return
        if isinstance(columns, bytes | str) or not hasattr(columns, "__iter__"):
            raise build_type_error("columns", columns, "a list or a tuple")
        deleted = [split_column(column, f"columns[{i}]") for i, column in enumerate(columns)]
        if deleted:
            self._get_row_changes(row).deletes.update(dict.fromkeys(deleted))
        self._add_to_count(len(deleted))

    def _add_to_count(self, change_count: int) -> None:
        """Count collected changes, and send them if `batch_size` is reached."""
        self._count += change_count
        if self._batch_size is not None and self._count >= self._batch_size:
            self.send()

    def send(self) -> None:
        """Send all collected changes, and empty the batch; after an error it keeps them.

        Raises:
            PartialBatchFailure: some rows failed, which it lists; the others are applied.
            HBaseError: the changes may not be applied.
        """
        actions = [self._build_action(row, changes) for row, changes in self._rows.items()]
        native = self._table.native_table
        if len(actions) > 1:
            native.run_actions(actions)
        for action in actions if len(actions) == 1 else ():
            if isinstance(action, DeleteRow):
                native.delete(action.row, timestamp=action.timestamp)
            else:
                native.mutate_row(*action)
        self._clear_changes()

    def _build_action(self, row: bytes, changes: _RowChanges) -> RowCells | DeleteRow:
        """Return the changes of a row as one request of the native client."""
        if changes.deletes_row and not changes.puts:
            return DeleteRow(row, self._timestamp)
        families: Iterable[str] = ()
        if changes.deletes_row:
            if self._families is None:
                self._families = [name.decode() for name in self._table.families()]
            families = self._families
        return RowCells(row, list(changes.build_cells(self._timestamp, families)))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None or not self._transaction:
            self.send()
