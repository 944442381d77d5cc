"""happybase's batch: puts and deletes collected, and sent together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from rowkey.cells import LATEST, Cell, Kind, RowCells, check_row
from rowkey.hbase.happybase.arguments import (
    WrongType,
    as_bytes,
    as_timestamp,
    check_whole,
    split_column,
    whole_column,
    wrong_type,
)
from rowkey.hbase.requests.delete_row import DeleteRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType

    from rowkey.hbase.happybase.arguments import Data, Text
    from rowkey.hbase.happybase.table import Table


@dataclass(slots=True)
class _Changes:
    """What is to be done to one row: of a column the last put counts, and a delete more."""

    puts: dict[tuple[str, bytes], bytes] = field(default_factory=dict)
    deletes: dict[tuple[str, bytes | None], None] = field(default_factory=dict)
    whole: bool = False

    def cells(self, timestamp: int, families: Iterable[str]) -> Iterator[Cell]:
        """As cells.

        Args:
            timestamp: of all of them.
            families: those of the table, if the whole row is to be deleted.
        """
        for (family, qualifier), value in self.puts.items():
            yield Cell(family, qualifier, timestamp, value)
        if self.whole:
            for family in families:
                yield Cell(family, b"", timestamp, kind=Kind.DELETE_FAMILY)
            return
        for family, column in self.deletes:
            kind = Kind.DELETE_FAMILY if column is None else Kind.DELETE_COLUMN
            yield Cell(family, column or b"", timestamp, kind=kind)


class Batch:
    """Collects puts and deletes; `Table.batch` gives it.

    As a context manager it sends them at the end of the block, also when the block raised, unless
    `transaction` is set. What concerns one row is applied together. Of one batch, deletes win over
    puts of the same columns, whichever came first: Thrift's server sends all puts before all
    deletes.

    Args:
        table: the table.
        timestamp: of all puts and deletes; None for the server's now.
        batch_size: puts and deletes after which they are sent; None for never. A put counts for
            each of its columns, a delete of a whole row once.
        transaction: whether nothing is sent when the block raised.
        wal: taken for happybase's sake: whatever it is, changes are written to the log, for they
            would be lost with their server else.

    Raises:
        WrongType: `transaction` stands beside `batch_size`, or anything is of another type.
        Refused: a number is out of range.
    """

    def __init__(
        self,
        table: Table,
        timestamp: int | None = None,
        batch_size: int | None = None,
        transaction: bool = False,
        wal: bool = True,
    ) -> None:
        moment = as_timestamp(timestamp)
        if batch_size is not None:
            if transaction:
                what = "it stands beside batch_size"
                raise WrongType("transaction", what, "one of them")
            check_whole("batch_size", batch_size)
        self._table, self._size, self._transaction = table, batch_size, transaction
        self._timestamp = LATEST if moment is None else moment
        self._families: list[str] | None = None
        self._reset()

    def _reset(self) -> None:
        self._rows: dict[bytes, _Changes] = {}
        self._count = 0

    def _row(self, row: Text) -> _Changes:
        key = as_bytes("row", row)
        check_row(key)
        return self._rows.setdefault(key, _Changes())

    def put(self, row: Text, data: Data, wal: bool | None = None) -> None:
        """Collect values by `family:qualifier`.

        Raises:
            WrongType: a row key, a column or a value is of another type.
            Refused: a row key or a column is none; nothing of this put is collected.
        """
        if not hasattr(data, "items"):
            raise wrong_type("data", data, "a dictionary")
        values = {whole_column(column): as_bytes("value", value) for column, value in data.items()}
        if values:
            self._row(row).puts.update(values)
        self._counted(len(values))

    def delete(
        self, row: Text, columns: Iterable[Text] | None = None, wal: bool | None = None
    ) -> None:
        """Collect deletes of columns and families; None for the whole row.

        Raises:
            WrongType: a row key or a column is of another type.
            Refused: a row key or a column is none; nothing of this delete is collected.
        """
        if columns is None:
            self._row(row).whole = True
            self._counted(1)
            return
        if isinstance(columns, bytes | str) or not hasattr(columns, "__iter__"):
            raise wrong_type("columns", columns, "a list or a tuple")
        wanted = [split_column(one, f"columns[{at}]") for at, one in enumerate(columns)]
        if wanted:
            self._row(row).deletes.update(dict.fromkeys(wanted))
        self._counted(len(wanted))

    def _counted(self, more: int) -> None:
        self._count += more
        if self._size is not None and self._count >= self._size:
            self.send()

    def send(self) -> None:
        """Send what was collected, and begin anew; after an error all of it is still collected.

        Raises:
            SomeFailed: with those rows that failed; the others are applied.
            HBaseError: none is known to be applied.
        """
        actions = [self._action(row, changes) for row, changes in self._rows.items()]
        native = self._table.native
        if len(actions) > 1:
            native.run(actions)
        for action in actions if len(actions) == 1 else ():
            if isinstance(action, DeleteRow):
                native.delete(action.row, timestamp=action.timestamp)
            else:
                native.change(*action)
        self._reset()

    def _action(self, row: bytes, changes: _Changes) -> RowCells | DeleteRow:
        if changes.whole and not changes.puts:
            return DeleteRow(row, self._timestamp)
        families: Iterable[str] = ()
        if changes.whole:
            if self._families is None:
                self._families = [name.decode() for name in self._table.families()]
            families = self._families
        return RowCells(row, list(changes.cells(self._timestamp, families)))

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
