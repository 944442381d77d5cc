"""Read and write the rows of one table of a cluster."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import get_args

from rowkey.cells import (
    LATEST,
    Cell,
    CellBlock,
    CellType,
    RowCells,
    check_mutation,
    find_table_name_mistakes,
)
from rowkey.errors import InvalidArgument
from rowkey.hbase.action_batch import RowActionBatch, run_batch, split_into_waves
from rowkey.hbase.argument_shapes import check_instance, check_list
from rowkey.hbase.errors import FailedAction, PartialBatchFailure
from rowkey.hbase.read_spec import ALL_COLUMNS, ReadSpec, ScanSpec
from rowkey.hbase.requests.multi import Action, Outcome, RowRequest
from rowkey.hbase.requests.row_reads import Exists, Get
from rowkey.hbase.requests.row_writes import (
    Append,
    CheckAndMutate,
    DeleteRow,
    Increment,
    NewCells,
    build_mutation,
)
from rowkey.hbase.retrying_caller import RetryingCaller
from rowkey.hbase.scanning import Scanner
from rowkey.hbase.wire.names import META_TABLE
from rowkey.messages import format_value

ALL_ROWS = ScanSpec()
"""All rows, with the newest version of every column."""


class HBaseTable:
    """One table, which any number of threads can read and write; `Client.table` returns it.

    Rows are `rowkey.cells.RowCells`, cells are `rowkey.cells.Cell`. A call returns when the servers
    have acknowledged it. It raises `InvalidRequest` at once, `OperationTimedOut` when the timeout
    of the operation has passed, and `PartialBatchFailure` if some of many actions failed.

    Args:
        caller: sends requests to the region servers and repeats them.
        name: `qualifier` or `namespace:qualifier`.

    Raises:
        InvalidArgument: the name is not valid for a table.
    """

    def __init__(self, caller: RetryingCaller, name: str) -> None:
        if name != META_TABLE:
            for mistake in find_table_name_mistakes(name):
                raise mistake
        self.name = name
        self._caller = caller
        self._nonce_group = secrets.randbits(62) + 1

    # Reading

    def get(self, row: bytes, read: ReadSpec = ALL_COLUMNS) -> RowCells:
        """Return the selected cells of one row; no cells if the row does not exist.

        Cost: one call.
        """
        return self._caller.call_row(self.name, row, Get(row, read))

    def get_many(self, rows: Sequence[bytes], read: ReadSpec = ALL_COLUMNS) -> list[RowCells]:
        """Return the selected cells of several rows, in the order of the row keys given.

        Cost: one call to each server for some thousand rows, all servers at once.
        """
        check_list("rows", rows, "row keys")
        return [
            found if isinstance(found, RowCells) else RowCells(row, [])
            for row, found in zip(
                rows, self.run_actions([Get(row, read) for row in rows]), strict=True
            )
        ]

    def exists(self, row: bytes, read: ReadSpec = ALL_COLUMNS) -> bool:
        """Return whether a row has any of the selected cells; no cell is transferred."""
        return self._caller.call_row(self.name, row, Exists(row, read))

    def scan(self, scan: ScanSpec = ALL_ROWS) -> Scanner:
        """Return a scanner of the rows of a range in key order; it prefetches one answer.

        The first call is sent before this method returns, so scans that are opened together run in
        parallel. When a region splits or moves, or its server dies, the scanner continues after the
        last row it returned.
        """
        check_instance("scan", scan, ScanSpec)
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
        """Write values by (family, qualifier) to one row, atomically.

        Args:
            row: the row key.
            values: one or more values.
            timestamp: milliseconds since 1970; `LATEST` for the server's current time.
            ttl_ms: milliseconds after which the values expire.
        """
        check_instance("values", values, Mapping)
        for column in values:
            check_instance("values", column, tuple)
            if len(column) != 2:
                what = f"{format_value(column)} is not the name of a column"
                raise InvalidArgument("values", what, "a tuple (family, qualifier)")
        self.mutate_row(
            row,
            [
                Cell(family, qualifier, timestamp, value, ttl_ms=ttl_ms)
                for (family, qualifier), value in values.items()
            ],
        )

    def mutate_row(self, row: bytes, cells: Sequence[Cell], *, sync: bool = False) -> None:
        """Apply puts and deletes to one row atomically.

        Args:
            row: the row key.
            cells: puts and deletes in the order in which they are applied.
            sync: whether they are on the servers' disks when the call returns; otherwise they are
                in the memory of every machine that stores the write-ahead log.
        """
        check_mutation(RowCells(row, cells))
        self._caller.call_row(self.name, row, build_mutation(row, cells, sync=sync))

    def delete(self, row: bytes, *, timestamp: int = LATEST) -> None:
        """Delete the cells of a row up to and including a timestamp."""
        self._caller.call_row(self.name, row, DeleteRow(row, timestamp))

    def mutate_rows(self, mutations: Sequence[RowCells], *, sync: bool = False) -> None:
        """Apply mutations of many rows, each atomically; those of one row in the order given.

        Cost: 2 µs for a put of one cell, and the servers' time; all servers in parallel.

        Raises:
            PartialBatchFailure: some mutations failed, which it lists; the others are applied.
        """
        check_list("mutations", mutations, "RowCells")
        for mutation in mutations:
            check_mutation(mutation)
        if len(mutations) == 1:
            row, cells = mutations[0]
            self._caller.call_row(self.name, row, build_mutation(row, cells, sync=sync))
            return
        failures: list[FailedAction] = []
        previous_wave: Sequence[RowCells] = ()
        for wave, numbers in split_into_waves(mutations):
            if any(map(_can_hide_puts, previous_wave)):
                time.sleep(CLOCK_TICK_S)
            failed_rows = {failure.row for failure in failures}
            sent_indexes = [index for index, one in enumerate(wave) if one.row not in failed_rows]
            batch = RowActionBatch(self.name, [wave[index] for index in sent_indexes], sync=sync)
            failures += (
                failure._replace(index=numbers[sent_indexes[failure.index]])
                for failure in run_batch(self._caller, batch)
            )
            failures += _build_unsent_failures(wave, numbers, failed_rows, failures)
            previous_wave = wave
        self._raise_failures(failures, len(mutations))

    def _raise_failures(self, failures: Sequence[FailedAction], count: int) -> None:
        """Raise `PartialBatchFailure` if any of `count` actions failed."""
        if failures:
            raise PartialBatchFailure(self.name, failures, count)

    def put_blocks(self, blocks: Sequence[CellBlock], *, sync: bool = False) -> None:
        """Write puts from Arrow columns; all blocks of one call have the same rows.

        Cost: 0.3 µs a cell, and the servers' time; all servers in parallel.

        Raises:
            InvalidArgument: a row cannot be stored; nothing is written.
            PartialBatchFailure: some rows failed, which it lists; the others are written.
        """
        from rowkey.hbase.arrow_put_batch import ArrowPutBatch, split_blocks_into_waves

        check_list("blocks", blocks, "CellBlock")
        for block in blocks:
            check_instance("blocks", block, CellBlock)
        failures: list[FailedAction] = []
        for wave, numbers in split_blocks_into_waves(blocks) if blocks else ():
            batch = ArrowPutBatch(self.name, wave, sync=sync, numbers=numbers)
            failures += run_batch(self._caller, batch)
        self._raise_failures(failures, len(blocks[0].rows) if blocks else 0)

    def run_actions(self, actions: Sequence[Action]) -> list[Outcome]:
        """Run many actions: writes (`RowCells`) and requests about one row.

        The server gets all actions of one row together and runs reads before writes; make several
        calls where their order matters.

        Returns:
            The outcome of each action in the order given; None for writes.

        Raises:
            PartialBatchFailure: some actions failed, which it lists; the others are done.
        """
        check_list("actions", actions, "RowCells and requests about one row")
        for action in actions:
            if isinstance(action, RowCells):
                check_mutation(action)
            else:
                check_instance("actions", action, get_args(RowRequest))
        batch = RowActionBatch(self.name, actions, self._nonce_group)
        self._raise_failures(run_batch(self._caller, batch), len(actions))
        return batch.outcomes

    def increment(
        self, row: bytes, amounts: Sequence[tuple[str, bytes, int]], *, sync: bool = False
    ) -> list[int]:
        """Add to counters of one row atomically and return their new values in the order given.

        A counter is an 8-byte big-endian signed number; a missing one counts from 0. A nonce keeps
        the server from adding twice when the call is repeated, also after a server died.

        Raises:
            MaybeApplied: the answer was lost and the region has moved since then.
        """
        request = Increment(row, amounts, *self._generate_nonce(), sync)
        return self._caller.call_row(self.name, row, request)

    def increment_cells(
        self,
        row: bytes,
        amounts: Sequence[tuple[str, bytes, int]],
        *,
        sync: bool = False,
        check_send: Callable[[], float] | None = None,
    ) -> list[Cell]:
        """Add to counters as `increment` does, and return the new cells with their timestamps."""
        request = NewCells(Increment(row, amounts, *self._generate_nonce(), sync))
        return self._caller.call_row(self.name, row, request, check_send=check_send)

    def append(
        self, row: bytes, pieces: Sequence[tuple[str, bytes, bytes]], *, sync: bool = False
    ) -> list[bytes]:
        """Append bytes to cells of one row atomically and return the new values.

        Raises:
            MaybeApplied: as for `increment`.
        """
        request = Append(row, pieces, *self._generate_nonce(), sync)
        return self._caller.call_row(self.name, row, request)

    def append_cells(
        self,
        row: bytes,
        pieces: Sequence[tuple[str, bytes, bytes]],
        *,
        sync: bool = False,
        check_send: Callable[[], float] | None = None,
    ) -> list[Cell]:
        """Append to cells as `append` does, and return the new cells with their timestamps."""
        request = NewCells(Append(row, pieces, *self._generate_nonce(), sync))
        return self._caller.call_row(self.name, row, request, check_send=check_send)

    def _generate_nonce(self) -> tuple[int, int]:
        """Return a random nonce and the nonce group of this table object."""
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
        check_send: Callable[[], float] | None = None,
    ) -> bool:
        """Apply cells to a row if *cell OPERATOR value* is true, and return whether it was.

        Check and write are one atomic step.

        Args:
            row: the row key.
            family: family of the cell that is compared.
            qualifier: qualifier of the cell that is compared.
            operator: one of = != < <= > >=.
            value: the value compared with the cell; None means "absent or empty" and goes with `=`
                and `!=` only.
            cells: puts and deletes.
            sync: whether they are on the servers' disks when the call returns.
            check_send: called before each time that the request is sent: returns the seconds within
                which it must be sent, or raises an error.

        Raises:
            MaybeApplied: the answer was lost; the call is not repeated, since the cell may be
                changed by now.
        """
        check_mutation(RowCells(row, cells))
        request = CheckAndMutate(row, family, qualifier, operator, value, cells, sync)
        return self._caller.call_row(self.name, row, request, check_send=check_send)

    def __repr__(self) -> str:
        return f"<table {self.name}>"


CLOCK_TICK_S = 0.002
"""Seconds after which a server's millisecond clock has certainly advanced."""


def _can_hide_puts(mutation: RowCells) -> bool:
    """Return whether a mutation deletes at the current time, which hides puts of that time."""
    return any(
        cell.cell_type != CellType.PUT and cell.timestamp == LATEST for cell in mutation.cells
    )


def _build_unsent_failures(
    wave: Sequence[RowCells],
    numbers: Sequence[int],
    failed_rows: set[bytes],
    failures: list[FailedAction],
) -> list[FailedAction]:
    """Return a failure for each mutation not sent because an earlier one of its row failed."""
    failures_by_row = {failure.row: failure for failure in failures}
    return [
        failures_by_row[one.row]._replace(index=number)
        for one, number in zip(wave, numbers, strict=True)
        if one.row in failed_rows
    ]
