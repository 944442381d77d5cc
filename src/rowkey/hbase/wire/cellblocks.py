"""Cells as the bytes between client and server: KeyValueCodec, the hot path of every scan.

A block is cells one after the other, big endian, without a count:
`u32 kvLen | u32 keyLen | u32 valueLen | u16 rowLen | row | u8 familyLen | family | qualifier |
i64 timestamp | u8 kind | value | tags`. kvLen counts all behind itself, keyLen all from rowLen to
kind. Source: KeyValueCodec, KeyValue.
"""

from __future__ import annotations

import struct
from struct import Struct
from typing import TYPE_CHECKING, Any, NamedTuple

from rowkey.cells import FAMILY_BYTES_MOST, Cell, Kind, RowCells
from rowkey.errors import Refused
from rowkey.hbase.wire.proto import Malformed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_pack_head = Struct(">IIIh").pack
"""kvLen, keyLen, valueLen, rowLen; the last is signed in Java, so that a row is ≤ 32,767 B."""

_pack_tail = Struct(">qB").pack


class _Kinds(dict[int, Kind]):
    """Kinds by their byte; one that is unknown is malformed."""

    def __missing__(self, kind: int) -> Kind:
        raise Malformed(f"a cell of kind {kind}", f"one of {sorted(self)}")


_KINDS = _Kinds({int(kind): kind for kind in Kind})


class _Columns(dict[bytes, tuple[str, bytes]]):
    """Family and qualifier by their bytes, which begin with the family's length.

    Kept while one block is decoded, so that one text of a family serves all its cells.
    """

    def __missing__(self, column: bytes) -> tuple[str, bytes]:
        stop = 1 + column[0]
        if stop > len(column):
            raise Malformed(f"a family of {column[0]} bytes in {len(column) - 1:,}")
        try:
            family = column[1:stop].decode()
        except UnicodeDecodeError:
            raise Malformed(f"the family {column[1:stop]!r}", "UTF-8") from None
        if len(self) >= _COLUMNS_MOST:
            self.clear()
        pair = self[column] = family, column[stop:]
        return pair


_TTL_TAG, _TTL_TAG_BYTES = 8, 9
"""The tag of a cell's time to live: 1 byte of type, 8 of milliseconds. Source: TagType.TTL."""

_RUN = 8
"""Cells. If the cell so far on is of the same lengths, it pays to unpack those between at once.

Measured: blocks of equal lengths decode 1.7 times as fast, others 0.95 times as fast.
"""

_PORTION = 200
"""Rows decoded at a time: measured, 50 to 200 take 0.6 of the time that 14,000 at once do.

Fewer stay in the processor's cache, and Python's collector never meets those that are done with.
"""

_COLUMNS_MOST = 1_000
"""Columns kept while one block is decoded: more than that do not repeat often."""

_new_cell: Callable[[type[Cell], tuple[Any, ...]], Cell] = tuple.__new__
_new_row: Callable[[type[RowCells], tuple[bytes, Sequence[Cell]]], RowCells] = tuple.__new__
"""Without the Python function that a NamedTuple's `__new__` is; it takes as long as the rest."""


def encode_cell(row: bytes, cell: Cell) -> bytes:
    """The bytes of one cell; see `encode_cells`.

    >>> encode_cell(b"r1", Cell("d", b"q", 2**63 - 1, b"v")).hex()
    '000000190000001000000001000272310164717fffffffffffffff0476'
    """
    return encode_cells(row, (cell,))


def encode_cells(row: bytes, cells: Iterable[Cell]) -> bytes:
    """The bytes of some cells of one row, one after the other; see `encode_rows`."""
    return encode_rows(((row, cells),))


def encode_rows(rows: Iterable[tuple[bytes, Iterable[Cell]]]) -> bytes:
    """The bytes of the cells of some rows, one after the other.

    A cell's `ttl_ms` is not among them: it goes with the mutation, as its attribute `_ttl`.

    Args:
        rows: each with its key of 0..32,767 bytes, though HBase takes none that is empty, and its
            cells in the order in which they are to be sent.

    Raises:
        Refused: a length or a timestamp that the format has no room for.

    Cost: 0.4 to 0.5 µs a cell (16-byte rows, 100-byte values, CPython 3.11).
    """
    parts: list[bytes] = []
    for row, cells in rows:
        row_bytes = len(row)
        try:
            for family, qualifier, timestamp, value, kind, _ in cells:
                column = (_PREFIXES.get(family) or _prefix(family)) + qualifier
                value_bytes = len(value)
                key_bytes = row_bytes + len(column) + 11  # rowLen, timestamp and kind: 2 + 8 + 1
                head = _pack_head(8 + key_bytes + value_bytes, key_bytes, value_bytes, row_bytes)
                parts += head, row, column, _pack_tail(timestamp, kind), value
        except struct.error:
            raise Refused(
                "",
                f"a cell at {timestamp} of a row of {row_bytes:,} bytes does not fit a KeyValue",
                "a row of up to 32,767 bytes, a timestamp of -2^63..2^63-1",
            ) from None
    return b"".join(parts)


