"""A read as it runs: ranges opened, merged, filtered, and given as rows or as Arrow columns."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from copy import copy
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from rowkey.errors import ReadError, Unsupported, shown
from rowkey.open_file_limit import explains_shortage
from rowkey.plan import Residual, plan_read
from rowkey.table.models import maker
from rowkey.table.scans.blocks import (
    batches_of,
    count_of,
    resized,
    rows_of,
    schema_of,
    values_of,
)
from rowkey.table.scans.merge import Copies, Piece
from rowkey.table.scans.ranges import pieces_of
from rowkey.table.scans.sorting import best_of
from rowkey.table.scans.tokens import Token, digest_of, read_token

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from rowkey.engines import Reader
    from rowkey.plan import Asked
    from rowkey.table.generations.live import Live

MUCH = 512
"""Rows of each range from which decoding by blocks is worth its fixed cost of 0.5 ms. Measured."""
MOST_BLOCKS = 64
"""Ranges above which the first row would wait too long for all their blocks."""
MOST_COLUMNS = 256
"""Ranges above which their blocks, however few rows are in them, cost more than rows one by one."""
AT_ONCE = 1_024
"""Rows that are decoded together in the end: more are not faster."""
MOST_THREADS = 256
"""Threads of one scan."""


def check_limit(limit: object) -> None:
    """Raise unless this is a number of rows, or None.

    Raises:
        ReadError: it is neither.
    """
    if limit is not None and (type(limit) is not int or limit < 0):
        raise ReadError("limit", f"{shown(limit)} rows cannot be read", "0 or more")


class Scan:
    """The rows that meet some conditions, read as they are asked for.

    Iterating gives rows as dictionaries, or as instances of `into`; `to_arrow` and `batches` give
    columns. It can be iterated again: each time it reads the table as it then is.

    Args:
        now: says what the table is; asked each time the scan is iterated.
        reader: the engine's table, or a snapshot of it.
        asked: the conditions and the order, bound.
        limit: most rows, or None.
        resume: the token of an earlier scan with the same conditions and order.
        into: a class for each row.
        threads: how many ranges are read at the same time, where rows are decoded by blocks.
        follows: whether the reader shows the table as it becomes, and not as of one moment: then
            the scan goes on in other places once the table's counts have changed.
    """

    def __init__(
        self,
        now: Callable[[], Live],
        reader: Reader,
        asked: Asked,
        *,
        limit: int | None = None,
        resume: str | None = None,
        into: type[Any] = dict,
        threads: int = 1,
        follows: bool = False,
    ) -> None:
        check_limit(limit)
        if resume is not None and not isinstance(resume, str):
            raise ReadError("resume", f"{shown(resume)} is no token", "what scan.token gave")
        if type(threads) is not int or not 1 <= threads <= MOST_THREADS:
            what = f"{shown(threads)} cannot read"
            raise ReadError("threads", what, f"1..{MOST_THREADS}")
        self.now = now
        self.reader = reader
        self.asked = asked
        self.limit = limit
        self.threads = threads
        self.follows = follows
        self.make = maker(into)
        self.is_plain = into is dict
        self._resume = resume
        self._bind(now())

    def _bind(self, live: Live) -> None:
        """Take the table for what it is."""
        self.live = live
        self.design = design = live.design
        asked = self.asked
        self.plan = plan_read(design.key, asked.bounds, asked.order)
        self.residual = Residual(self.plan.residual, asked.bounds, design.fields)
        self.copies = Copies(design.key, self.plan.merged, live.counting)
        self.rank = live.rank if live.is_several else None
        self.sorts = self.plan.needs_sort
        self.repeats = design.layout.shares_rows or design.key.is_salted
        """Whether the row of a token is read again: copies of it, or events behind, may follow."""
        merged = self.plan.merged
        self.digest = digest_of(asked.bounds, asked.order, live.uncounted(merged), merged)
        resume = self._resume
        if resume is not None and not self.has_tokens:
            what = "the key does not give the order asked for, so a scan cannot go on"
            if live.is_several and not self.sorts:
                what = "rows of several bucket counts do not stand in one order, so it cannot go on"
            raise ReadError("resume", what, "an order that the key gives")
        self._given = None if resume is None else read_token(resume, self.digest)
        self.start = self._given
        self.last: Piece | Token | dict[str, Any] | None = self.start

    @property
    def has_tokens(self) -> bool:
        """Whether the scan can go on from where it stopped."""
        return not (self.sorts or self.copies.scattered)

    def _begin(self) -> None:
        """Begin to read, in the table as it is now."""
        live = self.now()
        if live is not self.live:
            self._bind(live)
        self.start = self.last = self._given

    @property
    def is_behind(self) -> bool:
        """Whether the table has become another one since this began to read it."""
        return self.follows and self.now() is not self.live

    def go_on(self, last: Piece | dict[str, Any] | None) -> None:
        """Read what is left in the table as it is now.

        Args:
            last: the last piece or row that was given; None if none was.

        Raises:
            Unsupported: its rows do not stand in one order any more.
        """
        start = self.start if last is None else self._standing_at(last)
        merged, resume, given = self.plan.merged, self._resume, self._given
        self._resume = None
        self._bind(self.now())
        self._resume, self._given = resume, given
        if self.copies.scattered or self.plan.merged != merged:
            what = "its number of buckets was changed while it was read"
            allowed = "ranges that have one number each, so that their rows have one order"
            raise Unsupported(f"table {self.design.table}", what, allowed, "Read it again.")
        self.start = self.last = start

    @property
    def reverse(self) -> bool:
        """Whether the table is read backwards."""
        return self.plan.is_backwards

    @property
    def is_paged(self) -> bool:
        """Whether rows that events share are read piece by piece.

        The cells of each event must follow one another in the order of the read: they lie in one
        family and are read forward.
        """
        layout = self.design.layout
        is_one = len({slot.family for slot in layout.slots}) == 1
        return layout.shares_rows and is_one and not self.reverse

    @property
    def token(self) -> str | None:
        """Where the last iteration stands: behind the last row, or the last batch, that it gave.

        None before its first row, and where rows are sorted or a salt does not lead the key.
        """
        last = self.last
        return None if last is None or not self.has_tokens else str(self._standing_at(last))

    def _standing_at(self, last: Piece | Token | dict[str, Any]) -> Token:
        """Where a row stands in the order of the read."""
        if isinstance(last, Piece | Token):
            return Token(self.digest, last.behind, last.opening, last.prefix)
        layout = self.design.layout
        key = layout.key.encode(last, salt=0)
        prefix = next(one.prefix for one in self.plan.ranges if one.holds(key))
        opening = b"" if layout.opening is None else layout.opening.write(last)
        common, _ = self.copies.told(prefix)
        return Token(self.digest, key[len(prefix) :], opening, common)

    def __iter__(self) -> Iterator[Any]:
        rows = self.plain_rows()
        return rows if self.is_plain else map(self.make, rows)

    def first(self) -> Any:
        """The first row, or None; no more is read, and `token` stays where it was."""
        one = copy(self)
        one.limit = 1 if self.limit is None else min(self.limit, 1)
        return next(iter(one), None)

    @explains_shortage
    def count(self) -> int:
        """How many rows there are; `token` stays where it was.

        Cost: that of reading them as columns, or where a salt or shared rows forbid that, as rows.
        """
        one = copy(self)
        one._begin()  # noqa: SLF001 - a scan of its own, so that the token stays
        if one.limit is None and one.pays_blocks:
            return count_of(one)
        return sum(1 for _ in one.plain_rows())

    @explains_shortage
    def to_arrow(self) -> pa.Table:
        """All rows as one Arrow table, in the same order, in the types of the fields.

        Cost: 0.3 to 1 µs a row, most of it the engine's; all rows are in memory.
        """
        import pyarrow as pa

        self._begin()
        found = list(batches_of(self))
        self._stand_behind(found[-1:])
        return pa.Table.from_batches(found, schema_of(self))

    def batches(self, rows: int = 65_536) -> Iterator[pa.RecordBatch]:
        """The rows as Arrow columns, in the same order, read as they are asked for.

        Args:
            rows: most rows of a batch.

        Cost: as `to_arrow`; one batch is in memory, and of each range a block or two, which grow
            to 8,192 rows.
        """
        if type(rows) is not int or rows < 1:
            raise ReadError("rows", f"batches of {shown(rows)} cannot be", "1 or more")
        return self._batches(rows)

    @explains_shortage
    def _batches(self, rows: int) -> Iterator[pa.RecordBatch]:
        self._begin()
        for batch in resized(batches_of(self), rows):
            self._stand_behind([batch])
            yield batch

    def _stand_behind(self, batches: list[pa.RecordBatch]) -> None:
        """Remember the last row of a batch for `token`."""
        for batch in batches:
            (self.last,) = values_of(self, batch.slice(batch.num_rows - 1))

    @explains_shortage
    def plain_rows(self) -> Iterator[dict[str, Any]]:
        """The rows as dictionaries, whatever class was asked for, in the order asked for."""
        self._begin()
        yield from self.rows_left(self.limit)

    def rows_left(self, limit: int | None) -> Iterator[dict[str, Any]]:
        """The rows from where the scan stands, in the order asked for."""
        if limit == 0:
            return
        if self.sorts:
            yield from best_of(self._unsorted(), self.asked.order, self.design.fields, limit)
        elif self._is_read_whole(limit):
            for row in rows_of(self, limit):
                self.last = row
                yield row
        else:
            with ExitStack() as opened:
                for piece, row in islice(self._found(opened), limit):
                    self.last = piece
                    yield row

    @property
    def is_of_blocks(self) -> bool:
        """Whether rows can be decoded by blocks, in the order asked for.

        Not where copies must be joined, or events of several ranges or in reverse told apart.
        """
        return self._has_blocks and not self.sorts

    @property
    def pays_blocks(self) -> bool:
        """Whether columns come faster by blocks than from rows."""
        return self.is_of_blocks and self.plan.fan_out <= MOST_COLUMNS and self._is_much(self.limit)

    @property
    def _has_blocks(self) -> bool:
        if self.design.key.is_salted or self.live.is_several:
            return False
        is_one = self.plan.fan_out == 1 and not self.reverse and self.start is None
        return is_one or not self.design.layout.shares_rows

    def _is_read_whole(self, limit: int | None) -> bool:
        """Whether so much is read that decoding it by blocks is faster, if a little later."""
        is_soon = self.plan.fan_out <= MOST_BLOCKS
        return self._has_blocks and is_soon and self._is_much(limit)

    def _is_much(self, limit: int | None) -> bool:
        return limit is None or limit >= MUCH * self.plan.fan_out

    def _unsorted(self) -> Iterator[dict[str, Any]]:
        """The rows that are to be sorted, in whatever order."""
        if self._is_read_whole(None):
            yield from rows_of(self, None)
            return
        with ExitStack() as opened:
            yield from map(itemgetter(1), self._found(opened))

    def _found(self, opened: ExitStack) -> Iterator[tuple[Piece, dict[str, Any]]]:
        """Rows that meet every condition, in the order of the key, and where they stand."""
        last: Piece | None = None
        for found in self._decoded(opened):
            for piece, row in found:
                last = piece
                if not self.residual or self.residual(row):
                    yield piece, row
            if self.is_behind:
                opened.close()
                self.go_on(last)
                yield from self._found(opened)
                return

    def _decoded(self, opened: ExitStack) -> Iterator[Iterator[tuple[Piece, dict[str, Any]]]]:
        """The rows of all ranges, more and more at a time: the first one comes at once."""
        layout, size, pieces = self.design.layout, 1, pieces_of(self, opened)
        left = sys.maxsize
        if self.limit is not None and not self.residual and not self.sorts:
            left = self.limit
        while some := list(islice(pieces, min(size, left))):
            rows = layout.rows([one.row for one in some], [one.cells for one in some])
            yield ((piece, row) for piece, events in zip(some, rows, strict=True) for row in events)
            size = min(2 * size, AT_ONCE)
            # Pieces that are no rows of the design make room for more.
            left = max(1, left - len(some))
