"""Scan a table: read its rows one by one or by blocks, as dictionaries or as Arrow columns."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import ExitStack
from copy import copy
from importlib import import_module
from itertools import islice
from operator import itemgetter
from typing import Any

from rowkey.array_libraries import pa
from rowkey.errors import NotSupported, ReadError, RowError
from rowkey.messages import format_value
from rowkey.open_file_limit import explain_shortage
from rowkey.plan import yield_group_sizes
from rowkey.rows import UNDECLARED_NAME, UndeclaredCells
from rowkey.table.scans.blocks import (
    batch_rows,
    build_schema,
    count_rows,
    read_blocks,
    resize_batches,
)
from rowkey.table.scans.merge import ScanItem
from rowkey.table.scans.row_sort import select_first_rows
from rowkey.table.scans.scan_ranges import count_rows_outside, read_items
from rowkey.table.scans.scan_state import ScanState, to_row_dicts
from rowkey.table.scans.undecodable_rows import UndecodableRows, add_skip_hint


def import_frame_library(name: str) -> Any:
    """Return a library of data frames.

    Raises:
        NotSupported: it is not installed.
    """
    try:
        return import_module(name)
    except ImportError:
        what = f"{name} is not installed"
        raise NotSupported(f"to_{name}", what, remedy=f"pip install {name}.") from None


class Scan(ScanState):
    """The rows that meet some conditions, read while they are iterated.

    Iterating gives rows as dictionaries, or as instances of `into`; `to_arrow` and `batches` give
    columns. It can be iterated again: each time it reads the table as it then is. Its arguments are
    those of `ScanState`.
    """

    def count_undeclared(self) -> None:
        """Count undeclared cells too, of the table that is read: it may be a companion."""
        self.counts_undeclared = True
        self._bind_state(self.state)

    @property
    def column_names(self) -> list[str]:
        """The names in each row: the fields, then undeclared cells if they are returned."""
        return [*self.fields, *([UNDECLARED_NAME] if self.returns_undeclared else [])]

    @property
    def schema(self) -> pa.Schema:
        """The schema of its batches: each field, then undeclared cells if they are returned."""
        return build_schema(self)

    def _begin_read(self) -> None:
        """Begin to read at the start or the resume token, under the current state of the table."""
        state = self._read_state()
        if state is not self.state:
            self._bind_state(state)
        self.start_token = self.last_item = self._parsed_token
        self.was_stopped = False
        self.restart_summaries()

    def restart_summaries(self) -> None:
        """Forget what was counted, because rows are read again from the first one.

        If the first rows of all are read, those under keys that no row of the design can have count
        at once; with a limit, as many of each range of such keys.
        """
        self.undeclared_cells.clear()
        self.undecodable_rows.forget_after(0)
        self._last_row = None
        is_first_of_all = self.start_token is None and not self.bound_read.bounds
        if is_first_of_all and self.needs_summaries and self.limit != 0:
            count_rows_outside(self)

    @property
    def token(self) -> str | None:
        """A text that resumes the scan after the last row, or the last batch, that it returned.

        None before its first row, and if rows are sorted or a salt is not first in the key.
        """
        last = self.last_item
        return None if last is None or not self.can_resume else str(self._build_token(last))

    def __iter__(self) -> Iterator[Any]:
        rows = self.read_dicts()
        return rows if self.is_dict else map(self.make_row, rows)

    def first(self) -> Any:
        """Return the first row, or None; no more is read or counted, and `token` does not move."""
        one = copy(self)
        one.undeclared_cells, one.undecodable_rows = UndeclaredCells(), UndecodableRows()
        one.limit = 1 if self.limit is None else min(self.limit, 1)
        return next(iter(one), None)

    @explain_shortage
    def count(self) -> int:
        """Return how many rows there are; `token` does not move.

        Cost: that of reading columns, or rows if the key has a salt or events share rows.
        """
        one = copy(self)
        one._begin_read()  # noqa: SLF001 - a copy, so that the token stays
        if one.limit is None and one.is_faster_by_blocks:
            if (count := count_rows(one)) is not None:
                return count
            one.resume_after(None)
            one.restart_summaries()
            return sum(1 for _ in one.read_remaining_rows(None))
        return sum(1 for _ in one.read_dicts())

    @explain_shortage
    def to_arrow(self) -> pa.Table:
        """Return all rows as one Arrow table, in the same order, in the types of the fields.

        Cost: 0.3 to 1 µs a row, most of it the engine's; all rows are in memory.
        """
        self._begin_read()
        batches = list(self._read_all_batches())
        if batches and not self.returns_undeclared:  # else the last item is that of the last row
            self.last_item = batches[-1]
        return pa.Table.from_batches(batches, build_schema(self))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the rows as an Arrow stream, which polars, DuckDB and `load` of a table read."""
        reader = pa.RecordBatchReader.from_batches(build_schema(self), self.batches())
        return reader.__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Any:
        """Return all rows as a pandas DataFrame, in the same order.

        Raises:
            NotSupported: pandas is not installed.

        Cost: as `to_arrow`, and a copy of the rows.
        """
        import_frame_library("pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """Return all rows as a polars DataFrame, in the same order.

        Raises:
            NotSupported: polars is not installed.
        """
        return import_frame_library("polars").from_arrow(self.to_arrow())

    def batches(self, rows: int = 65_536) -> Iterator[pa.RecordBatch]:
        """Yield the rows as Arrow batches, in the same order, read while they are iterated.

        Args:
            rows: the maximum number of rows of a batch.

        Cost: as `to_arrow`; one batch is in memory, and of each range a block or two, which grow
            to 8,192 rows.
        """
        if type(rows) is not int or rows < 1:
            what = f"{format_value(rows)} is not a number of rows of a batch"
            raise ReadError("argument rows", what, "a whole number, 1 or more")
        return self._read_batches(rows)

    @explain_shortage
    def _read_batches(self, rows: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows as Arrow batches, and move the token after each batch."""
        self._begin_read()
        if self.returns_undeclared:
            # The token is that of the last row that was read, so that no row is read ahead.
            yield from batch_rows(self, self.read_remaining_rows(self.limit), rows)
            return
        for batch in resize_batches(self._read_all_batches(), rows):
            self.last_item = batch
            yield batch

    def _read_all_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows as batches, in order, decoded by blocks if that is faster."""
        if self.is_faster_by_blocks:
            return self._read_blocks(self.limit)
        return batch_rows(self, self.read_remaining_rows(self.limit))

    def _read_blocks(self, limit: int | None) -> Iterator[pa.RecordBatch]:
        """Yield the rows as batches, decoded by blocks until the bucket counts have changed.

        The remaining rows are then read one by one. What the scan counts is counted again at the
        end, as blocks were read that were not returned.
        """
        is_cut, rows_left = yield from read_blocks(self, limit)
        if is_cut:
            yield from batch_rows(self, self.read_remaining_rows(rows_left))
            if self.needs_summaries:
                self.count()

    def _read_block_rows(self, limit: int | None) -> Iterator[dict[str, Any]]:
        """Yield the rows as dictionaries, decoded by blocks."""
        for rows in self._read_blocks(limit):
            yield from to_row_dicts(self, rows)

    @explain_shortage
    def read_dicts(self) -> Iterator[dict[str, Any]]:
        """Yield the rows as dictionaries, whatever `into` is, in the requested order."""
        self._begin_read()
        yield from self.read_remaining_rows(self.limit)

    @explain_shortage
    def read_stored_rows(self) -> Generator[tuple[ScanItem, dict[str, Any]], None, None]:
        """Yield the rows in the order of the key, each with the cells that it is stored in."""
        self._begin_read()
        with ExitStack() as opened:
            yield from islice(self._read_matching_rows(opened), self.limit)

    def read_remaining_rows(self, limit: int | None) -> Iterator[dict[str, Any]]:
        """Yield the rows after the start token as dictionaries, in the requested order."""
        if limit == 0:
            return
        if self.needs_sort:
            yield from select_first_rows(
                self._read_unsorted_rows(), self.bound_read.order, self.fields, limit
            )
        elif self._is_block_read(limit):
            for row in self._read_block_rows(limit):
                self.last_item = row
                yield row
        else:
            with ExitStack() as opened:
                for item, row in islice(self._read_matching_rows(opened), limit):
                    self.last_item = item
                    yield row

    def _read_unsorted_rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows that meet every condition in any order, for sorting."""
        if self._is_block_read(None):
            yield from self._read_block_rows(None)
            return
        with ExitStack() as opened:
            yield from map(itemgetter(1), self._read_matching_rows(opened))

    def _read_matching_rows(self, stack: ExitStack) -> Iterator[tuple[ScanItem, dict[str, Any]]]:
        """Yield the rows that meet every condition, in the order of the key, with their items.

        Raises:
            RowError: a row cannot be decoded, and such rows are not left out.
        """
        try:
            yield from self._filter_rows(stack)
        except RowError as problem:
            raise add_skip_hint(problem) from None

    def _filter_rows(self, stack: ExitStack) -> Iterator[tuple[ScanItem, dict[str, Any]]]:
        """Yield the rows that meet every condition, with their items.

        They are read in groups, the first of one row, then larger ones. A group that was not read
        before the bucket counts changed is read again: rows of it may have been moved meanwhile.
        """
        last: ScanItem | None = None
        items = read_items(self, stack)
        for size in yield_group_sizes(None if self.needs_sort else self.limit):
            left_out_count = self.undecodable_rows.row_count
            some = list(islice(items, size))
            if self.is_outdated:
                stack.close()
                self.undecodable_rows.forget_after(left_out_count)
                self.resume_after(last)
                yield from self._filter_rows(stack)
                return
            if not some:
                return
            for item, row in self.decode_items(some):
                if not self.residual or self.residual(row):
                    yield item, row
            last = some[-1]
            if self.should_stop is not None and self.should_stop():
                self.was_stopped, self.last_item = True, last
                return
