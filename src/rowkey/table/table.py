"""A table in use: rows in and out as values, under the design that was judged."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from rowkey.engines import Reader
from rowkey.errors import ReadError, RowError, did_you_mean, shown
from rowkey.plan import ask, explain
from rowkey.table.batch import ROWS, Batch
from rowkey.table.generations.changing import Change
from rowkey.table.generations.counting import Buckets
from rowkey.table.loading import load_blocks
from rowkey.table.models import as_mapping, maker
from rowkey.table.read_modify_write import ReadModifyWrite
from rowkey.table.scans import Scan, check_limit
from rowkey.table.writing import Writing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType
    from typing import Self

    import pyarrow as pa

    from rowkey.catalog import Catalog
    from rowkey.design import Design
    from rowkey.engines import Engine, RegionCount, Store
    from rowkey.plan import Asked, Explanation
    from rowkey.schema import Condition
    from rowkey.table.generations.changing import Changed
    from rowkey.table.generations.live import Following


class Table:
    """A table of a design on an engine; `rowkey.open` gives it.

    Rows are mappings, dataclasses or pydantic models of the design's fields. It may be used by
    several threads. A scan sees the table as it was when it began; on a cluster it sees each region
    as it was when the scan came there.

    Args:
        following: what the table is, and is becoming.
        engine: the engine, closed with the table.
        store: the engine's table.
        catalog: where the design is remembered, closed with the table.
    """

    def __init__(
        self, following: Following, engine: Engine, store: Store, catalog: Catalog
    ) -> None:
        self.engine = engine
        self.store = store
        self.catalog = catalog
        self.closed = False
        self.lease = following.lease
        self.following = following
        self.now = following.now
        """Says what the table is: under which counts it is written, and under which it is read."""

    @property
    def design(self) -> Design:
        """The table's design, with the counts that rows are written under."""
        return self.following.last.design

    @property
    def writing(self) -> Writing:
        """What turns changes of rows into mutations."""
        return self.following.last.writing

    def put(self, row: Any, *, sync: bool | None = None) -> None:
        """Write the fields given; None takes a field away, a field left out stays as it is.

        Args:
            row: all fields of the key, and any others.
            sync: whether it is on disk when the call returns; None is as opened.

        Raises:
            RowError: a field is missing, unknown, or has a value that is none of its type.

        Cost: 5 to 15 µs on an embedded engine; a batch takes half of that.
        """
        self.following.write(Writing.put, row, sync=sync)

    def replace(self, row: Any, *, sync: bool | None = None) -> None:
        """Write the fields given and take all others of the row away, at once."""
        self.following.write(Writing.replace, row, sync=sync)

    def move(self, row: Any, /, **changes: Any) -> bool:
        """Change fields of the key: the row is written anew under its new key, then deleted.

        A crash in between leaves both rows, never none. A time that is the timestamp of its cells
        moves the row too: only the version of the old time is deleted, so that an older version
        that the family still keeps is seen again, and a newer one hides what is moved behind it.

        Args:
            row: the fields of the key as they are.
            changes: fields and their new values, of the key or not.

        Returns:
            Whether there was such a row.
        """
        self.writing.require_known(changes)
        found = self.get(row)
        if found is None:
            return False
        moved = {**found, **changes}
        self.put(moved)
        coordinates = self.now().coordinates
        if coordinates(moved) != coordinates(found):
            self.delete(found)
        return True

    def delete(self, row: Any = None, /, *, sync: bool | None = None, **fields: Any) -> None:
        """Take a row away, in every place where it may stand; one that is not there is no error.

        Where a time of the row is the timestamp of its cells, a delete that names it takes that
        version away, one without it all up to now. A put of a deleted time stays invisible until
        `compact` has dropped the delete; and if the number of buckets was changed since, it is seen
        where it has another bucket now: there nothing was deleted at that time. Source: HBase book,
        "Deletes mask Puts".

        Args:
            row: the fields of its key; others are not looked at.
            sync: whether it is on disk when the call returns.
            fields: the same by name.
        """
        self.following.write(Writing.delete, self._values(row, fields), sync=sync)

    def increment(self, row: Any, /, **amounts: int) -> dict[str, int]:
        """Add to counters, columns of type i64, with nothing in between; absent counts as 0.

        Returns:
            Their new values.

        Raises:
            RowError: a column is no counter, or holds something else.
            DesignRefused: the key has a random salt; or a field is the timestamp of the cells, and
                HBase stamps what it counts itself.
        """
        with self.following.counting() as writing:
            return ReadModifyWrite(writing).increment(row, amounts)

    def append(self, row: Any, /, **pieces: Any) -> None:
        """Append to columns of text or bytes, with nothing in between; raises as `increment`."""
        with self.following.counting() as writing:
            ReadModifyWrite(writing).append(row, pieces)

    def check_and_put(self, row: Any, /, **expected: Any) -> bool:
        """Put a row if one of its columns holds what is expected, with nothing in between.

        Args:
            row: as for `put`.
            expected: one column and its value; None if it must be absent.

        Returns:
            Whether it was put.
        """
        with self.following.counting() as writing:
            return ReadModifyWrite(writing).check_and_put(row, expected)

    def batch(self, rows: int = ROWS, *, sync: bool | None = None) -> Batch:
        """A buffer of puts and deletes, to be used in a `with` block; see `Batch`."""
        return Batch(self.now, rows, sync=sync)

    def load(self, rows: pa.RecordBatch | pa.Table) -> int:
        """Put many rows given as Arrow columns; gives how many.

        Args:
            rows: columns named as the fields; the column of a field may be left out if it is
                nullable. A null writes nothing: it does not take away what stands there.

        Raises:
            RowError: a value is none of its field; the blocks of 16,384 rows before it are written.

        Cost: 1 to 3 µs a row on an embedded engine.
        """
        return load_blocks(self.now, rows)

    # Reading

    def get(self, row: Any = None, /, *, into: type[Any] = dict, **fields: Any) -> Any:
        """One row, or None.

        Args:
            row: the fields of its key; others are not looked at.
            into: a class for the row.
            fields: the same by name.

        Cost: one read; with a random salt one of each bucket; three on a cluster while two
            numbers of buckets are live.
        """
        make = maker(into)
        (found,) = self.now().getting.found([self._values(row, fields)])
        return found if found is None or make is dict else make(found)

    def get_many(self, rows: Iterable[Any], *, into: type[Any] = dict) -> list[Any]:
        """Some rows, in the order asked; None where there is none.

        Cost: two thirds of that of one `get` each; what is found is in memory.
        """
        make = maker(into)
        if not isinstance(rows, Iterable):
            raise RowError("rows", f"{shown(rows)} holds no rows", "an iterable of rows")
        found = self.now().getting.found([as_mapping(row) for row in rows])
        return [None if row is None else make(row) for row in found]

    def scan(
        self,
        where: str | Sequence[Condition] = "",
        *values: Any,
        order: str = "",
        limit: int | None = None,
        resume: str | None = None,
        into: type[Any] = dict,
        reader: Reader | None = None,
        threads: int = 1,
        **named: Any,
    ) -> Scan:
        """The rows that meet some conditions; nothing is read before they are asked for.

        Args:
            where: conditions joined by `and`, such as `host = ? and ts >= :since`, or the
                conditions themselves; empty for all.
            values: for each `?` in turn.
            order: fields, most significant first, each with `desc` if it descends. Without it rows
                come in the order of the key less what only spreads.
            limit: most rows.
            resume: `token` of an earlier scan of the same conditions and order.
            into: a class for each row.
            reader: a snapshot to read from.
            threads: how many ranges are read and decoded at the same time, where many rows are
                read; each holds one block more.
            named: for each `:name`.

        Raises:
            ReadError: with everything that is wrong with the conditions, the values or the order.
        """
        asked = self._asked(where, order, values, named)
        if reader is not None and not isinstance(reader, Reader):
            raise ReadError("reader", f"{shown(reader)} cannot be read", "what snapshot() gave")
        return self._scan(asked, reader, limit=limit, resume=resume, into=into, threads=threads)

    def _scan(self, asked: Asked, reader: Reader | None = None, **words: Any) -> Scan:
        """A scan of the table, or of a snapshot of it."""
        follows = reader is None and self.engine.shared
        return Scan(self.now, reader or self.store, asked, follows=follows, **words)

    def read(
        self,
        name: str,
        *values: Any,
        limit: int | None = None,
        resume: str | None = None,
        into: type[Any] = dict,
        **named: Any,
    ) -> Scan:
        """A read that the design declares, by its name.

        Args:
            name: the read's name.
            values: for each `?` of its conditions.
            limit: most rows, in place of the limit that is declared.
            resume: `token` of an earlier scan of this read with the same values.
            into: a class for each row.
            named: for each `:name`.

        Raises:
            ReadError: there is no such read, or as `scan`.
        """
        read = next((one for one in self.design.reads if one.name == name), None)
        if read is None:
            name = str(name)
            names = [one.name for one in self.design.reads]
            remedy = did_you_mean(name, names)
            raise ReadError("read", f"there is no read {name!r}", ", ".join(names), remedy)
        asked = ask(read.conditions, read.order, _given(values, named), self.design.fields)
        most = read.limit if limit is None else limit
        return self._scan(asked, limit=most, resume=resume, into=into)

    def count(self, where: str | Sequence[Condition] = "", *values: Any, **named: Any) -> int:
        """How many rows meet some conditions; they are read to be counted."""
        return self.scan(where, *values, **named).count()

    def explain(
        self, where: str = "", *values: Any, order: str = "", limit: int | None = None, **named: Any
    ) -> Explanation:
        """How a read runs: its ranges, its order, what is filtered after; printed as text.

        Raises:
            ReadError: as `scan`.
        """
        asked = self._asked(where, order, values, named)
        check_limit(limit)
        live = self.now()
        return live.noted(explain(live.design.key, asked, limit=limit))

    def _asked(
        self,
        where: str | Sequence[Condition],
        order: str,
        values: Sequence[Any],
        named: Mapping[str, Any],
    ) -> Asked:
        return ask(where, order, _given(values, named), self.design.fields)

    @property
    def buckets(self) -> Buckets:
        """The numbers of buckets that rows are written and found under."""
        return Buckets.of(self.now(), self.engine)

    def set_buckets(
        self,
        count: int,
        *,
        part: int | str | None = None,
        max_stale: float | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Changed:
        """Have rows written under another number of buckets, while everyone uses the table.

        Regions are split where the new number wants them; it is announced, waited for until every
        client knows of it, and then rules. Rows that are there stay where they are and are found as
        before: a get tries one row key more, a scan reads the ranges of both. Interrupted, the same
        call goes on.

        Args:
            count: how many.
            part: which part of the key, where several count: its place from 0, its kind, or the
                part as it is written.
            max_stale: seconds that clients may go on without the catalog from now on; a change that
                is gone on with has that which it was announced with.
            progress: told `regions` or `seconds`, how many are done, and of how many.

        Raises:
            DeclarationError: with everything that is wrong with what was asked for.
            Conflict: somebody else is changing it, or has announced it with another `max_stale`.
            Unsupported: the catalog or the engine does not answer.

        Cost: a little more than the longest `max_stale` of any client, 60 s if none was declared;
            1 s where nobody else can have the table open.
        """
        return Change(self, count, part, max_stale_s=max_stale, progress=progress).run()

    def regions(self) -> list[RegionCount]:
        """The regions and what they have counted."""
        self.following.require_own()
        return self.store.regions()

    def snapshot(self) -> Reader:
        """The table as it is now, to be given to `scan` as `reader`; close it when done."""
        self.following.require_own()
        return self.store.snapshot()

    def flush(self) -> None:
        """Write what is in memory to disk."""
        self.following.require_own()
        self.store.flush()

    def compact(self) -> None:
        """Drop for good what was deleted or is expired."""
        self.following.require_own()
        self.store.compact(major=True)

    def close(self) -> None:
        """Close the table and its engine; closing twice is harmless."""
        self.following.require_own()
        if not self.closed:
            self.closed = True
            self.store.row_clock.settle()
        with ExitStack() as held:  # whatever one of them raises, the others are closed
            held.callback(self.engine.close)
            held.callback(self.catalog.close)
            held.callback(self.lease.close)
            held.callback(self.store.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None or not self.following.is_inherited:  # what a child raises is not replaced
            self.close()

    def __repr__(self) -> str:
        return f"<table {self.design.table} on {self.engine.name}>"

    def _values(self, row: Any, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        if type(row) is dict and not fields:
            return row
        return {**(as_mapping(row) if row is not None else {}), **fields}


def _given(values: Sequence[Any], named: Mapping[str, Any]) -> dict[int | str, Any]:
    """The values of a read by position and by name."""
    return dict[int | str, Any](enumerate(values)) | dict[int | str, Any](named)
