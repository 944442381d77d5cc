"""Cells as the bytes between client and server: KeyValueCodec, the hot path of every scan.

A block is cells one after the other, big endian, without a count:
`u32 kvLen | u32 keyLen | u32 valueLen | u16 rowLen | row | u8 familyLen | family | qualifier |
i64 timestamp | u8 kind | value | tags`. kvLen counts all behind itself, keyLen all from rowLen to
kind. Source: KeyValueCodec, KeyValue.
"""

from __future__ import annotations

import struct
from struct import Struct
from typing import TYPE_CHECKING, Any

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
"""Cells decoded at a time, about: measured, 50 to 200 take 0.6 of the time that 14,000 at once do.

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
    portion = max(1, _PORTION * len(counts) // max(1, sum(counts)))
    for first in range(0, len(counts), portion):
        some = counts[first : first + portion]
        rows, at = _rows_alike(block, at, len(some), columns) if ones else ([], at)
        if rows:
            yield from rows
        else:
            keys, cells, at = _decode(block, sum(some), at, columns)
            yield from _grouped(keys, cells, some)
    if at != len(block):
        raise Malformed(f"{len(block) - at:,} bytes behind {sum(counts):,} cells", "none")


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
                done = _decode_run(block, at, left, rows, cells, columns)
                at += done * (total + 4)
                left -= done
                last = -1
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


def _decode_run(
    block: bytes, at: int, left: int, rows: list[bytes], cells: list[Cell], columns: _Columns
) -> int:
    """Adds the cells that begin with the same lengths as the one here; how many they are.

    None, if their lengths are not those of a cell without tags: the caller takes them singly.
    """
    head = block[at : at + 14]
    total, key_bytes, value_bytes, row_bytes = struct.unpack(">IIIH", head)
    column_bytes = key_bytes - row_bytes - 11
    if column_bytes < 1 or total != 8 + key_bytes + value_bytes:
        return 0
    layout = Struct(f">14s{row_bytes}s{column_bytes}sqB{value_bytes}s")
    most = min(left, (len(block) - at) // layout.size)
    run = layout.iter_unpack(memoryview(block)[at : at + most * layout.size])
    add_row, add_cell, new, kinds, before = rows.append, cells.append, _new_cell, _KINDS, len(rows)
    for lengths, row, column, timestamp, kind, value in run:
        if lengths != head:
            break
        family, qualifier = columns[column]
        add_row(row)
        add_cell(new(Cell, (family, qualifier, timestamp, value, kinds[kind], None)))
    return len(rows) - before


def _rows_alike(block: bytes, at: int, count: int, columns: _Columns) -> tuple[list[RowCells], int]:
    """Rows of one cell each that differ in nothing but row key, timestamp and value.

    What they must have in common, their lengths, column and kind, is compared byte by byte of a
    cell for all of them at once: no object is made of it.

    Returns:
        All of them, and the place behind them; none where they are not alike, or with tags.
    """
    if len(block) - at < 14:
        return [], at
    total, key_bytes, value_bytes, row_bytes = struct.unpack_from(">IIIH", block, at)
    column_at, tail_at = 14 + row_bytes, 3 + key_bytes
    size = 4 + total
    stop = at + count * size
    if column_at >= tail_at or total != 8 + key_bytes + value_bytes or stop > len(block):
        return [], at
    for place in (*range(14), *range(column_at, tail_at), tail_at + 8):
        same = block[at + place : stop : size]
        if same.count(same[0]) < count:
            return [], at
    family, qualifier = columns[block[at + column_at : at + tail_at]]
    kind, new, new_cell = _KINDS[block[at + tail_at + 8]], _new_row, _new_cell
    layout = Struct(f">14x{row_bytes}s{tail_at - column_at}xqx{value_bytes}s")
    rows = [
        new(RowCells, (row, [new_cell(Cell, (family, qualifier, timestamp, value, kind, None))]))
        for row, timestamp, value in layout.iter_unpack(memoryview(block)[at:stop])
    ]
    return rows, stop


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
