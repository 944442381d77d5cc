"""The sizes that the pages of a Parquet file declare, checked before Arrow allocates memory.

A page may unpack to two gigabytes, and a page of a few bytes may repeat a value of a dictionary two
billion times. How long the rows of a column may be is read from the headers of its pages and from
its dictionary, so that few enough rows are asked for at once.

Source: Apache Parquet, parquet.thrift; the compact protocol of Thrift.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

from rowkey.array_libraries import pa
from rowkey.workload.columnar.arrow_ipc import DamagedFileError, UnpackedSizeLimit
from rowkey.workload.columnar.thrift import get_number, get_struct, get_structs, read_struct

MAX_PAGE_BYTES = 1 << 26
"""Bytes that a page may unpack to; writers make pages of one to eight MiB."""
MAX_HEADER_BYTES = 1 << 20
"""Bytes of the header of a page, with the least and the greatest value."""
MAX_FREE_FOOTER_BYTES, MAX_FOOTER_FRACTION = 1 << 21, 4
"""Bytes of a footer, and the part of a larger file that it may be: read, it takes up to 300 times
its size in memory."""
DATA_PAGE, DICTIONARY_PAGE, DATA_PAGE_V2 = 0, 2, 3
"""Types of pages."""
UNCOMPRESSED = 0
CODEC_NAMES = {1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}
"""Arrow's names of the ways to compress pages, by their numbers; Hadoop's LZ4 is left out."""
DICTIONARY_ENCODINGS = (2, 8)
"""Encodings of values by their numbers in a dictionary."""
DELTA_BYTE_ARRAY = 7
"""The encoding of a text by what it shares with the one before, which is written out of nothing."""


@dataclass(frozen=True, slots=True)
class PageHeader:
    """The header of a page.

    Args:
        unpacked_bytes: its bytes, unpacked.
        packed_bytes: its bytes in the file, after the header.
        value_count: how many values it has, nulls among them.
        encoding: how they are written.
        offset: where its bytes begin in the file.
    """

    page_type: int
    unpacked_bytes: int
    packed_bytes: int
    value_count: int
    encoding: int
    offset: int


@dataclass(frozen=True, slots=True)
class ColumnChunk:
    """What the footer declares of one column in one row group.

    Args:
        codec: the number of the way its pages are compressed.
        value_count: how many values it has, nulls among them.
        offset: where its first page begins in the file.
    """

    codec: int
    value_count: int
    offset: int

    @classmethod
    def from_fields(cls, fields: dict[int, Any]) -> ColumnChunk:
        """Return a chunk from the fields of a ColumnChunk of parquet.thrift.

        Raises:
            DamagedFileError: it has no metadata, or one of its numbers is negative.
        """
        metadata = get_struct(fields, 3)
        values, at = get_number(metadata, 5, -1), get_number(metadata, 9, -1)
        dictionary_at = get_number(metadata, 11, 0)
        if 0 < dictionary_at < at:
            at = dictionary_at
        if values < 0 or at < 0:
            raise DamagedFileError("the footer does not say where a column begins")
        return cls(get_number(metadata, 4, UNCOMPRESSED), values, at)


@dataclass(frozen=True, slots=True)
class RowGroup:
    """What the footer declares of a row group.

    Args:
        rows: how many rows it has.
        columns: the fields of its ColumnChunks, one for each leaf of the schema.
    """

    rows: int
    columns: list[dict[int, Any]]


def check_footer(stream: IO[bytes], file_bytes: int) -> None:
    """Raise an error if the footer is too large to be read.

    Raises:
        DamagedFileError: it is too large for the file.
    """
    size = _read_footer_size(stream, file_bytes)
    stream.seek(0)
    if size > max(MAX_FREE_FOOTER_BYTES, file_bytes // MAX_FOOTER_FRACTION):
        raise DamagedFileError(
            f"the footer claims {size:,} of the {file_bytes:,} bytes of the file"
        )


def _read_footer_size(stream: IO[bytes], file_bytes: int) -> int:
    """Return the size in bytes that the end of the file declares for the footer."""
    stream.seek(max(file_bytes - 8, 0))
    return int.from_bytes(stream.read(4), "little")


def read_row_groups(stream: IO[bytes], file_bytes: int, n_columns: int) -> list[RowGroup]:
    """Return the row groups that the footer lists.

    Args:
        n_columns: the leaves of its schema.

    Raises:
        DamagedFileError: the footer ends too early, or a row group has other columns.

    Cost: 15 µs a column of a row group.
    """
    size = _read_footer_size(stream, file_bytes)
    stream.seek(max(file_bytes - 8 - size, 0))
    try:
        footer, _ = read_struct(stream.read(size), 0)
    except IndexError:
        raise DamagedFileError("the footer has no end") from None
    groups = [
        RowGroup(get_number(group, 3, -1), get_structs(group, 1))
        for group in get_structs(footer, 4)
    ]
    if any(group.rows < 0 or len(group.columns) != n_columns for group in groups):
        raise DamagedFileError("a row group in the footer has other columns than the file")
    return groups


def bound_row_bytes(
    stream: IO[bytes], groups: Sequence[RowGroup], widths: dict[int, int], limits: UnpackedSizeLimit
) -> int:
    """Return how many bytes the values of a row may take, on average over some thousand rows.

    Args:
        widths: bytes of a value of each column that is read, by its place among the leaves of the
            schema; 0 of texts and bytes, whose pages tell.
        limits: counts what the pages unpack to.

    Raises:
        DamagedFileError: a page says what cannot be true.

    Cost: 30 µs a page, 0.1 µs a value of a dictionary.
    """
    total = 0
    for place, width in widths.items():
        chunks = [ColumnChunk.from_fields(group.columns[place]) for group in groups]
        total += max(_bound_value_bytes(stream, chunk, width, limits) for chunk in chunks)
    return total


def _bound_value_bytes(
    stream: IO[bytes], chunk: ColumnChunk, width: int, limits: UnpackedSizeLimit
) -> int:
    """Return how many bytes a value of a column chunk takes at most, on average."""
    max_bytes = 0
    for page in _read_pages(stream, chunk, limits):
        if width:
            max_bytes = width
        elif page.page_type == DICTIONARY_PAGE:
            max_bytes = max(max_bytes, _measure_longest_value(stream, chunk.codec, page))
        elif page.encoding == DELTA_BYTE_ARRAY:
            max_bytes = max(max_bytes, page.unpacked_bytes)
        elif page.encoding not in DICTIONARY_ENCODINGS:
            max_bytes = max(max_bytes, page.unpacked_bytes // max(page.value_count, 1))
    return max_bytes


def _read_pages(
    stream: IO[bytes], chunk: ColumnChunk, limits: UnpackedSizeLimit
) -> Iterator[PageHeader]:
    """Return the pages of a column chunk, each checked.

    Raises:
        DamagedFileError: a page is outside of the file, or claims too many values.
    """
    at, value_count = chunk.offset, 0
    while value_count < chunk.value_count:
        page = _read_page(stream, at)
        at = page.offset + page.packed_bytes
        if (
            min(page.unpacked_bytes, page.packed_bytes, page.value_count) < 0
            or at > limits.file_bytes
        ):
            raise DamagedFileError("a page lies outside of the file")
        max_values = page.unpacked_bytes if page.page_type == DICTIONARY_PAGE else chunk.value_count
        if page.unpacked_bytes > MAX_PAGE_BYTES or page.value_count > max_values:
            what = f"a page claims {page.value_count:,} values"
            raise DamagedFileError(f"{what} in {page.unpacked_bytes:,} bytes")
        limits.count_bytes(page.unpacked_bytes)
        if page.page_type in (DATA_PAGE, DATA_PAGE_V2):
            value_count += page.value_count
        yield page


def _read_page(stream: IO[bytes], offset: int) -> PageHeader:
    size = 256
    while True:
        stream.seek(offset)
        data = stream.read(size)
        try:
            fields, end = read_struct(data, 0)
            break
        except IndexError:
            if len(data) < size or size >= MAX_HEADER_BYTES:
                raise DamagedFileError("the header of a page has no end") from None
            size *= 16
    kind = get_number(fields, 1, -1)
    header = get_struct(fields, {DATA_PAGE: 5, DICTIONARY_PAGE: 7, DATA_PAGE_V2: 8}.get(kind, 6))
    return PageHeader(
        kind,
        unpacked_bytes=get_number(fields, 2, -1),
        packed_bytes=get_number(fields, 3, -1),
        value_count=get_number(header, 1, 0),
        encoding=get_number(header, 4 if kind == DATA_PAGE_V2 else 2, 0),
        offset=offset + end,
    )


def _measure_longest_value(stream: IO[bytes], codec: int, page: PageHeader) -> int:
    """Return the bytes of the longest value of a dictionary, at least.

    Raises:
        DamagedFileError: the dictionary has fewer values than it claims.
    """
    stream.seek(page.offset)
    data = stream.read(page.packed_bytes)
    if codec != UNCOMPRESSED:
        name = CODEC_NAMES.get(codec)
        if name is None or not pa.Codec.is_available(name):
            return page.unpacked_bytes
        data = pa.Codec(name).decompress(data, page.unpacked_bytes, asbytes=True)
    longest = at = 0
    read_length = _LENGTH_STRUCT.unpack_from
    try:
        for _ in range(page.value_count):
            (length,) = read_length(data, at)
            at += 4 + length
            if length > longest:  # noqa: PLR1730 - `max` takes as long as all else here
                longest = length
    except struct.error:
        raise DamagedFileError("a dictionary has fewer values than it claims") from None
    return longest


_LENGTH_STRUCT = struct.Struct("<I")
