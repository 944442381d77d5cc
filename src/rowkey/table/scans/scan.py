"""A read as it runs: ranges opened, merged, filtered, and given as rows or as Arrow columns."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from rowkey.engines import Ask, Span
from rowkey.errors import ReadError, shown
from rowkey.plan import Residual, plan_read, sorted_rows
from rowkey.table.merge import Copies, Piece, gathered, late, merged
from rowkey.table.models import maker
from rowkey.table.scans.blocks import (
    batches_of,
    count_of,
    resized,
    rows_of,
    schema_of,
    values_of,
)
from rowkey.table.scans.pieces import (
    behind,
    close_all,
    events_apart,
    held,
    left_of,
    paged,
    parted,
    rows_apart,
)
from rowkey.table.scans.tokens import Token, digest_of, read_token

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from rowkey.engines import Cursor, Reader
    from rowkey.plan import Asked, KeyRange
    from rowkey.table.generations.live import Live

MOST_SORTED = 1_000_000
"""Rows that are sorted in memory where the key does not give the order asked for."""
SORTED_TOGETHER = 10_000
"""Rows that are sorted together at least, so that a small limit does not sort for each row."""
MUCH = 512
"""Rows of each range from which decoding by blocks is worth its fixed cost of 0.5 ms. Measured."""
MOST_BLOCKS = 64
"""Ranges above which the first row would wait too long for all their blocks."""
MOST_COLUMNS = 256
"""Ranges above which their blocks, however few rows are in them, cost more than rows one by one."""
AT_ONCE = 1_024
"""Rows that are decoded together in the end: more are not faster."""
PAGE = 64
"""Cells of a row that come together where many events share it."""
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
        self.digest = digest_of(asked.bounds, asked.order, live.uncounted, self.plan.merged)
        resume = self._resume
        self.start = None if resume is None else read_token(resume, self.digest)
        self.last: Piece | Token | dict[str, Any] | None = self.start
        if resume is not None and not self.has_tokens:
            what = "the key does not give the order asked for, so a scan cannot go on"
            if live.is_several and not self.sorts:
                what = "rows of several bucket counts do not stand in one order, so it cannot go on"
            raise ReadError("resume", what, "an order that the key gives")

    @property
    def has_tokens(self) -> bool:
        """Whether the scan can go on from where it stopped."""
        return not (self.sorts or self.copies.scattered)

    def _begin(self) -> None:
        """Begin to read, in the table as it is now."""
        live = self.now()
        if live is not self.live:
            self._bind(live)
        self.last = self.start

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
        if last is None or not self.has_tokens:
            return None
        if isinstance(last, Piece | Token):
            return str(Token(self.digest, last.behind, last.opening, last.prefix))
        layout = self.design.layout
        key = layout.key.encode(last, salt=0)
        prefix = next(one.prefix for one in self.plan.ranges if one.holds(key))
        opening = b"" if layout.opening is None else layout.opening.write(last)
        common, _ = self.copies.told(prefix)
        return str(Token(self.digest, key[len(prefix) :], opening, common))

    def __iter__(self) -> Iterator[Any]:
        rows = self.plain_rows()
        return rows if self.is_plain else map(self.make, rows)

    def first(self) -> Any:
        """The first row, or None; no more is read, and `token` stays where it was."""
        one = copy(self)
        one.limit = 1 if self.limit is None else min(self.limit, 1)
        return next(iter(one), None)

    def count(self) -> int:
        """How many rows there are; `token` stays where it was.

        Cost: that of reading them as columns, or where a salt or shared rows forbid that, as rows.
        """
        one = copy(self)
        one._begin()  # noqa: SLF001 - a scan of its own, so that the token stays
        if one.limit is None and one.pays_blocks:
            return count_of(one)
        return sum(1 for _ in one.plain_rows())

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

    def _batches(self, rows: int) -> Iterator[pa.RecordBatch]:
        self._begin()
        for batch in resized(batches_of(self), rows):
            self._stand_behind([batch])
            yield batch

    def _stand_behind(self, batches: list[pa.RecordBatch]) -> None:
        """Remember the last row of a batch for `token`."""
        for batch in batches:
            (self.last,) = values_of(self, batch.slice(batch.num_rows - 1))

    def plain_rows(self) -> Iterator[dict[str, Any]]:
        """The rows as dictionaries, whatever class was asked for, in the order asked for."""
        self._begin()
        if self.limit == 0:
            return
        if self.sorts:
            yield from self._best(self._unsorted())
        elif self._is_read_whole(self.limit):
            for row in rows_of(self, self.limit):
                self.last = row
                yield row
        else:
            with ExitStack() as opened:
                for piece, row in islice(self._found(opened), self.limit):
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
        pieces = self._pieces(opened)
        found = chain.from_iterable(self._decoded(pieces))
        return found if not self.residual else (one for one in found if self.residual(one[1]))

    def _decoded(self, pieces: Iterator[Piece]) -> Iterator[Iterator[tuple[Piece, dict[str, Any]]]]:
        """The rows of pieces, more and more at a time: the first one comes at once."""
        layout, size = self.design.layout, 1
        left = sys.maxsize
        if self.limit is not None and not self.residual and not self.sorts:
            left = self.limit
        while some := list(islice(pieces, min(size, left))):
            rows = layout.rows([one.row for one in some], [one.cells for one in some])
            yield ((piece, row) for piece, events in zip(some, rows, strict=True) for row in events)
            size = min(2 * size, AT_ONCE)
            # Pieces that are no rows of the design make room for more.
            left = max(1, left - len(some))

    def _best(self, rows: Iterator[dict[str, Any]]) -> list[Any]:
        """The first rows in the order asked for; at most twice as many are held.

        Raises:
            ReadError: without a limit, more than `MOST_SORTED` would be.
        """
        most = MOST_SORTED if self.limit is None else min(self.limit, MOST_SORTED)
        held: list[Any] = []
        while some := list(islice(rows, max(most, SORTED_TOGETHER))):
            held = sorted_rows([*held, *some], self.asked.order, self.design.fields)
            held = held[: self.limit]
            if len(held) > MOST_SORTED:
                what = f"more than {MOST_SORTED:,} rows would be sorted in memory"
                remedy = "Give a limit, or a key that stands in this order: see rowkey explain."
                raise ReadError("order", what, remedy=remedy)
        return held

    def _pieces(self, opened: ExitStack) -> Iterator[Piece]:
        """The rows of all ranges, merged; each event of a shared row by itself."""
        ranges = self.ranges()
        rows: list[KeyRange] = []
        if self.start is not None and self.is_paged:
            rows, ranges = parted(ranges, self.start)
        ask = self._ask_behind() if rows else None
        cursors = [*self.opened(opened, rows, ask), *self.opened(opened, ranges)]
        runs = [self._late(r, c) for r, c in zip([*rows, *ranges], cursors, strict=True)]
        copies = self.copies
        found = merged(runs, reverse=self.reverse, copies=copies.pinned, rank=self.rank)
        if copies.scattered:
            found = gathered(found, copies, self.rank)
        if self.start is None or not self.repeats:
            return found
        return behind(found, self.start, is_falling=self.reverse)

    def ranges(self) -> list[KeyRange]:
        """The ranges that are left to read, in the direction of the read."""
        if self.start is None:
            return list(self.plan.ranges)
        rest = partial(left_of, token=self.start, is_falling=self.reverse, again=self.repeats)
        left = (rest(one, self.copies.told(one.prefix)[0]) for one in self.plan.ranges)
        return [one for one in left if one is not None]

    def opened(
        self, opened: ExitStack, ranges: list[KeyRange], ask: Ask | None = None
    ) -> list[Cursor]:
        """A cursor for each range, closed with `opened`."""
        if not ranges:
            return []
        spans = [Span(one.start, one.stop) for one in ranges]
        cursors = self.reader.scan(spans, ask or self.ask())
        opened.callback(close_all, cursors)
        return cursors

    def ask(self) -> Ask:
        """What the engine is asked of each range."""
        layout = self.design.layout
        # The limit is counted here: a row may hold nothing but somebody else's cells.
        return Ask(
            qualifiers=layout.qualifiers(self.asked.bounds),
            reverse=self.reverse,
            batch=PAGE if self.is_paged else None,
        )

    def _ask_behind(self) -> Ask:
        """What the engine is asked of the row of the token: it need not give what lies before."""
        ask = self.ask()
        first, last = ask.qualifiers
        assert self.start is not None
        return replace(ask, qualifiers=(max(first, self.start.opening), last))

    def _late(self, one: KeyRange, cursor: Cursor) -> Iterator[Piece]:
        """The pieces of one range, no row of which is read before its turn comes."""
        key = cursor.ahead()
        first = None if key is None else key[len(one.prefix) :]
        return late(first, self._run, one, cursor, reverse=self.reverse)

    def _run(self, one: KeyRange, cursor: Cursor) -> Iterator[Piece]:
        """The pieces of one range."""
        opening = self.design.layout.opening
        if opening is None:
            return rows_apart(one, cursor, self.copies)
        if self.is_paged:
            return events_apart(one, paged(cursor, opening), self.copies)
        found = held(cursor, opening, is_falling=self.reverse)
        return events_apart(one, found, self.copies)
