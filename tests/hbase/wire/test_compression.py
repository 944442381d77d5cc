"""Compressed cell blocks, compared with Python's own zlib."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.hbase.wire.compression import compress, decompress
from rowkey.hbase.wire.proto import WireFormatError


@given(block=st.binary(max_size=3_000))
def test_a_block_survives_compression(block: bytes) -> None:
    """A block is equal after compression and decompression, from any buffer."""
    stream = compress(block)
    assert block == decompress(stream)
    assert block == decompress(memoryview(stream), len(block))


@given(block=st.binary(min_size=1, max_size=3_000))
def test_compressed_streams_are_those_of_zlib(block: bytes) -> None:
    """Python's zlib reads our streams, and we read the streams of zlib."""
    assert block == zlib.decompress(compress(block))
    assert block == decompress(zlib.compress(block))


def test_a_decompression_bomb_is_rejected() -> None:
    """A stream above the size limit is malformed, and one at the limit is read."""
    bomb = compress(bytes(1_000_000))
    assert 1_000_000 == len(decompress(bomb, 1_000_000))
    with pytest.raises(WireFormatError, match="more than 999,999 bytes"):
        decompress(bomb, 999_999)


@given(block=st.binary(min_size=1, max_size=300), data=st.data())
def test_a_truncated_stream_is_malformed(block: bytes, data: st.DataObject) -> None:
    """A stream without its end raises an error."""
    stream = compress(block)
    with pytest.raises(WireFormatError):
        decompress(stream[: data.draw(st.integers(1, len(stream) - 1))])


def test_bytes_after_a_stream_are_malformed() -> None:
    """Bytes after the compressed stream are malformed."""
    with pytest.raises(WireFormatError, match="goes on after"):
        decompress(compress(b"cells") + b"x")


@given(stream=st.binary(max_size=300))
def test_any_bytes_decompress_or_raise_wire_format_error(stream: bytes) -> None:
    """No bytes raise anything but WireFormatError, or give more than the limit."""
    try:
        block = decompress(stream, 1_000)
    except WireFormatError:
        block = b""
    assert 1_000 >= len(block)
