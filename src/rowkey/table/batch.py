"""A buffer of row changes, sent a thousand at a time; a row that cannot be written is left out."""

from __future__ import annotations

from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rowkey.errors import BatchError, DesignRefused, RowError
from rowkey.messages import format_value
from rowkey.table.row_classes import merge_values, to_mapping
from rowkey.table.row_writer import RowWriter, builds_delete

if TYPE_CHECKING:
    from rowkey.table.joint_writes import WritableTable
    from rowkey.table.row_writer import ChangeBuilder

DEFAULT_BATCH_ROWS = 1_000
"""Changes that are sent together. Source: writes a second level off there; see the benchmarks."""
MAX_BATCH_BYTES = 4 << 20
"""Most bytes that are sent together, or one change. Source: a few MB a call in HBase."""
MAX_ERRORS_KEPT = 1_000
"""Errors that are remembered; further ones are counted."""


class Batch:
    """A bounded buffer of puts and deletes, sent when it is full and when the `with` block ends.

    A row that cannot be written is noted and left out; the others are written. When the block ends
    without another error, `BatchError` names every such row by its number in the batch.

    Args:
        table: the table that is written.
        rows: mutations that are sent together.
        sync: whether the rows are on disk each time they have been sent; None is as opened.
    """

    def __init__(
        self,
        table: WritableTable,
        rows: int = DEFAULT_BATCH_ROWS,
        *,
        sync: bool | None = None,
    ) -> None:
        if type(rows) is not int or not 1 <= rows <= 1_000_000:
            what = f"{format_value(rows)} is not a number of changes that can be sent together"
            raise RowError("argument rows", what, "a whole number from 1 to 1,000,000")
        self.table = table
        self.state = table.get_write_state()
        """The state of the table that all pending changes were built under."""
        self.rows = rows
        self.sync = sync
        self.pending_changes: list[tuple[int, Any]] = []
        self.mutation_count = 0
        self.waiting_rows: list[tuple[int, ChangeBuilder, dict[str, Any]]] = []
        """Rows of a key with ids of `code`: encoded together, so new values get ids at once."""
        self.size_bytes = 0
        self.row_count = 0
        self.errors: list[tuple[int, RowError]] = []
        self.error_count = 0

    def put(self, row: Any) -> None:
        """Add a row whose given fields are written; None deletes a field."""
        self._add_row(RowWriter.build_put, row)

    def replace(self, row: Any) -> None:
        """Add a row whose given fields are written and whose other fields are deleted."""
        self._add_row(RowWriter.build_replace, row)

    def delete(self, row: Any = None, /, **fields: Any) -> None:
        """Add the delete of a row, given as for `Table.delete`."""
        self._add_row(RowWriter.build_delete, merge_values(row, fields) if fields else row)

    def send(self) -> None:
        """Send the pending changes to the engine now."""
        self._update_state()
        if self.waiting_rows:
            self._encode_waiting_rows()
        pending, self.pending_changes = self.pending_changes, []
        self.size_bytes = self.mutation_count = 0
        if not pending:
            return
        try:
            sent_rows = self._apply_changes(pending)
        except RowError:
            # The engine has applied nothing: the wrong row is found by sending each by itself.
            sent_rows = []
            for number, change in pending:
                try:
                    sent_rows += self._apply_changes([(number, change)])
                except RowError as error:
                    self._note_error(number, error)
        self._repeat_missed(sent_rows)

    def _apply_changes(self, numbered_changes: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
        """Send changes; return the row number and the mutations of each."""
        changes = [change for _, change in numbered_changes]
        mutations_by_change = self.state.apply_changes(changes, sync=self.sync)
        numbers = [number for number, _ in numbered_changes]
        return list(zip(numbers, mutations_by_change, strict=True))

    def _repeat_missed(self, sent_rows: list[tuple[int, Any]]) -> None:
        """Write what the sent changes missed because the state has changed since they were encoded.

        The state is read also if there are none: the rows may be missing in a new companion.
        `Table._write_row` says why.
        """
        while (state := self.table.get_write_state()) is not self.state and sent_rows:
            earlier_state, self.state, repeated = self.state, state, []
            for number, mutations in sent_rows:
                written = earlier_state.split_mutations(mutations)
                try:
                    repeated.append((number, state.repeat_missed(written, sync=self.sync)))
                except RowError as error:
                    self._note_error(number, error)
            sent_rows = repeated

    def _update_state(self) -> None:
        """Read the table's state; rebuild the pending changes if the bucket counts have changed."""
        state = self.table.get_write_state()
        if state is self.state:
            return
        pending, earlier_state = self.pending_changes, self.state
        self.pending_changes, self.state = [], state
        for number, change in pending:
            changes = earlier_state.split_change(change)
            try:
                self.pending_changes.append((number, state.rebuild_change(changes)))
            except RowError as error:
                self._note_error(number, error)

    def _add_row(self, build_change: ChangeBuilder, row: Any) -> None:
        """Add the change of a row, or keep the row until new values get their ids together."""
        number = self.row_count
        self.row_count += 1
        self._update_state()
        if not self.state.has_coded_fields:
            self._add_change(number, build_change, row)
            return
        try:
            values = dict(to_mapping(row))
        except RowError as error:
            self._note_error(number, error)
            return
        self.waiting_rows.append((number, build_change, values))
        for value in values.values():
            if type(value) is str or type(value) is bytes:
                self.size_bytes += len(value)
        if len(self.waiting_rows) >= self.rows or self.size_bytes >= MAX_BATCH_BYTES:
            self.send()

    def _encode_waiting_rows(self) -> None:
        """Encode the rows that wait for ids of `code`; new values get their ids at once."""
        with suppress(RowError):  # the change of each row reports its own error
            self.state.assign_ids(
                [
                    values
                    for _, build_change, values in self.waiting_rows
                    if not builds_delete(build_change)
                ]
            )
        waiting_rows, self.waiting_rows, self.size_bytes = self.waiting_rows, [], 0
        for number, build_change, values in waiting_rows:
            self._add_change(number, build_change, values)

    def _add_change(self, number: int, build_change: ChangeBuilder, row: Any) -> None:
        """Build the change of a row, and send all pending changes if the buffer is full."""
        try:
            change = self.state.build_change(build_change, row)
        except DesignRefused:
            raise
        except RowError as error:
            self._note_error(number, error)
            return
        if not change.mutations:
            return
        self.pending_changes.append((number, change))
        self.mutation_count += len(change.mutations)
        for mutation in change.mutations:
            self.size_bytes += sum(len(cell.value) + 40 for cell in mutation.cells)
        if self.mutation_count >= self.rows or self.size_bytes >= MAX_BATCH_BYTES:
            self.send()

    def _note_error(self, number: int, error: RowError) -> None:
        """Note that a row of the batch cannot be written, and why."""
        self.error_count += 1
        if len(self.errors) < MAX_ERRORS_KEPT:
            self.errors.append((number, error))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Send the pending changes, also after an error: rows put before it are written."""
        self.send()
        if error is None and self.errors:
            raise BatchError(self.errors, self.error_count, self.row_count)