_PREFIXES: dict[str, bytes] = {}
"""familyLen and family by its name; a table has few families, so few are kept."""

_PREFIXES_MOST = 1_000


def _prefix(family: str) -> bytes:
    """What stands before a qualifier."""
    name = family.encode(errors="surrogatepass")
    if len(name) > FAMILY_BYTES_MOST:
        raise Refused(
            "", f"a family of {len(name):,} bytes", f"a family of up to {FAMILY_BYTES_MOST} bytes"
        )
    if len(_PREFIXES) >= _PREFIXES_MOST:
        _PREFIXES.clear()
    prefix = _PREFIXES[family] = bytes((len(name),)) + name
    return prefix


def decode_cells(
    block: bytes | memoryview, count: int | None = None, at: int = 0
) -> tuple[list[tuple[bytes, Cell]], int]:
    """The cells of a block with their rows, and the place behind them.

    Args:
        block: the cell block, not compressed.
        count: how many; None: all to the end of the block.
        at: where the first begins, from 0.

    Raises:
        Malformed: the bytes are no cells, or fewer than `count`.

    >>> block = encode_cell(b"r1", Cell("d", b"q", 7, b"v"))
    >>> decode_cells(block)[0][0][0], decode_cells(block)[1] == len(block)
    (b'r1', True)
    """
    rows, cells, stop = _decode(bytes(block), count, at, _Columns())
    return list(zip(rows, cells, strict=True)), stop


def decode_rows(block: bytes | memoryview, counts: Sequence[int]) -> list[RowCells]:
    """The rows of a block whose answer tells how many cells each has; see `iter_rows`."""
    return list(iter_rows(block, counts))


def iter_rows(block: bytes | memoryview, counts: Sequence[int]) -> Iterator[RowCells]:
    """The rows of a block, some at a time, so that those that are done with make room for others.

    Args:
        block: the cell block, not compressed.
        counts: cells of each row, from 0; of none, the row is empty as well.

    Yields:
        As many as there are counts, in their order.

    Raises:
        Malformed: the block is not of exactly these cells; rows before that place were given.

    Cost: 0.5 µs a cell where cells are alike in length and column, else 0.8 to 1.0 (16-byte rows,
    100-byte values, CPython 3.11); without `list`, as `decode_rows` has it, 0.1 µs less.
    """
    block, at, columns = bytes(block), 0, _Columns()
    ones = counts.count(1) == len(counts)
    for first in range(0, len(counts), _PORTION):
        some = counts[first : first + _PORTION]
        run = _run(block, at, len(some)) if ones else None
        if run and run.cells == len(some) and (rows := _rows_of(block, run, columns)):
            yield from rows
            at += run.cells * run.size
        else:
            keys, cells, at = _decode(block, sum(some), at, columns)
            yield from _grouped(keys, cells, some)
    if at != len(block):
        raise Malformed(f"{len(block) - at:,} bytes behind {sum(counts):,} cells", "none")


def _rows_of(block: bytes, run: _Run, columns: _Columns) -> list[RowCells]:
    """Rows of one cell each, all of one column and kind; none if they are not."""
    column_at, tail_at = 14 + run.row, 14 + run.row + run.column
    if _alike(block, run, (*range(column_at, tail_at), tail_at + 8)) < run.cells:
        return []
    family, qualifier = columns[block[run.at + column_at : run.at + tail_at]]
    kind, new, new_cell = _KINDS[block[run.at + tail_at + 8]], _new_row, _new_cell
    parts = run.parts(block, f"{run.row}s{run.column}xqx{run.value}s")
    return [
        new(RowCells, (row, [new_cell(Cell, (family, qualifier, timestamp, value, kind, None))]))
        for row, timestamp, value in parts
    ]


def _grouped(rows: list[bytes], cells: list[Cell], counts: Sequence[int]) -> Iterator[RowCells]:
    at, new = 0, _new_row
    for count in counts:
        yield new(RowCells, (rows[at] if count else b"", cells[at : at + count]))
        at += count


