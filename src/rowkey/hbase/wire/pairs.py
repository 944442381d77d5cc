"""Rows as (key, {column: value}) straight from a cell block: what callers of happybase read.

A `Cell` and its row are four objects and two look-ups of names; a caller who wants `b"d:v"` and a
value drops most of them at once. Here neither is made.
"""

from __future__ import annotations

import struct
from struct import Struct
from typing import TYPE_CHECKING, Any, TypeAlias

from rowkey.hbase.wire.proto import Malformed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Pairs: TypeAlias = "tuple[bytes, dict[bytes, Any]]"
"""A row key, and its values by `family:qualifier`."""

_head = Struct(">IIIH").unpack_from
_long = Struct(">q").unpack_from

_HEAD = 14
"""Bytes before the row key: lengths of cell, key, value and row. Source: KeyValueCodec."""

_WORTH = 8
"""Rows. If the row so far on is as long, the rows between may be taken at once."""

_FIRST, _MOST = 16, 4_096
"""Rows of a first look for equal ones, which is doubled as long as they are, and of the longest.

A look costs 20 ns a row and cell; one that fails after few rows must not have looked far.
"""


class _Names(dict[bytes, bytes]):
    """`family:qualifier` by family and qualifier as a cell has them, a length before the family."""

    def __missing__(self, column: bytes) -> bytes:
        stop = 1 + column[0]
        if stop > len(column):
            raise Malformed(f"a family of {column[0]} bytes in {len(column) - 1:,}")
        if len(self) >= _NAMES_MOST:
            self.clear()
        name = self[column] = column[1:stop] + b":" + column[stop:]
        return name


_NAMES_MOST = 1_000
"""Columns kept while one block is read: more than that do not repeat often."""


def pair_rows(
    block: bytes | memoryview, counts: Sequence[int], *, timestamps: bool = False
) -> list[Pairs]:
    r"""The rows of a block whose answer tells how many cells each has.

    Args:
        block: the cell block, not compressed.
        counts: cells of each row, 1 or more.
        timestamps: whether each value comes as (value, timestamp).

    Returns:
        As many as there are counts, in their order; columns in the order of the cells. Of two cells
        of one column the last stays.

    Raises:
        Malformed: the block is not of exactly these cells.

    Cost: 0.3 µs for a row of one cell where rows are alike, 1.2 µs where each has another length
    (CPython 3.11).

    >>> block = bytes.fromhex("000000190000001000000001000272310164717fffffffffffffff0476")
    >>> pair_rows(block, [1])
    [(b'r1', {b'd:q': b'v'})]
    """
    reader = _Reader(bytes(block), counts, timestamps)
    reader.read()
    if reader.at != len(reader.block):
        left = len(reader.block) - reader.at
        raise Malformed(f"{left:,} bytes behind {sum(counts):,} cells", "none")
    return reader.rows


