"""The table class, which reads and writes rows as values of a design's fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar
from weakref import WeakKeyDictionary

from rowkey.catalog import Catalog, Lease
from rowkey.cells import LATEST, Cell, CellType, RowCells
from rowkey.design import Design
from rowkey.engines import Engine, Reader, RegionRequestCounts, Store
from rowkey.errors import ReadError, RowError
from rowkey.explanations import Explanation, explain_read
from rowkey.messages import format_value, suggest_name
from rowkey.plan import BoundRead, DeclaredRead, bind_read
from rowkey.progress import ReportProgress
from rowkey.schema import Condition
from rowkey.table.batch import DEFAULT_BATCH_ROWS, Batch
from rowkey.table.bulk_delete import BulkDelete, delete_scanned_rows
from rowkey.table.bulk_load import load_blocks
from rowkey.table.generations.bucket_change import BucketChange, BucketChangeResult
from rowkey.table.generations.bucket_counts import BucketCounts
from rowkey.table.generations.generation_tracker import GenerationState, GenerationTracker
from rowkey.table.joint_writes import WriteState
from rowkey.table.moves.move_follower import MoveFollower
from rowkey.table.read_modify_write import ReadModifyWrite
from rowkey.table.row_classes import build_row_factory, merge_values, to_mapping
from rowkey.table.row_writer import RowChange, RowWriter
from rowkey.table.scans import Scan, check_limit
from rowkey.workload import ArrowStreamable

if TYPE_CHECKING:
    from rowkey.table.row_writer import ChangeBuilder

    T = TypeVar("T")


class Table:
    """A table of a design on an engine; `rowkey.open` opens it.

    Rows are mappings, dataclasses or pydantic models of the design's fields. Several threads may
    use one table. A scan sees the table as it was when it began; on a cluster it sees each region
    as it was when the scan reached the region.

    Args:
        follower: the state of the table, which changes with its bucket counts and with moves.
        engine: the engine, closed with the table.
        catalog: where the design is kept, closed with the table.
    """

    def __init__(self, follower: MoveFollower, engine: Engine, catalog: Catalog) -> None:
        self.engine = engine
        self.catalog = catalog
        self.is_closed = False
        self.owns_engine = True
        """Whether the engine is closed with the table."""
        self.follower = follower
        self.companions: Mapping[str, Table] = {}
        """The open companions by name, to be read by themselves."""
        self.token_table = ""
        """The table's name in the tokens of its scans, if one of several tables serves a read."""
        self._snapshot_states: WeakKeyDictionary[Reader, GenerationState] = WeakKeyDictionary()
        """The state of the table that each snapshot is of."""

    def get_state(self) -> GenerationState:
        """Return the state under which rows are read; it waits while a move switches tables.

        Raises:
            Closed: the table was opened before this process was forked.
            Unavailable: the catalog was not reached for too long.
        """
        return self.follower.get_state()

    def get_write_state(self) -> WriteState:
        """Return the state under which rows are written, the same object while it is unchanged.

        It is of several tables where the table has companions, and during a move.

        Raises:
            Closed: the table was opened before this process was forked.
            Unavailable: the catalog was not reached for too long.
        """
        return self.follower.get_write_state()

    @property
    def tracker(self) -> GenerationTracker:
        """The state of the engine's table that is read."""
        return self.follower.primary_tracker

    @property
    def store(self) -> Store:
        """The engine's table that is read."""
        return self.tracker.store

    @property
    def lease(self) -> Lease:
        """The catalog entry of the table that is read, for as long as it may be used."""
        return self.tracker.lease

    @property
    def design(self) -> Design:
        """The table's design, with the counts that rows are written under."""
        return self.tracker.last_state.combined_design

    @property
    def writer(self) -> RowWriter:
        """The encoder of row changes, under the bucket counts that were last known."""
        return self.tracker.last_state.writer

    @property
    def declared_reads(self) -> Mapping[str, DeclaredRead]:
        """The declared reads by name."""
        return self.tracker.last_state.declared_reads

    def _write_row(self, build_change: ChangeBuilder, row: Any, *, sync: bool | None) -> None:
        """Write the change of one row; its deletes are made under every row key of the row.

        Between the computation of the row keys and the write, another client may have announced a
        generation and copied a cell to a new row key, or the mover may have begun to copy. So the
        state is read again after the write, and what the change missed is written too. If the state
        has not changed, no client wrote under another key or read another table before.

        Args:
            build_change: a method of `RowWriter` that builds the change.
            sync: whether it is on disk when the call returns; None is as opened.

        Raises:
            RowError: the row cannot be written.
            Closed: the table was opened before this process was forked.
            Unavailable: a table or the catalog was not reached for too long. If that was so only
                after the write, deleted cells may remain under row keys that other clients write by
                now.
        """
        state = self.get_write_state()
        change = state.build_change(build_change, row)
        if not change.mutations:
            return
        (mutations,) = state.apply_changes([change], sync=sync)
        while (current_state := self.get_write_state()) is not state:
            written = state.split_mutations(mutations)
            state = current_state
            mutations = state.repeat_missed(written, to_mapping(row), sync=sync)

    def _run_pinned(self, change: Callable[[ReadModifyWrite], T]) -> T:
        """Make one change that depends on the row's current values, and return its result."""
        return self.follower.run_pinned(change)

    def put(self, row: Any, *, sync: bool | None = None) -> None:
        """Write the given fields of a row; None deletes a field, a field left out keeps its value.

        Args:
            row: all fields of the key, and any others.
            sync: whether the row is on disk when the call returns; None is as opened.

        Raises:
            RowError: a field is missing or unknown, or has a value that its type does not allow.

        Cost: 5 to 15 µs on an embedded engine; a batch takes half of that.
        """
        self._write_row(RowWriter.build_put, row, sync=sync)

    def replace(self, row: Any, *, sync: bool | None = None) -> None:
        """Write the given fields of a row and delete all others, in one change.

        Undeclared cells stay; with a random salt in the key, those of the row's other copies go.
        """
        self._write_row(RowWriter.build_replace, row, sync=sync)

    def move(self, row: Any, /, **changes: Any) -> bool:
        """Change fields of a row's key: put the row under its new key, then delete the old row.

        Its undeclared cells are put under the new key as well; those of families that the design
        does not have stay. A crash in between leaves both rows, never none. If a field is the
        timestamp of the cells, changing it moves the row too. Then only the version of the old time
        is deleted: an older version that the family still keeps can be seen again, and a newer one
        hides a row that is moved to an earlier time.

        Args:
            row: the fields of the key, with their current values.
            changes: fields and their new values, of the key or not.

        Returns:
            Whether the row existed.
        """
        self.writer.require_known_fields(changes)
        old_row = self.get(row)
        if old_row is None:
            return False
        new_row = {**old_row, **changes}
        self.put(new_row)
        locate_row = self.get_state().locate_row
        if locate_row(new_row) != locate_row(old_row):
            self._move_undeclared_cells(old_row, new_row)
            self.delete(old_row)
        return True

    def _move_undeclared_cells(
        self, old_row: Mapping[str, Any], new_row: Mapping[str, Any]
    ) -> None:
        """Put the undeclared cells of a row under the key of another, and delete them there.

        Their timestamps are those of changes of these rows: no earlier delete of a row hides them.
        """
        state, prefix = self.get_state(), self.design.layout.qualifier_prefix
        writer, found = state.writer, state.getter.find_row_with_undeclared(old_row)
        old_start, start = (
            b"" if prefix is None else prefix.encode(row) for row in (old_row, new_row)
        )
        old_keys = writer.encode_row_keys(old_row)[::-1]  # a change has the active row key last
        key, *_ = writer.encode_row_keys(new_row)
        if found is None or (start == old_start and key in old_keys):
            return
        columns = [one for one in found.cells if one.cell.family in self.design.families]
        puts = [
            one.cell._replace(qualifier=start + one.column[1], timestamp=LATEST) for one in columns
        ]
        deletes = [Cell(*one.cell[:2], LATEST, cell_type=CellType.DELETE_COLUMN) for one in columns]
        if columns:
            for row, mutations in (
                (new_row, [RowCells(key, puts)]),
                (old_row, [RowCells(one, deletes) for one in old_keys]),
            ):
                name = writer.name_row(row, mutations[-1].row)
                writer.apply_changes([RowChange(name, mutations, stamp_count=1)])
            self.follower.mirror_rows([key, *old_keys])

    def delete(self, row: Any = None, /, *, sync: bool | None = None, **fields: Any) -> None:
        """Delete a row under every row key it may have; a missing row is not an error.

        If a field is the timestamp of the cells, a delete that names it deletes that version, and
        one without it all versions up to now. A put of a deleted time stays invisible until
        `compact` has dropped the delete. If the number of buckets has changed since the delete, the
        put is visible where the row has another bucket now, which has no such delete. Source:
        HBase book, "Deletes mask Puts".

        Args:
            row: the fields of its key; others are ignored.
            sync: whether the delete is on disk when the call returns; None is as opened.
            fields: the same by name.
        """
        self._write_row(RowWriter.build_delete, merge_values(row, fields), sync=sync)

    def delete_where(
        self,
        where: str | Mapping[str, Any] | Sequence[Condition],
        *values: Any,
        dry_run: bool = False,
        limit: int | None = None,
        all_rows: bool = False,
        skip_undecodable: bool = False,
        progress: ReportProgress | None = None,
        **named_values: Any,
    ) -> BulkDelete:
        """Delete the rows that meet some conditions, under every row key and in all companions.

        The versions are deleted that a scan has read, so that what clients put after it stays.
        If a condition is on a field that can change, each row is read again, and left if it does
        not meet the conditions any more. On an embedded engine this is one step with its delete.
        On a cluster it is not: of a row that another client changes in between, the fields that it
        put stay, and the others are gone. After an interruption the same call goes on.

        Undeclared cells stay, and so do rows that have no other cells. If a field is the timestamp
        of the cells, all versions up to the time that was read are deleted; a later put of such a
        time is invisible, as after `delete`.

        Args:
            where: as for `scan`.
            values: for each `?` in turn.
            dry_run: whether rows are only found and counted, with their undeclared cells.
            limit: the maximum number of rows, the first ones in the order of the key.
            all_rows: whether every row is deleted; then there is no condition.
            skip_undecodable: whether rows that cannot be decoded are left out, as for `scan`; they
                are not deleted.
            progress: called with how many rows are found, or deleted.
            named_values: for each `:name`.

        Returns:
            How many rows were deleted, in which tables, and how they were found.

        Raises:
            ReadError: with every mistake in the conditions and the values; or there is no
                condition, and `all_rows` is false.
            BatchError: the deletes of some rows were refused; the others are made.

        Cost: about 40 µs a row with two columns on an embedded engine; 70 µs if a condition is on a
            field that can change, whose rows are read again as by `get_many`: one by one where
            several share a row.
        """
        bound_read = self._bind_conditions(where, "", values, named_values)
        if all_rows == bool(bound_read.bounds):
            what = f"without a condition every row of {self.design.table} would be deleted"
            remedy = "Give a condition; or all_rows=True (--all-rows) to delete every row."
            if all_rows:
                what = "all_rows=True deletes every row, and there are conditions"
                remedy = "Remove all_rows, or the conditions."
            raise ReadError("argument where", what, remedy=remedy)
        scan = self._build_scan(bound_read, limit=limit, skip_undecodable=skip_undecodable)
        if dry_run:
            scan.count_undeclared()  # which takes half of the time of a delete
        explanation = self._explain_bound_read(bound_read, limit)
        return delete_scanned_rows(self, scan, explanation, is_dry_run=dry_run, progress=progress)

    def increment(self, row: Any, /, **amounts: int) -> dict[str, int]:
        """Add to counters, columns of type i64, atomically; an absent column counts as 0.

        Returns:
            Their new values.

        Raises:
            RowError: a column is not a counter, or has a value that is not a number.
            DesignRefused: the key has a random salt; or a field is the timestamp of the cells,
                which HBase sets by its own clock in an increment.
            Conflict: the bucket counts changed during the increment, which may be lost.
        """
        values: dict[str, int] = self._run_pinned(lambda change: change.increment(row, amounts))
        return values

    def append(self, row: Any, /, **pieces: Any) -> None:
        """Append to columns of text or bytes, atomically; raises as `increment`."""
        self._run_pinned(lambda change: change.append(row, pieces))

    def check_and_put(self, row: Any, /, **expected: Any) -> bool:
        """Put a row if one of its columns has an expected value, atomically.

        Args:
            row: as for `put`.
            expected: one column and its value; None if it must be absent.

        Returns:
            Whether the row was put.
        """
        is_put: bool = self._run_pinned(lambda change: change.check_and_put(row, expected))
        return is_put

    def batch(self, rows: int = DEFAULT_BATCH_ROWS, *, sync: bool | None = None) -> Batch:
        """Return a buffer of puts and deletes, for a `with` block; see `Batch`."""
        return Batch(self, rows, sync=sync)

    def load(self, rows: ArrowStreamable) -> int:
        """Put many rows from a data frame or Arrow columns; return how many.

        Values are converted as those of a file are: floats to decimals, text to times.

        Args:
            rows: a pandas or polars DataFrame, a pyarrow Table, RecordBatch or reader, a DuckDB
                relation. Its columns are named as the fields; a nullable field may have no column.
                A null writes nothing: the row keeps its value. The unnamed index of a pandas
                DataFrame is left out.

        Raises:
            RowError: a value is not valid for its field; the message has the number of the row,
                from 0. Rows before it are written, rows after it are not.

        Cost: 1 to 3 µs a row on an embedded engine.
        """
        return load_blocks(self, rows)

    # Reading

    def get(
        self,
        row: Any = None,
        /,
        *,
        into: type[Any] = dict,
        undeclared: bool = False,
        **fields: Any,
    ) -> Any:
        """Return the row with the given key fields, or None if there is none.

        Args:
            row: the fields of its key; others are ignored.
            into: the class of the returned row.
            undeclared: whether the row has, under `undeclared`, the bytes of its cells in columns
                that the design does not declare, by column in HBase's notation, such as
                `{"d:x": b"1"}`; then a row that has no other cells is returned too, with the
                fields of its key.
            fields: the same by name.

        Cost: one read; with a random salt one of each bucket; three on a cluster while two
            numbers of buckets are live.
        """
        build_row = build_row_factory(into)
        (values,) = self._get_rows([merge_values(row, fields)], undeclared=undeclared)
        return values if values is None or build_row is dict else build_row(values)

    def get_many(
        self, rows: Iterable[Any], *, into: type[Any] = dict, undeclared: bool = False
    ) -> list[Any]:
        """Return the rows with the given key fields, in that order; None for each missing row.

        Args:
            rows: the fields of the key of each.
            into: the class of the returned rows.
            undeclared: as for `get`.

        Cost: two thirds of that of one `get` each; all rows are in memory.
        """
        build_row = build_row_factory(into)
        if not isinstance(rows, Iterable):
            what = f"{format_value(rows)} is not a list of rows"
            raise RowError("argument rows", what, "an iterable of rows")
        found_rows = self._get_rows([to_mapping(row) for row in rows], undeclared=undeclared)
        return [None if values is None else build_row(values) for values in found_rows]

    def _get_rows(
        self, rows: Sequence[Mapping[str, Any]], *, undeclared: bool = False
    ) -> list[dict[str, Any] | None]:
        """Return the rows with the given key fields; None for each missing row.

        A client that was suspended meanwhile may have read a table that is no longer the one to
        read, or row keys that are no longer written; so the state is read again.
        """
        state = None
        while (current_state := self.get_state()) is not state:
            state = current_state
            found_rows = state.getter.get_rows(rows, undeclared=undeclared)
        if self.follower.shadow is not None:
            self.follower.shadow.offer_get(rows)
        return found_rows

    def scan(
        self,
        where: str | Mapping[str, Any] | Sequence[Condition] = "",
        *values: Any,
        order: str = "",
        limit: int | None = None,
        resume: str | None = None,
        into: type[Any] = dict,
        reader: Reader | None = None,
        threads: int = 1,
        undeclared: bool = False,
        count_undeclared: bool = False,
        skip_undecodable: bool = False,
        **named_values: Any,
    ) -> Scan:
        """Return the rows that meet some conditions; they are read while the scan is iterated.

        Args:
            where: conditions joined by `and`, such as `host = ? and ts >= :since`; or the values
                that fields must equal, such as `{"host": "web-1"}`; or the conditions themselves;
                empty for all.
            values: for each `?` in turn.
            order: fields, most significant first, each with `desc` if it descends. Without it rows
                come in the order of the key without its buckets and salts.
            limit: the maximum number of rows.
            resume: the `token` of an earlier scan with the same conditions and order.
            into: the class of each row.
            reader: a snapshot to read from.
            threads: how many ranges are read and decoded at the same time, where many rows are
                read; each holds one block more.
            undeclared: whether each row has, under `undeclared`, the bytes of its cells in columns
                that the design does not declare, as for `get`; then rows that have no other cells
                come too, with the fields of their keys, the other fields None.
            count_undeclared: whether the `undeclared_cells` of the scan counts these cells while
                it is read; `undeclared` counts them as well.
            skip_undecodable: whether rows whose key or values the design cannot decode are left
                out, counted and named in the `undecodable_rows` of the scan; else the first of
                them ends the scan with an error.
            named_values: for each `:name`.

        Raises:
            ReadError: with every mistake in the conditions, the values and the order.

        Cost: with `undeclared` rows are decoded one by one, which takes two to three times as long;
            `count_undeclared` takes some percent where rows are decoded as columns.
        """
        bound_read = self._bind_conditions(where, order, values, named_values)
        if reader is not None and not isinstance(reader, Reader):
            what = f"{format_value(reader)} is not a snapshot"
            raise ReadError("argument reader", what, "the result of snapshot()")
        return self._build_scan(
            bound_read,
            reader,
            limit=limit,
            resume=resume,
            into=into,
            threads=threads,
            undeclared=undeclared,
            count_undeclared=count_undeclared,
            skip_undecodable=skip_undecodable,
        )

    def _build_scan(
        self, bound_read: BoundRead, reader: Reader | None = None, **options: Any
    ) -> Scan:
        """Return a scan of the table, or of a snapshot of it.

        A scan that has begun goes on in the same table of a move: both have all changes.
        """
        follows_table = reader is None and self.engine.is_shared
        self.get_state()  # waits while a move switches
        tracker: GenerationTracker | None = self.tracker
        state = self.tracker.get_state()
        if reader is not None and reader in self._snapshot_states:
            tracker, state = None, self._snapshot_states[reader]
        elif reader is None and self.follower.shadow is not None:
            self.follower.shadow.offer_scan(bound_read, options.get("limit"))
        return Scan(
            state,
            reader or state.store,
            bound_read,
            tracker=tracker,
            follows_table=follows_table,
            token_table=self.token_table,
            **options,
        )

    def read(
        self,
        name: str,
        *values: Any,
        limit: int | None = None,
        resume: str | None = None,
        into: type[Any] = dict,
        undeclared: bool = False,
        skip_undecodable: bool = False,
        **named_values: Any,
    ) -> Scan:
        """Return the rows of a read that the design declares.

        Args:
            values: for each `?` of its conditions.
            limit: the most rows, in place of the declared limit.
            resume: the `token` of an earlier scan of this read with the same values.
            into: the class of each row.
            undeclared: as for `scan`.
            skip_undecodable: as for `scan`.
            named_values: for each `:name`.

        Raises:
            ReadError: there is no such read, or as `scan`.
        """
        reads = self.declared_reads
        read = reads.get(name)
        if read is None:
            name = str(name)
            remedy = suggest_name(name, reads)
            expected = f"one of {', '.join(reads)}" if reads else "a design with [[reads]]"
            raise ReadError(
                "argument name", f"the design declares no read {name!r}", expected, remedy
            )
        bound_read = bind_read(
            read.conditions,
            read.order,
            _collect_read_values(values, named_values),
            self.design.fields,
        )
        if limit is None:
            limit = read.limit
        return self._build_scan(
            bound_read,
            limit=limit,
            resume=resume,
            into=into,
            undeclared=undeclared,
            skip_undecodable=skip_undecodable,
        )

    def count(
        self,
        where: str | Mapping[str, Any] | Sequence[Condition] = "",
        *values: Any,
        skip_undecodable: bool = False,
        **named_values: Any,
    ) -> int:
        """Return how many rows meet some conditions, by reading them.

        Rows that have only undeclared cells do not count; `count` of a scan with
        `count_undeclared` tells how many there are.

        Args:
            where: as for `scan`.
            values: for each `?` in turn.
            skip_undecodable: whether rows that cannot be decoded are left out, as for `scan`.
            named_values: for each `:name`.
        """
        scan = self.scan(where, *values, skip_undecodable=skip_undecodable, **named_values)
        return scan.count()

    def explain(
        self,
        where: str | Mapping[str, Any] | Sequence[Condition] = "",
        *values: Any,
        order: str = "",
        limit: int | None = None,
        **named_values: Any,
    ) -> Explanation:
        """Return how a read is executed: its ranges, order and filters; it prints as text.

        Raises:
            ReadError: as `scan`.
        """
        bound_read = self._bind_conditions(where, order, values, named_values)
        check_limit(limit)
        return self._explain_bound_read(bound_read, limit)

    def _explain_bound_read(self, bound_read: BoundRead, limit: int | None) -> Explanation:
        state = self.get_state()
        explanation = explain_read(
            state.combined_design.key,
            bound_read,
            limit=limit,
        )
        return state.add_generation_note(explanation)

    def _bind_conditions(
        self,
        where: str | Mapping[str, Any] | Sequence[Condition],
        order: str,
        values: Sequence[Any],
        named_values: Mapping[str, Any],
    ) -> BoundRead:
        """Return a read of the table with its conditions and order checked, and values bound."""
        return bind_read(
            where, order, _collect_read_values(values, named_values), self.design.fields
        )

    @property
    def buckets(self) -> BucketCounts:
        """The bucket counts under which rows are written and read."""
        return BucketCounts.from_state(self.get_state(), self.engine)

    def set_buckets(
        self,
        count: int,
        *,
        part: int | str | None = None,
        max_stale: float | None = None,
        progress: ReportProgress | None = None,
    ) -> BucketChangeResult:
        """Change the number of buckets that rows are written under, while clients use the table.

        Regions are split at the boundaries of the new number. The number is announced, and becomes
        active once every client knows it. Existing rows stay where they are and are found as
        before: a get tries one row key more, a scan reads the ranges of both numbers. After an
        interruption the same call goes on.

        Args:
            count: the new number of buckets.
            part: the part of the key, where several have a count: its index from 0, its function,
                or the part as it is written.
            max_stale: seconds that clients may work without the catalog from now on; a change that
                is continued keeps the time it was announced with.
            progress: called with `regions` or `seconds`, how many are done, and of how many.

        Raises:
            InvalidDesign: with every mistake in the arguments.
            Conflict: another client is changing the number, or announced it with another
                `max_stale`.
            Unavailable: the catalog or the engine does not answer.

        Cost: a little more than the longest `max_stale` of any client, 60 s if none was declared;
            1 s if no other process can have the table open.
        """
        return BucketChange(
            self.tracker, count, part, max_stale_s=max_stale, progress=progress
        ).run()

    def regions(self) -> list[RegionRequestCounts]:
        """Return the regions of the table, with their request counts."""
        self.tracker.require_own_process()
        return self.store.list_regions()

    def snapshot(self) -> Reader:
        """Return the table as it is now, for the `reader` of `scan`; close it when done."""
        self.tracker.require_own_process()
        self.get_state()  # waits while a move switches
        while True:
            tracker, state = self.tracker, self.tracker.get_state()
            snapshot = tracker.store.snapshot()
            if self.get_state() is state:  # else rows may be where this state does not look
                self._snapshot_states[snapshot] = state
                return snapshot
            snapshot.close()

    def flush(self) -> None:
        """Write the rows of the table that are in memory to disk."""
        self.tracker.require_own_process()
        self.store.flush()

    def compact(self) -> None:
        """Merge the table's files, and drop deleted and expired cells."""
        self.tracker.require_own_process()
        self.store.compact(major=True)

    def close(self) -> None:
        """Close the table, and its engine unless it was given; closing twice is harmless."""
        self.tracker.require_own_process()
        with ExitStack() as stack:  # if closing one fails, the others are closed
            if self.owns_engine:
                stack.callback(self.engine.close)
            self._close_parts(stack)

    def _close_parts(self, stack: ExitStack) -> None:
        """Let a stack close the catalog and the tables, but not the engine, when it is closed."""
        if not self.is_closed:
            self.is_closed = True
            self.writer.clock.wait_until_past()
        stack.callback(self.catalog.close)
        stack.callback(self.follower.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if (
            error is None or not self.tracker.is_inherited
        ):  # the error of a forked child is not replaced
            self.close()

    def __repr__(self) -> str:
        return f"<table {self.design.table} on {self.engine.name}>"


def _collect_read_values(
    values: Sequence[Any], named_values: Mapping[str, Any]
) -> dict[int | str, Any]:
    """Return the values of a read by position and by name."""
    return dict[int | str, Any](enumerate(values)) | dict[int | str, Any](named_values)