def _decode(
    block: bytes, count: int | None, at: int, columns: _Columns
) -> tuple[list[bytes], list[Cell], int]:
    """Rows and cells side by side, and the place behind the last.

    One loop with everything bound to locals: a call made for each cell would cost a tenth of it.
    """
    rows: list[bytes] = []
    cells: list[Cell] = []
    add_row, add_cell, new, kinds = rows.append, cells.append, _new_cell, _KINDS
    unpack_head, unpack_tail = Struct(">IIIH").unpack_from, Struct(">qB").unpack_from
    left = len(block) if count is None else count
    last = -1
    try:
        while left > 0:
            total, key_bytes, value_bytes, row_bytes = unpack_head(block, at)
            if (
                total == last
                and left > _RUN
                and block.startswith(block[at : at + 14], at + _RUN * (total + 4))
            ):
                last = -1
                if run := _run(block, at, left):
                    layout = f"{run.row}s{run.column}sqB{run.value}s"
                    for row, column, timestamp, kind, value in run.parts(block, layout):
                        family, qualifier = columns[column]
                        add_row(row)
                        parts = family, qualifier, timestamp, value, kinds[kind], None
                        add_cell(new(Cell, parts))
                    at += run.cells * run.size
                    left -= run.cells
                    continue
            last = total
            column_at, tail_at, stop = at + 14 + row_bytes, at + 3 + key_bytes, at + 4 + total
            value_stop = tail_at + 9 + value_bytes
            if column_at >= tail_at or value_stop > stop:
                raise _unfit(total, key_bytes, value_bytes, row_bytes)
            timestamp, kind = unpack_tail(block, tail_at)
            family, qualifier = columns[block[column_at:tail_at]]
            ttl_ms = _ttl_ms(block[value_stop:stop]) if value_stop < stop else None
            value = block[tail_at + 9 : value_stop]
            add_row(block[at + 14 : column_at])
            add_cell(new(Cell, (family, qualifier, timestamp, value, kinds[kind], ttl_ms)))
            at = stop
            left -= 1
    except struct.error:
        if count is not None or at != len(block):
            raise _cut(left, count, len(block) - at) from None
    if at > len(block):
        raise _cut(left, count, len(block) - at)
    return rows, cells, at


class _Run(NamedTuple):
    """Cells one behind the other whose parts are of the same lengths, without tags.

    Args:
        at: where the first begins.
        cells: how many they are.
        row: bytes of each row key.
        column: bytes of each column, with the family's length.
        value: bytes of each value.
    """

    at: int
    cells: int
    row: int
    column: int
    value: int

    @property
    def size(self) -> int:
        """Bytes of a cell."""
        return 14 + self.row + self.column + 9 + self.value

    def parts(self, block: bytes, layout: str) -> Iterator[Any]:
        """Parts of each cell.

        Args:
            block: where the cells are.
            layout: of struct, of row, column, timestamp, kind and value in this order.
        """
        stop = self.at + self.cells * self.size
        return Struct(f">14x{layout}").iter_unpack(memoryview(block)[self.at : stop])


def _run(block: bytes, at: int, most: int) -> _Run | None:
    """The cells that begin here, up to so many; None if they are few."""
    if most < _RUN or at + 14 > len(block):
        return None
    total, key, value, row = struct.unpack_from(">IIIH", block, at)
    column = key - row - 11
    if column < 1 or total != 8 + key + value:  # broken, or with tags
        return None
    run = _Run(at, min(most, (len(block) - at) // (4 + total)), row, column, value)
    count = _alike(block, run, range(14))
    return run._replace(cells=count) if count >= _RUN else None


def _alike(block: bytes, run: _Run, places: Iterable[int]) -> int:
    """How many cells of a run agree with the first in these bytes, until one does not.

    Each byte is compared for all cells at once: no object is made of a cell.
    """
    count, size = run.cells, run.size
    for place in places:
        first = run.at + place
        same = block[first : first + count * size : size]
        count -= len(same.lstrip(same[:1]))
    return count


def _unfit(total: int, key_bytes: int, value_bytes: int, row_bytes: int) -> Malformed:
    """What is wrong with a cell whose parts are longer than itself."""
    parts = f"{key_bytes:,} of key, {value_bytes:,} of value, {row_bytes:,} of row"
    return Malformed(f"a cell of {total:,} bytes with {parts}", "parts that fit in the whole")


def _cut(left: int, count: int | None, bytes_left: int) -> Malformed:
    """What is wrong with a block that ends too early."""
    if bytes_left < 0:
        return Malformed(f"a cell of {-bytes_left:,} bytes more than the block has")
    wanted = "a whole cell" if count is None else f"{left:,} more cells"
    return Malformed(f"{bytes_left:,} bytes at the end of a cell block", wanted)


def _ttl_ms(tags: bytes) -> int | None:
    """The time to live among the tags behind a value, or None.

    Source: KeyValueCodecWithTags, TagUtil: `u16 bytes of all | (u16 length | u8 type | value)*`.
    """
    if int.from_bytes(tags[:2], "big") != len(tags) - 2:
        raise Malformed(f"{len(tags):,} bytes behind a value", "its tags and their length")
    at, ttl_ms = 2, None
    while at < len(tags):
        size = int.from_bytes(tags[at : at + 2], "big")
        tag = tags[at + 2 : at + 2 + size]
        if not 0 < size == len(tag):
            raise Malformed(f"a tag of {size} bytes in {len(tags) - at:,}")
        if tag[0] == _TTL_TAG:
            if size != _TTL_TAG_BYTES:
                raise Malformed(f"a time to live of {size - 1} bytes", "8 bytes")
            ttl_ms = int.from_bytes(tag[1:], "big", signed=True)
        at += 2 + size
    return ttl_ms
