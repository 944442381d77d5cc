"""What a scan reads under one state of its table, and how its rows are decoded and counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from rowkey.array_libraries import pa
from rowkey.engines import Reader
from rowkey.errors import ReadError, RowError, Unavailable
from rowkey.keys import build_field_column
from rowkey.messages import format_value
from rowkey.plan import BoundRead, ResidualFilter
from rowkey.rows import (
    RowWithUndeclared,
    UndeclaredCells,
    check_undeclared_name,
    decode_event_columns,
    select_decodable_rows,
    select_undeclared_rows,
)
from rowkey.schema import Value
from rowkey.table.row_classes import build_row_factory
from rowkey.table.scans.merge import ScanItem
from rowkey.table.scans.scan_token import ScanToken, compute_digest, parse_token
from rowkey.table.scans.undecodable_rows import UndecodableRows, add_skip_hint

if TYPE_CHECKING:
    from rowkey.keys import Field
    from rowkey.table.generations.generation_tracker import GenerationState, GenerationTracker

MIN_ROWS_FOR_BLOCKS = 512
"""Rows of each range from which decoding by blocks is worth its fixed cost of 0.5 ms. Measured."""
MAX_RANGES_FOR_BLOCKS = 64
"""Most ranges for which rows are decoded by blocks: with more, the first row comes too late."""
MAX_RANGES_FOR_COLUMNS = 256
"""Most ranges for which columns are decoded by blocks: with more, rows one by one cost less."""
MAX_THREADS = 256
"""Most threads of one scan."""


def check_limit(limit: object) -> None:
    """Raise unless a limit is a number of rows, or None.

    Raises:
        ReadError: the limit is neither.
    """
    if limit is not None and (type(limit) is not int or limit < 0):
        what = f"{format_value(limit)} is not a number of rows"
        raise ReadError("argument limit", what, "a whole number, 0 or more")


class RowLookup(NamedTuple):
    """Finds the rows of a main table that those of an index lead to.

    Args:
        fields: the fields of the main table.
        get_rows: returns the rows with the given key fields; None for each missing row.
    """

    fields: Mapping[str, Field]
    get_rows: Callable[[Sequence[Mapping[str, Any]]], list[dict[str, Any] | None]]


class ScanState:
    """What a scan reads: its plan under a state of the table, where it begins, what it counts.

    Args:
        state: the state of the table.
        reader: the engine's table, or a snapshot of it.
        bound_read: the conditions and the order, bound.
        limit: the maximum number of rows, or None.
        resume: the token of an earlier scan with the same conditions and order.
        into: the class of each row.
        threads: how many ranges are read at the same time, where rows are decoded by blocks.
        undeclared: whether rows have their undeclared cells, and rows of such cells come as well.
        count_undeclared: whether undeclared cells are counted while rows are read.
        skip_undecodable: whether rows that cannot be decoded are left out and counted.
        token_table: the table's name, if it is one of several that may serve a read.
        tracker: reads the state again each time the scan is iterated; None if it stays.
        follows_table: whether the reader shows later writes, and not the table at one moment: then
            the scan continues in other places once the table's bucket counts have changed.
        lookup: finds the rows that are returned, if the table is an index; then each row is as it
            is when it is found, and one that is not in the main table does not count.
    """

    def __init__(
        self,
        state: GenerationState,
        reader: Reader,
        bound_read: BoundRead,
        *,
        limit: int | None = None,
        resume: str | None = None,
        into: type[Any] = dict,
        threads: int = 1,
        undeclared: bool = False,
        count_undeclared: bool = False,
        skip_undecodable: bool = False,
        token_table: str = "",
        tracker: GenerationTracker | None = None,
        follows_table: bool = False,
        lookup: RowLookup | None = None,
    ) -> None:
        check_limit(limit)
        if resume is not None and not isinstance(resume, str):
            what = f"{format_value(resume)} is not a token"
            raise ReadError("argument resume", what, "the `token` of an earlier scan")
        if type(threads) is not int or not 1 <= threads <= MAX_THREADS:
            what = f"{format_value(threads)} is not a number of threads"
            raise ReadError("argument threads", what, f"a whole number from 1 to {MAX_THREADS}")
        self.tracker = tracker
        self.reader = reader
        self.bound_read = bound_read
        self.limit = limit
        self.threads = threads
        self.token_table = token_table
        self.follows_table = follows_table
        self.lookup = lookup
        self.should_stop: Callable[[], bool] | None = None
        """Called now and then while rows are looked for; if it returns True, the scan ends there,
        and the token continues after the last row that it has looked at."""
        self.was_stopped = False
        """Whether `should_stop` has ended the scan."""
        self.returns_undeclared = undeclared
        self.counts_undeclared = count_undeclared or undeclared
        self.skips_undecodable = skip_undecodable
        self.undeclared_cells = UndeclaredCells()
        """The undeclared cells of the rows that were read so far, if they are counted: of those
        that `undeclared=True` would return."""
        self.undecodable_rows = UndecodableRows()
        """The rows that were left out so far because they cannot be decoded. Those under the key of
        a retired bucket count are no error, nor are those outside of all keys of the design, which
        a scan without conditions adds, with summaries."""
        self._last_row: bytes | None = None
        """The identity of the last row with cells of no event: more of them may be read later."""
        self._lock = Lock()
        self.make_row = build_row_factory(into)
        self.is_dict = into is dict
        self._resume_token = resume
        self._bind_state(state)

    def _read_state(self) -> GenerationState:
        return self.state if self.tracker is None else self.tracker.get_state()

    def _bind_state(self, state: GenerationState) -> None:
        """Plan the read under a state of the table, and check its resume token."""
        self.state = state
        self.design = design = state.combined_design
        self.fields = design.fields if self.lookup is None else self.lookup.fields
        if self.returns_undeclared:
            check_undeclared_name(self.fields)
        bounds = self.bound_read.bounds
        self.plan = state.planner.plan(bounds, self.bound_read.order)
        # What is no row of the design may lie in the ranges of a read and not meet its conditions.
        tested_fields = [*bounds] if self.counts_undeclared else self.plan.residual_fields
        self.residual = ResidualFilter(tested_fields, bounds, self.fields)
        self.own_residual = self.residual
        """The conditions on the fields of the table that is read; of an index they are some."""
        if self.lookup is not None:
            own_fields = [name for name in tested_fields if name in design.fields]
            self.own_residual = ResidualFilter(own_fields, bounds, design.fields)
        self.copy_matcher = state.find_copy_matcher(self.plan.merge_prefix_count)
        self.rank_item = state.rank_item if state.has_several_counts else None
        self.needs_sort = self.plan.needs_sort
        self._can_count_pages = (
            self.counts_undeclared
            and not self.returns_undeclared
            and design.layout.has_shared_rows
            and len(state.writer.store.families_and_attributes[0]) == 1
        )
        """Whether pages of shared rows show what is to be counted of each event."""
        self.rereads_row = design.layout.has_shared_rows or design.key.is_salted
        """Whether the row of a token is read again, because copies or events of it may follow."""
        resume = self._resume_token
        if resume is not None and not self.can_resume:
            what = "the row key does not give the requested order, so the scan cannot be resumed"
            if state.has_several_counts and not self.needs_sort:
                what = (
                    "the number of buckets was changed, and rows with different numbers have no "
                    "common order, so the scan cannot be resumed"
                )
            remedy = "Scan without resume, from the first row."
            raise ReadError("argument resume", what, remedy=remedy)
        self._parsed_token: ScanToken | None = None
        if resume is not None:
            self._parsed_token = parse_token(resume, self.compute_read_digest(), self.token_table)
        self.start_token = self._parsed_token
        self.last_item: Any = self.start_token
        """The last row that was returned: its item, itself, or its batch; at first the token."""

    def compute_read_digest(self) -> str:
        """Return the digest of the conditions, the order and the key, which a token contains."""
        merged = self.plan.merge_prefix_count
        key = self.state.format_key_without_counts(merged)
        return compute_digest(self.bound_read.bounds, self.bound_read.order, key, merged)

    @property
    def can_resume(self) -> bool:
        """Whether a token can resume the scan after its last row."""
        return not (self.needs_sort or self.copy_matcher.is_scattered)

    @property
    def is_outdated(self) -> bool:
        """Whether the bucket counts of the table have changed since the scan began to read it."""
        return self.follows_table and self._read_state() is not self.state

    def resume_after(self, last_item: ScanItem | dict[str, Any] | None) -> None:
        """Plan the read of the remaining rows under the current state of the table.

        Args:
            last_item: the last item or row that was returned; None if none was.

        Raises:
            Unavailable: its rows are not in one order any more.
        """
        start = self.start_token if last_item is None else self._build_token(last_item)
        merged = self.plan.merge_prefix_count
        tokens, self._resume_token = (self._resume_token, self._parsed_token), None
        self._bind_state(self._read_state())
        self._resume_token, self._parsed_token = tokens
        if self.copy_matcher.is_scattered or self.plan.merge_prefix_count != merged:
            what = (
                "the number of buckets was changed during the scan, so the remaining rows have no "
                "common order"
            )
            remedy = "Scan the table again, from the first row."
            raise Unavailable(f"table {self.design.table}", what, remedy=remedy)
        self.start_token = self.last_item = start

    @property
    def is_reverse(self) -> bool:
        """Whether the table is read backwards."""
        return self.plan.is_backwards

    @property
    def is_paged(self) -> bool:
        """Whether rows that several events share are read in pages of cells.

        The cells of each event must be neighbours in the order of the read: they are in one family
        and are read forward. Undeclared cells of an event may be in all families of the table.
        """
        layout = self.design.layout
        if not (layout.has_shared_rows and layout.has_one_family) or self.is_reverse:
            return False
        return not self.counts_undeclared or self._can_count_pages

    def _build_token(self, last_item: Any) -> ScanToken:
        """Return the token that resumes the scan after an item, a row or a batch."""
        read_digest = self.compute_read_digest()
        if isinstance(last_item, ScanItem | ScanToken):
            return ScanToken(
                read_digest,
                last_item.suffix,
                last_item.qualifier_prefix,
                last_item.common_prefix,
                self.token_table,
            )
        if not isinstance(last_item, dict):
            (last_item,) = to_row_dicts(self, last_item.slice(last_item.num_rows - 1))
        layout = self.design.layout
        key = layout.key.encode(last_item, salt=0)
        prefix = next(one.prefix for one in self.plan.ranges if one.has_key(key))
        qualifier_prefix = (
            b"" if layout.qualifier_prefix is None else layout.qualifier_prefix.encode(last_item)
        )
        common, _ = self.copy_matcher.split_prefix(prefix)
        return ScanToken(
            read_digest, key[len(prefix) :], qualifier_prefix, common, self.token_table
        )

    @property
    def can_read_blocks(self) -> bool:
        """Whether rows can be decoded by blocks, in the requested order.

        Not if copies must be joined, or events of shared rows be merged or reversed.
        """
        return self._can_decode_blocks and not self.needs_sort

    @property
    def is_faster_by_blocks(self) -> bool:
        """Whether columns are decoded faster by blocks than row by row."""
        return (
            self.can_read_blocks
            and self.plan.fan_out <= MAX_RANGES_FOR_COLUMNS
            and self._is_large_read(self.limit)
        )

    @property
    def _can_decode_blocks(self) -> bool:
        """Whether rows can be decoded by blocks, in any order."""
        if self.design.key.is_salted or self.state.has_several_counts or self.lookup is not None:
            return False
        if not self._can_summarize_blocks:
            return False
        if self.should_stop is not None:  # no block says how far the scan is if no row of it counts
            return False
        is_one = self.plan.fan_out == 1 and not self.is_reverse and self.start_token is None
        return is_one or not self.design.layout.has_shared_rows

    @property
    def _can_summarize_blocks(self) -> bool:
        """Whether blocks show what is to be counted: no row of them is beyond a limit."""
        has_shared_rows = self.design.layout.has_shared_rows
        if self.skips_undecodable and has_shared_rows:
            return False
        if not self.counts_undeclared:
            return True
        if self.limit is not None or self.returns_undeclared:
            return False
        return not has_shared_rows or self._can_count_pages

    def _is_block_read(self, limit: int | None) -> bool:
        """Return whether to read rows by blocks: faster for many rows, but the first is later."""
        is_soon = self.plan.fan_out <= MAX_RANGES_FOR_BLOCKS
        return self._can_decode_blocks and is_soon and self._is_large_read(limit)

    def _is_large_read(self, limit: int | None) -> bool:
        """Return whether each range is expected to give enough rows for blocks."""
        return limit is None or limit >= MIN_ROWS_FOR_BLOCKS * self.plan.fan_out

    @property
    def needs_summaries(self) -> bool:
        """Whether more is wanted of rows than their fields."""
        return self.counts_undeclared or self.skips_undecodable

    @property
    def needs_decodable_keys(self) -> bool:
        """Whether rows whose keys cannot be decoded are left out before rows are merged."""
        if not self.state.retired_designs:
            return self.skips_undecodable
        has_shared_rows = self.design.layout.has_shared_rows
        return self.skips_undecodable or has_shared_rows or self.copy_matcher.is_scattered

    def leave_row_out(self, row_key: bytes, problem: RowError) -> None:
        """Count a row that cannot be decoded as one that is left out.

        Raises:
            RowError: such rows are not left out, and no retired bucket count gives its key.
        """
        if not (self.skips_undecodable or self.state.has_retired_key(row_key)):
            raise problem
        self.undecodable_rows.add(row_key, problem)

    def decode_items(self, items: Sequence[ScanItem]) -> Iterator[tuple[ScanItem, dict[str, Any]]]:
        """Return the rows in some items that were read, with their items; of an index see `lookup`.

        Raises:
            RowError: a row cannot be decoded, and such rows are not left out.
        """
        decode = self._decode_one_by_one if self.needs_summaries else self._decode_together
        return decode(items) if self.lookup is None else self._find_rows(decode(items))

    def _find_rows(
        self, decoded: Iterable[tuple[ScanItem, dict[str, Any]]]
    ) -> Iterator[tuple[ScanItem, dict[str, Any]]]:
        """Yield the rows of the main table that rows of this index lead to, with their items.

        Only those that meet the conditions on the fields of the index are looked up.
        """
        assert self.lookup is not None
        found = [one for one in decoded if not self.own_residual or self.own_residual(one[1])]
        rows = self.lookup.get_rows([values for _, values in found])
        for (item, _), row in zip(found, rows, strict=True):
            if row is not None:
                yield item, row

    def _decode_together(
        self, items: Sequence[ScanItem]
    ) -> Iterator[tuple[ScanItem, dict[str, Any]]]:
        """Return the rows of items with their items."""
        decode = self.design.layout.event_reader.decode_rows
        rows: Iterable[list[dict[str, Any]]]
        rows = decode([one.row for one in items], [one.cells for one in items])
        if self.state.retired_designs:
            try:
                rows = list(rows)
            except RowError:
                return self._decode_one_by_one(items)
        return ((item, row) for item, some in zip(items, rows, strict=True) for row in some)

    def _decode_one_by_one(
        self, items: Sequence[ScanItem]
    ) -> Iterator[tuple[ScanItem, dict[str, Any]]]:
        """Yield the rows of items, count undeclared cells, and leave out what cannot be decoded."""
        layout = self.design.layout
        for item in items:
            try:
                if self.counts_undeclared:
                    rows = layout.event_reader.decode_with_undeclared(item.row, item.cells)
                else:
                    events = layout.decode_events(item.row, item.cells)
            except RowError as problem:
                self.leave_row_out(item.row, problem)
                continue
            if self.counts_undeclared:
                events = list(self._count_rows(item.row, rows))
            for row in events:
                yield item, row

    def _count_row(self, row_key: bytes, row: RowWithUndeclared, summary: UndeclaredCells) -> None:
        """Add the undeclared cells of a row to a summary, if it meets the conditions."""
        is_rest = False
        if row.event_prefix is None:
            identity = self.copy_matcher.extract_identity(row_key)
            is_rest, self._last_row = identity == self._last_row, identity
        if row.cells and (not self.own_residual or self.own_residual(row.values)):
            prefixes = {row.event_prefix or b""} if row.is_declared else ()
            summary.add_row(row_key, row.cells, prefixes, is_rest=is_rest)

    def _count_rows(
        self, row_key: bytes, rows: Sequence[RowWithUndeclared]
    ) -> Iterator[dict[str, Any]]:
        """Count the undeclared cells of rows that meet the conditions; yield those to return."""
        for row in rows:
            self._count_row(row_key, row, self.undeclared_cells)
            if self.returns_undeclared:
                yield row.build_row()
            elif row.is_declared:
                yield row.values

    def decode_block(self, block: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows in the cells of a block, and count what they have beyond the design.

        Raises:
            RowError: a row cannot be decoded, and such rows are not left out.
        """
        layout = self.design.layout
        try:
            rows = decode_event_columns(layout, block)
        except RowError as problem:
            if not (self.skips_undecodable or self.state.retired_designs):
                raise add_skip_hint(problem) from None
            with self._lock:
                block = self._select_decodable_rows(block)
            rows = decode_event_columns(layout, block)
        if self.counts_undeclared:
            undeclared = self._summarize_block(block)
            with self._lock:  # threads may read ranges at the same time
                self.undeclared_cells.merge(undeclared)
        return rows

    def _select_decodable_rows(self, block: pa.RecordBatch) -> pa.RecordBatch:
        """Return the cells of a block whose rows can be decoded; count the other rows."""
        try:
            return select_decodable_rows(self.design.layout, block, self.leave_row_out)
        except RowError as problem:
            raise add_skip_hint(problem) from None

    def _summarize_block(self, block: pa.RecordBatch) -> UndeclaredCells:
        """Return the undeclared cells of those rows of a block that meet the conditions."""
        layout, summary = self.design.layout, UndeclaredCells()
        found = select_undeclared_rows(layout, block)
        if not self.residual and not layout.has_shared_rows:
            return layout.count_undeclared_cells(found)
        for row_key, cells in found:
            for row in layout.event_reader.decode_with_undeclared(row_key, cells):
                self._count_row(row_key, row, summary)
        return summary


def to_row_dicts(scan: ScanState, rows: pa.RecordBatch) -> Iterator[dict[str, Value]]:
    """Return the rows of a batch as dictionaries of the fields' normal values."""
    fields = list(scan.fields.values())
    lists = [
        # Arrow's own texts and bytes are the field's normal values.
        column.to_pylist()
        if field.type.is_sequence
        else build_field_column(field, column).to_list()
        for field, column in zip(fields, rows.columns, strict=True)
    ]
    named = partial(zip, [field.name for field in fields])
    return map(dict, map(named, zip(*lists, strict=True)))
