"""Packed cell blocks, against Python's own readers and writers of the same forms."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.errors import Refused
from rowkey.hbase.wire.compression import codec_class, compress, decompress
from rowkey.hbase.wire.proto import Malformed

FORMS = ["zlib", "gzip"]


@pytest.mark.parametrize("form", FORMS)
@given(block=st.binary(max_size=3_000))
def test_what_is_packed_is_unpacked(form: str, block: bytes) -> None:
    """A block comes back as it was, from bytes and from a view of them."""
    packed = compress(form, block)
    assert block == decompress(form, packed)
    assert block == decompress(form, memoryview(packed), len(block))


@given(block=st.binary(min_size=1, max_size=3_000))
def test_the_forms_are_those_of_the_standard_library(block: bytes) -> None:
    """DefaultCodec is plain zlib, GzipCodec plain gzip, both ways."""
    assert block == zlib.decompress(compress("zlib", block))
    assert block == gzip.decompress(compress("gzip", block))
    assert block == decompress("zlib", zlib.compress(block))
    assert block == decompress("gzip", gzip.compress(block))


@pytest.mark.parametrize(("form", "magic"), [("zlib", b"\x78"), ("gzip", b"\x1f\x8b")])
def test_streams_begin_as_their_form_does(form: str, magic: bytes) -> None:
    """The first bytes tell the form."""
    assert compress(form, b"cells").startswith(magic)


@pytest.mark.parametrize("form", FORMS)
def test_a_bomb_is_not_unpacked(form: str) -> None:
    """A stream of more than the most is malformed; one of exactly the most is read."""
    bomb = compress(form, bytes(1_000_000))
    assert 1_000_000 == len(decompress(form, bomb, 1_000_000))
    with pytest.raises(Malformed, match="more than 999,999 bytes"):
        decompress(form, bomb, 999_999)


@pytest.mark.parametrize("form", FORMS)
@given(block=st.binary(min_size=1, max_size=300), data=st.data())
def test_a_stream_that_is_cut_is_malformed(form: str, block: bytes, data: st.DataObject) -> None:
    """A stream that lacks its end is never read as if it were whole."""
    packed = compress(form, block)
    with pytest.raises(Malformed):
        decompress(form, packed[: data.draw(st.integers(1, len(packed) - 1))])


@pytest.mark.parametrize("form", FORMS)
def test_bytes_behind_a_stream_are_malformed(form: str) -> None:
    """A block is one stream."""
    with pytest.raises(Malformed, match="goes on behind"):
        decompress(form, compress(form, b"cells") + b"x")


@pytest.mark.parametrize("form", FORMS)
@given(packed=st.binary(max_size=300))
def test_any_bytes_are_unpacked_or_malformed(form: str, packed: bytes) -> None:
    """No bytes raise anything but Malformed, and none give more than was allowed."""
    try:
        found = decompress(form, packed, 1_000)
    except Malformed:
        found = b""
    assert 1_000 >= len(found)


def test_names_of_the_classes() -> None:
    """The two codecs that work without a native library."""
    expected = [f"org.apache.hadoop.io.compress.{name}Codec" for name in ("Default", "Gzip")]
    assert expected == [codec_class(form) for form in FORMS]


def test_a_form_nobody_knows_is_refused() -> None:
    """Snappy may hang a server: it is refused before anything is sent."""
    for call in (codec_class, lambda form: compress(form, b""), lambda form: decompress(form, b"")):
        with pytest.raises(Refused, match="zlib or gzip"):
            call("snappy")
