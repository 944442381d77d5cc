"""A read as it runs: ranges opened, merged, filtered, and given as rows or as Arrow columns."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from itertools import chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from rowkey.engines import Ask, Span
from rowkey.errors import ReadError, Refused, shown
from rowkey.plan import Residual, plan_read, sorted_rows
from rowkey.table.columns import arrow_of, rows_of
from rowkey.table.merge import Copies, Piece, gathered, merged, piece_of
from rowkey.table.models import maker
from rowkey.table.tokens import Token, digest_of, read_token

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from rowkey.cells import Cell, RowCells
    from rowkey.design import Design
    from rowkey.engines import Cursor, Reader
    from rowkey.plan import Asked, KeyRange

MOST_SORTED = 1_000_000
"""Rows that are sorted in memory where the key does not give the order asked for."""
SORTED_TOGETHER = 10_000
"""Rows that are sorted together at least, so that a small limit does not sort for each row."""
MUCH = 512
"""Rows of each range from which decoding by blocks is worth its fixed cost of 0.5 ms. Measured."""
MOST_BLOCKS = 64
"""Ranges above which the first row would wait too long for all their blocks."""
AT_ONCE = 1_024
"""Rows that are decoded together in the end: more are not faster."""


class Scan:
    """The rows that meet some conditions, read as they are asked for.

    Iterating gives rows as dictionaries, or as instances of `into`; `to_arrow` and `batches` give
    columns. It can be iterated again: each time it reads the table as it then is.

    Args:
        design: the table's design.
        reader: the engine's table, or a snapshot of it.
        asked: the conditions and the order, bound.
        limit: most rows, or None.
        resume: the token of an earlier scan with the same conditions and order.
        into: a class for each row.
    """

    def __init__(
        self,
        design: Design,
        reader: Reader,
        asked: Asked,
        *,
        limit: int | None = None,
        resume: str | None = None,
        into: type[Any] = dict,
    ) -> None:
        if limit is not None and (type(limit) is not int or limit < 0):
            raise ReadError("limit", f"{shown(limit)} rows cannot be read", "0 or more")
        if resume is not None and not isinstance(resume, str):
            raise ReadError("resume", f"{shown(resume)} is no token", "what scan.token gave")
        self.design = design
        self.reader = reader
        self.asked = asked
        self.plan = plan_read(design.key, asked.bounds, asked.order)
        self.residual = Residual(self.plan.residual, asked.bounds, design.fields)
        self.limit = limit
        self.make = maker(into)
        self.is_plain = issubclass(into, dict)
        self.digest = digest_of(asked.bounds, asked.order, str(design.key))
        self.start = read_token(resume, self.digest) if resume is not None else None
        self.last: Piece | Token | tuple[bytes, bytes, dict[str, Any]] | None = self.start
        self.copies = Copies(design.key, self.plan.merged)
        self.sorts = self.plan.needs_sort
        if resume is not None and (self.sorts or self.copies.scattered):
            what = "the key does not give the order asked for, so a scan cannot go on"
            raise ReadError("resume", what, "an order that the key gives")

    @property
    def reverse(self) -> bool:
        """Whether the table is read backwards."""
        return self.plan.is_backwards

    @property
    def token(self) -> str | None:
        """Where the last iteration stands.

        None before its first row, where rows are sorted or a salt does not lead the key, and of
        rows read as Arrow.
        """
        last = self.last
        if last is None or self.sorts or self.copies.scattered:
            return None
        if isinstance(last, Piece | Token):
            return str(Token(self.digest, last.behind, last.opening, last.prefix))
        _, prefix, row = last
        prefix = prefix or self.plan.ranges[0].prefix
        layout = self.design.layout
        opening = b"" if layout.opening is None else layout.opening.write(row)
        return str(Token(self.digest, layout.key.encode(row)[len(prefix) :], opening, prefix))

    def __iter__(self) -> Iterator[Any]:
        rows = self.plain_rows()
        return rows if self.is_plain else map(self.make, rows)

    def first(self) -> Any:
        """The first row, or None."""
        return next(iter(self), None)

    def count(self) -> int:
        """How many rows there are.

        Cost: that of reading them; nothing is decoded where no condition is left to test.
        """
        if self.sorts or self.limit is not None or self.start is not None or self.residual:
            return sum(1 for _ in self.plain_rows())
        with ExitStack() as opened:
            return sum(1 for _ in self._pieces(opened))

    def to_arrow(self) -> pa.Table:
        """All rows as one Arrow table, in the same order, in the types of the fields.

        Cost: 0.3 to 1 µs a row, most of it the engine's; all rows are in memory.
        """
        return arrow_of(self)

    def batches(self, rows: int = 65_536) -> Iterator[pa.RecordBatch]:
        """The rows as Arrow columns, some at a time, in the same order."""
        yield from self.to_arrow().to_batches(max_chunksize=rows)

    def plain_rows(self) -> Iterator[dict[str, Any]]:
        """The rows as dictionaries, whatever class was asked for, in the order asked for."""
        if self.limit == 0:
            return
        if self.sorts:
            yield from self._sorted()
            return
        with ExitStack() as opened:
            if self._is_read_whole():
                for behind, prefix, row in islice(rows_of(self, opened), self.limit):
                    self.last = behind, prefix, row
                    yield row
                return
            for piece, row in islice(self._found(opened), self.limit):
                self.last = piece
                yield row

    @property
    def is_of_blocks(self) -> bool:
        """Whether rows can be decoded by blocks.

        Not where copies must be joined, or events of several ranges or in reverse told apart.
        """
        is_one = self.plan.fan_out == 1 and not self.reverse
        if self.design.key.is_salted or self.start is not None:
            return False
        return is_one or not self.design.layout.shares_rows

    def _is_read_whole(self) -> bool:
        """Whether so much is read that decoding it by blocks is faster, if a little later."""
        if not self.is_of_blocks:
            return False
        ranges = self.plan.fan_out
        return ranges <= MOST_BLOCKS and (self.limit is None or self.limit >= MUCH * ranges)

    def _found(self, opened: ExitStack) -> Iterator[tuple[Piece, dict[str, Any]]]:
        """Rows that meet every condition, in the order of the key, and where they stand."""
        pieces = self._pieces(opened)
        found = chain.from_iterable(self._decoded(pieces))
        return found if not self.residual else (one for one in found if self.residual(one[1]))

    def _decoded(self, pieces: Iterator[Piece]) -> Iterator[Iterator[tuple[Piece, dict[str, Any]]]]:
        """The rows of pieces, more and more at a time: the first one comes at once."""
        layout, size = self.design.layout, 1
        while some := list(islice(pieces, size)):
            rows = layout.rows([one.row for one in some], [one.cells for one in some])
            yield ((piece, row) for piece, events in zip(some, rows, strict=True) for row in events)
            size = min(2 * size, AT_ONCE)

    def _sorted(self) -> Iterator[dict[str, Any]]:
        """Rows in an order that the key does not give, sorted in memory."""
        with ExitStack() as opened:
            rows = map(itemgetter(1), self._found(opened))
            yield from self._best(rows)

    def _best(self, rows: Iterator[dict[str, Any]]) -> list[Any]:
        """The first rows in the order asked for; only as many are held as that takes."""
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
        cursors = self.opened(opened, ranges)
        runs = [self._run(r, c) for r, c in zip(ranges, cursors, strict=True)]
        found = merged(runs, reverse=self.reverse, copies=self.copies.pinned)
        if self.copies.scattered:
            found = gathered(found, self.copies.identity)
        return self._after(found)

    def ranges(self) -> list[KeyRange]:
        """The ranges that are left to read, in the direction of the read."""
        ranges = list(self.plan.ranges)
        if self.start is not None:
            ranges = [r for r in map(self._left_of, ranges) if r is not None]
        return ranges

    def opened(self, opened: ExitStack, ranges: list[KeyRange]) -> list[Cursor]:
        """A cursor for each range, closed with `opened`."""
        spans = [Span(one.start, one.stop) for one in ranges]
        return [opened.enter_context(c) for c in self.reader.scan(spans, self.ask())]

    def ask(self) -> Ask:
        """What the engine is asked of each range."""
        layout = self.design.layout
        is_whole = self.sorts or bool(self.residual) or layout.shares_rows
        is_whole = is_whole or self.design.key.is_salted
        # The row of the token is read again.
        again = self.start is not None
        return Ask(
            qualifiers=layout.qualifiers(self.asked.bounds),
            reverse=self.reverse,
            limit=None if is_whole or self.limit is None else self.limit + again,
        )

    def _run(self, one: KeyRange, cursor: Cursor) -> Iterator[Piece]:
        """The pieces of one range."""
        size = len(one.prefix)
        prefix, copy = self.copies.told(one.prefix)
        if not self.design.layout.shares_rows:
            return (piece_of((row[size:], b"", prefix, copy, row, cells)) for row, cells in cursor)
        return chain.from_iterable(self._events(found, size, prefix, copy) for found in cursor)

    def _events(self, found: RowCells, size: int, prefix: bytes, copy: bytes) -> Iterator[Piece]:
        """The events of one shared row, each with what opens its qualifiers."""
        opening = self.design.layout.opening
        assert opening is not None
        events: dict[bytes, list[Cell]] = {}
        for cell in found.cells:
            try:
                end = opening.measure(cell.qualifier)
            except Refused:
                continue  # somebody else's cell
            events.setdefault(cell.qualifier[:end], []).append(cell)
        for start in sorted(events, reverse=self.reverse):
            yield Piece(found.row[size:], start, prefix, copy, found.row, events[start])

    def _left_of(self, one: KeyRange) -> KeyRange | None:
        """What is left of a range behind the token; rows that share its row are read again."""
        assert self.start is not None
        at = one.prefix + self.start.behind
        if self.reverse:
            stop = at + b"\0"
            if stop <= one.start:
                return None
            return one if one.stop and one.stop <= stop else replace(one, stop=stop)
        if one.stop and one.stop <= at:
            return None
        return one if at <= one.start else replace(one, start=at)

    def _after(self, pieces: Iterator[Piece]) -> Iterator[Piece]:
        """The pieces behind the token; which copy of a row stood first does not matter."""
        if self.start is None:
            return pieces
        last = self.start[1:]
        return (piece for piece in pieces if self._is_past(piece[:3], last))

    def _is_past(self, one: tuple[bytes, ...], other: tuple[bytes, ...]) -> bool:
        return one < other if self.reverse else one > other
