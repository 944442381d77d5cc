"""A table of a cluster: rows of cells in and out."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING, Any

from rowkey.cells import LATEST, Cell, Kind, RowCells, check_mutation, check_table
from rowkey.hbase.batching import run_batch
from rowkey.hbase.errors import SomeFailed
from rowkey.hbase.many import Many, waves
from rowkey.hbase.reading import Read, Scan
from rowkey.hbase.requests.append import Append
from rowkey.hbase.requests.append_cells import AppendCells
from rowkey.hbase.requests.check_and_mutate import CheckAndMutate
from rowkey.hbase.requests.delete_row import DeleteRow
from rowkey.hbase.requests.exists import Exists
from rowkey.hbase.requests.get import Get
from rowkey.hbase.requests.increment import Increment
from rowkey.hbase.requests.increment_cells import IncrementCells
from rowkey.hbase.requests.mutate_row import writing
from rowkey.hbase.scanning import Scanner

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.cells import CellBlock
    from rowkey.hbase.calling import Caller
    from rowkey.hbase.errors import Failure
    from rowkey.hbase.requests.multi import Action, Outcome

EVERYTHING = Read()
"""The newest version of every column."""
EVERY_ROW = Scan()


class Table:
    """A table to be written and read, by any number of threads; `Client.table` gives it.

    Rows are `rowkey.cells.RowCells`, cells are `rowkey.cells.Cell`. A call returns when the servers
    have acknowledged, or raises: `AskedWrongly` at once, `OutOfTime` when the budget of the
    operation is spent, `SomeFailed` if only some of many actions failed.

    Args:
        caller: sends what is asked.
        name: `qualifier` or `namespace:qualifier`.

    Raises:
        Refused: no table can have that name.
    """

    def __init__(self, caller: Caller, name: str) -> None:
        if name != META:
            for mistake in check_table(name):
                raise mistake
        self.name = name
        self._caller = caller
        self._nonce_group = secrets.randbits(62) + 1

    # Reading

    def get(self, row: bytes, read: Read = EVERYTHING) -> RowCells:
        """The wanted cells of a row; none if there are none.

        Cost: one call.
        """
        return self._caller.on_row(self.name, row, Get(row, read))

    def get_many(self, rows: Sequence[bytes], read: Read = EVERYTHING) -> list[RowCells]:
        """The wanted cells of rows, in the order asked.

        Cost: one call to each server for some thousand rows, all servers at once.
        """
        return [
            found if isinstance(found, RowCells) else RowCells(row, [])
            for row, found in zip(rows, self.run([Get(row, read) for row in rows]), strict=True)
        ]

    def exists(self, row: bytes, read: Read = EVERYTHING) -> bool:
        """Whether a row has any of the wanted cells; no cell is sent."""
        return self._caller.on_row(self.name, row, Exists(row, read))

    def scan(self, scan: Scan = EVERY_ROW) -> Scanner:
        """The rows of a range, in order, one answer asked ahead.

        The first call is sent before this returns; many scans that are begun together run together.
        A scanner goes on through splits, moves and deaths of servers behind the last row it gave.
        """
        return Scanner(self._caller, self.name, scan, self._caller.settings)

    # Writing

    def put(
        self,
        row: bytes,
        values: Mapping[tuple[str, bytes], bytes],
        *,
        timestamp: int = LATEST,
        ttl_ms: int | None = None,
    ) -> None:
        """Write values by (family, qualifier), all of them together.

        Args:
            row: the row key.
            values: one or more.
            timestamp: milliseconds since 1970; the server's now if `LATEST`.
            ttl_ms: milliseconds after which they are gone.
        """
        self.change(
            row,
            [
                Cell(family, qualifier, timestamp, value, ttl_ms=ttl_ms)
                for (family, qualifier), value in values.items()
            ],
        )

    def change(self, row: bytes, cells: Sequence[Cell], *, sync: bool = False) -> None:
        """Apply puts and deletes to a row, together or not at all.

        Args:
            row: the row key.
            cells: in the order in which they are to be applied.
            sync: whether they are on the servers' disks when the call returns; otherwise they are
                in the memory of as many machines as hold the log.
        """
        check_mutation(RowCells(row, cells), ANY_FAMILY)
        self._caller.on_row(self.name, row, writing(row, cells, sync=sync))

    def delete(self, row: bytes, *, timestamp: int = LATEST) -> None:
        """Delete a row, as far as it is not newer than a moment."""
        self._caller.on_row(self.name, row, DeleteRow(row, timestamp))

    def mutate(self, mutations: Sequence[RowCells], *, sync: bool = False) -> None:
        """Apply changes of many rows; of one row in their order, each of them whole.

        Cost: 2 µs a put of one cell, and the servers' time; all servers at once.

        Raises:
            SomeFailed: with those that failed; the others are applied.
        """
        if len(mutations) == 1:
            self.change(*mutations[0], sync=sync)
            return
        for mutation in mutations:
            check_mutation(mutation, ANY_FAMILY)
        failures: list[Failure] = []
        before: Sequence[RowCells] = ()
        for wave, numbers in waves(mutations):
            if any(map(_hides_what_follows, before)):
                time.sleep(CLOCK_S)
            lost = {failure.row for failure in failures}
            sound = [place for place, one in enumerate(wave) if one.row not in lost]
            many = Many(self.name, [wave[place] for place in sound], sync=sync)
            failures += (
                failure._replace(index=numbers[sound[failure.index]])
                for failure in run_batch(self._caller, many)
            )
            failures += _not_sent(wave, numbers, lost, failures)
            before = wave
        self._raise_any(failures, len(mutations))

    def _raise_any(self, failures: Sequence[Failure], count: int) -> None:
        if failures:
            raise SomeFailed(self.name, failures, count)

    def load(self, blocks: Sequence[CellBlock], *, sync: bool = False) -> None:
        """Write puts that stand in Arrow columns; the blocks of one call name the same rows.

        Cost: 0.3 µs a cell, and the servers' time; all servers at once.

        Raises:
            Refused: a row cannot be stored; nothing is written.
            SomeFailed: with those that failed; the others are applied.
        """
        from rowkey.hbase.loading import Load, waves_of

        failures: list[Failure] = []
        for wave, numbers in waves_of(blocks) if blocks else ():
            batch = Load(self.name, wave, sync=sync, numbers=numbers)
            failures += run_batch(self._caller, batch)
        self._raise_any(failures, len(blocks[0].rows) if blocks else 0)

    def run(self, actions: Sequence[Action]) -> list[Outcome]:
        """Have many actions done: writes (`RowCells`), and any requests of one row.

        Actions of one row go to the server at once, which reads before it writes: whose order
        matters must go in several calls.

        Returns:
            What came of each, in the order given; None for those that write.

        Raises:
            SomeFailed: with those that failed; the others are done.
        """
        many = Many(self.name, actions, self._nonce_group)
        self._raise_any(run_batch(self._caller, many), len(actions))
        return many.outcomes

    def increment(
        self, row: bytes, amounts: Sequence[tuple[str, bytes, int]], *, sync: bool = False
    ) -> list[int]:
        """Add to counters of a row together: 8-byte big-endian signed numbers, absent is 0.

        A nonce protects a repeated call on the same server and after its death.

        Returns:
            The new values, in the order given.

        Raises:
            MaybeApplied: the answer was lost and the region has moved since.
        """
        request = Increment(row, amounts, *self._nonce(), sync)
        return self._caller.on_row(self.name, row, request)

    def increment_cells(
        self, row: bytes, amounts: Sequence[tuple[str, bytes, int]], *, sync: bool = False
    ) -> list[Cell]:
        """Add to counters of a row; as `increment`, with the timestamps that the server gave."""
        request = IncrementCells(row, amounts, *self._nonce(), sync)
        answer: Any = self._caller.on_row(self.name, row, request)
        return list(answer)

    def append(
        self, row: bytes, pieces: Sequence[tuple[str, bytes, bytes]], *, sync: bool = False
    ) -> list[bytes]:
        """Append bytes to cells of a row together; gives the new values.

        Raises:
            MaybeApplied: as for `increment`.
        """
        request = Append(row, pieces, *self._nonce(), sync)
        return self._caller.on_row(self.name, row, request)

    def append_cells(
        self, row: bytes, pieces: Sequence[tuple[str, bytes, bytes]], *, sync: bool = False
    ) -> list[Cell]:
        """Append bytes to cells of a row; as `append`, with the timestamps that the server gave."""
        request = AppendCells(row, pieces, *self._nonce(), sync)
        answer: Any = self._caller.on_row(self.name, row, request)
        return list(answer)

    def _nonce(self) -> tuple[int, int]:
        return secrets.randbits(62) + 1, self._nonce_group

    def check_and_mutate(
        self,
        row: bytes,
        family: str,
        qualifier: bytes,
        operator: str,
        value: bytes | None,
        cells: Sequence[Cell],
        *,
        sync: bool = False,
    ) -> bool:
        """Apply cells to a row if *cell OPERATOR value* holds, with nothing in between.

        Args:
            row: the row key.
            family: of the cell that is compared.
            qualifier: its column.
            operator: one of = != < <= > >=.
            value: None with `=` if the cell must be absent or empty, with `!=` if it must not be.
            cells: puts and deletes.
            sync: whether they are on the servers' disks when the call returns.

        Returns:
            Whether it held.

        Raises:
            MaybeApplied: the answer was lost; asked again it could fail because it was applied.
        """
        request = CheckAndMutate(row, family, qualifier, operator, value, cells, sync)
        return self._caller.on_row(self.name, row, request)

    def __repr__(self) -> str:
        return f"<table {self.name}>"


class _AnyFamily(frozenset[str]):
    """The families of a table that was not asked: it knows best."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and bool(name)


ANY_FAMILY = _AnyFamily()
CLOCK_S = 0.002
"""Seconds after which a server's clock, which counts milliseconds, surely shows another time."""


def _hides_what_follows(mutation: RowCells) -> bool:
    """Whether it deletes as of now: a put of the same millisecond would not be seen."""
    return any(cell.kind != Kind.PUT and cell.timestamp == LATEST for cell in mutation.cells)


def _not_sent(
    wave: Sequence[RowCells], numbers: Sequence[int], lost: set[bytes], failures: list[Failure]
) -> list[Failure]:
    """What was not sent, for an earlier change of the same row has failed."""
    why = {failure.row: failure for failure in failures}
    return [
        why[one.row]._replace(index=number)
        for one, number in zip(wave, numbers, strict=True)
        if one.row in lost
    ]


META = "hbase:meta"
"""The table of all regions; it may be read like any other."""