class _Reader:
    """Reads a block from front to back."""

    def __init__(self, block: bytes, counts: Sequence[int], timestamps: bool) -> None:
        self.block, self.counts, self.timestamps = block, counts, timestamps
        self.rows: list[Pairs] = []
        self.at = 0
        self._names = _Names()
        self._equal = counts.count(counts[0]) == len(counts) if counts else True

    def read(self) -> None:
        """Read all rows: alike ones together, others one by one.

        Where looking for alike ones was in vain, the next look waits for twice as many rows.
        """
        last, not_before, pause = -1, 0, _WORTH
        number, total = 0, len(self.counts)
        block, counts = self.block, self.counts
        while number < total:
            start = self.at
            self._row(counts[number])
            number += 1
            size = self.at - start
            if size == last and number >= not_before and total - number > _WORTH:
                ahead = start + _WORTH * size
                if block.startswith(block[start : start + _HEAD], ahead):
                    found = self._alike(start, size, number)
                    number += found
                    pause = _WORTH if found >= _WORTH else min(pause * 2, _MOST)
                    not_before = number + pause if pause > _WORTH else 0
            last = size

    def _row(self, count: int) -> None:
        """Read one row, cell by cell."""
        block, at, names, timestamps = self.block, self.at, self._names, self.timestamps
        values: dict[bytes, Any] = {}
        row, end = b"", len(block)
        try:
            for _ in range(count):
                total, key_bytes, value_bytes, row_bytes = _head(block, at)
                column_at, tail_at, stop = at + 14 + row_bytes, at + 3 + key_bytes, at + 4 + total
                value_stop = tail_at + 9 + value_bytes
                if column_at >= tail_at or value_stop > stop:
                    raise _unfit(total, key_bytes, value_bytes, row_bytes)
                if stop > end:
                    raise _cut(stop - end)
                value: Any = block[tail_at + 9 : value_stop]
                if timestamps:
                    value = value, _long(block, tail_at)[0]
                values[names[block[column_at:tail_at]]] = value
                row = block[at + 14 : column_at]
                at = stop
        except struct.error:
            raise _cut(end - at) from None
        self.at = at
        self.rows.append((row, values))

    def _alike(self, start: int, size: int, number: int) -> int:
        """Read the rows that have the lengths and columns of the one before; how many they are.

        Args:
            start: where the row before begins.
            size: its bytes.
            number: how many rows stand before those to be read.
        """
        shape = _Shape(self.block, start, self.counts[number - 1], self.timestamps)
        if shape.size != size:
            return 0  # it has tags, which those rows need not have
        make = shape.maker([self._names[column] for column in shape.columns])
        done, window = 0, _FIRST
        while True:
            most = min(window, len(self.counts) - number - done, self._left // size)
            found = shape.repeats(self.block, self.at, self._as_many(number + done, most))
            stretch = memoryview(self.block)[self.at : self.at + found * size]
            self.rows += make(shape.layout.iter_unpack(stretch))
            self.at += found * size
            done += found
            if found < window:
                return done
            window = min(window * 2, _MOST)

    @property
    def _left(self) -> int:
        return len(self.block) - self.at

    def _as_many(self, number: int, most: int) -> int:
        """How many rows from one on have as many cells as the one before it; `most` at most."""
        if self._equal:
            return most
        count = self.counts[number - 1]
        here = self.counts[number : number + most]
        return next((place for place, one in enumerate(here) if one != count), most)


class _Shape:
    """Lengths and columns of a row, and how rows that share them are read at once.

    Args:
        block: the cell block.
        start: where the row begins.
        count: how many cells it has.
        timestamps: whether they are wanted.
    """

    def __init__(self, block: bytes, start: int, count: int, timestamps: bool) -> None:
        self.columns: list[bytes] = []
        self._same: list[tuple[int, bytes]] = []
        self._timestamps = timestamps
        layout, at = ">", start
        for number in range(count):
            _, key_bytes, value_bytes, row_bytes = _head(block, at)
            column_at = at + _HEAD + row_bytes
            column = block[column_at : at + 3 + key_bytes]
            self.columns.append(column)
            self._note(at - start, block[at : at + _HEAD])
            self._note(column_at - start, column)
            key = f"{row_bytes}x" if number else f"{row_bytes}s"
            layout += f"14x{key}{len(column)}x{'qx' if timestamps else '9x'}{value_bytes}s"
            at += 12 + key_bytes + value_bytes
        self.layout = Struct(layout)
        self.size = at - start

    def _note(self, place: int, told: bytes) -> None:
        self._same += ((place + i, told[i : i + 1]) for i in range(len(told)))

    def repeats(self, block: bytes, at: int, most: int) -> int:
        """How many rows from a place on have this shape; `most` at most.

        A byte that must be the same is looked at in all of the rows together.
        """
        size = self.layout.size
        for place, byte in self._same:
            if not most:
                return 0
            seen = block[at + place : at + most * size : size]
            if seen.count(byte) != most:
                most = len(seen) - len(seen.lstrip(byte))
        return most

    def maker(self, names: list[bytes]) -> Callable[[Any], list[Pairs]]:
        """What makes rows of what the layout unpacks."""
        if len(names) == 1:
            name = names[0]
            if self._timestamps:
                return lambda run: [(row, {name: (value, at)}) for row, at, value in run]
            return lambda run: [(row, {name: value}) for row, value in run]
        if self._timestamps:
            return lambda run: [
                (row, dict(zip(names, zip(told[1::2], told[::2], strict=True), strict=True)))
                for row, *told in run
            ]
        return lambda run: [(row, dict(zip(names, values, strict=True))) for row, *values in run]


def _unfit(total: int, key_bytes: int, value_bytes: int, row_bytes: int) -> Malformed:
    """What is wrong with a cell whose parts are longer than itself."""
    parts = f"{key_bytes:,} of key, {value_bytes:,} of value, {row_bytes:,} of row"
    return Malformed(f"a cell of {total:,} bytes with {parts}", "parts that fit in the whole")


def _cut(bytes_off: int) -> Malformed:
    """What is wrong with a block that ends elsewhere than its last cell."""
    return Malformed(
        f"a cell that ends {bytes_off:,} bytes from the end of its block", "whole ones"
    )
