"""Floating-point numbers read many at a time: the same as one by one, whatever the bytes."""

from __future__ import annotations

import math
from struct import pack

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.errors import InvalidArgument
from rowkey.keys import Codec, Field, SlicedByteColumn, bind_key
from rowkey.rows.column_codec import ColumnCodec

ORDERED = {
    4: {
        "00000000": -math.nan, "007fffff": -math.inf, "407fffff": -1.0, "7fffffff": -0.0,
        "80000000": 0.0, "80000001": 2.0**-149, "bf800000": 1.0, "ff7fffff": 3.4028234663852886e38,
        "ff800000": math.inf,
    },
    8: {
        "000fffffffffffff": -math.inf, "400fffffffffffff": -1.0, "7fffffffffffffff": -0.0,
        "8000000000000000": 0.0, "8000000000000001": 5e-324, "bff0000000000000": 1.0,
        "c0091eb851eb851f": 3.14, "ffefffffffffffff": 1.7976931348623157e308,
        "fff0000000000000": math.inf,
    },
}  # fmt: skip
"""Values by the bytes of the ordered encoding. Source: IEEE 754, and `OrderedBytes` of hbase-common
less its header: negative numbers inverted, the sign bit of others set."""
WIDTHS = sorted(ORDERED)


def field_of(width: int) -> Field:
    """A field of so many bytes."""
    return bind_key("[f]", {"f": f"float{8 * width}"}).fields["f"]


def codec_of(width: int, *, is_own: bool) -> Codec:
    """An encoding of a type of so many bytes."""
    field = field_of(width)
    return field.type.build_plain_codec() if is_own else field.type.build_codec("", ())


def bits(value: float) -> bytes:
    """What tells values apart that compare equal, and NaN equal to itself."""
    return b"nan" if math.isnan(value) else pack(">d", value)


@pytest.mark.parametrize("width", WIDTHS)
def test_golden_values(width: int) -> None:
    """Known bytes are known values, ordered, descending and as Java writes them."""
    listed = ORDERED[width]
    ordered = codec_of(width, is_own=False)
    pieces = [bytes.fromhex(text) for text in listed]
    turned = [bytes(255 - byte for byte in piece) for piece in pieces]
    plain = [pack({4: ">f", 8: ">d"}[width], value) for value in listed.values()]
    expected = [bits(value) for value in listed.values()]
    for codec, given_ in (
        (ordered, pieces), (ordered.to_descending(), turned), (codec_of(width, is_own=True), plain)
    ):  # fmt: skip
        found = codec.unpack_batch(SlicedByteColumn.from_list(given_))
        assert (expected, f"f{width}") == ([bits(one) for one in found], found.dtype.str[1:])


@given(st.data(), st.sampled_from(WIDTHS), st.booleans(), st.booleans())
def test_many_are_read_as_one(
    data: st.DataObject, width: int, is_own: bool, descends: bool
) -> None:
    """Any bytes are the same values among others as alone, and have the same bytes again."""
    codec = codec_of(width, is_own=is_own)
    codec = codec.to_descending() if descends else codec
    pieces = data.draw(st.lists(st.binary(min_size=width, max_size=width), min_size=1, max_size=8))
    found = codec.unpack_batch(SlicedByteColumn.from_list(pieces))
    assert [bits(codec.unpack(piece)) for piece in pieces] == [bits(one) for one in found]
    numbers = [n for n in range(len(pieces)) if not math.isnan(found[n])]
    assert [pieces[n] for n in numbers] == codec.pack_batch(found[numbers]).tolist()


@given(st.lists(st.binary(min_size=4, max_size=4), min_size=1, max_size=8))
def test_cells_are_read_as_one(pieces: list[bytes]) -> None:
    """A column of cells has the values that each cell has; NaN is no value, -0.0 is 0.0."""
    field = field_of(4)
    own = ColumnCodec(field)
    try:
        alone = [bits(float(str(own.decode(piece)))) for piece in pieces]
    except InvalidArgument:
        with pytest.raises(InvalidArgument, match="NaN"):
            own.decode_batch(pa.array(pieces, pa.binary()))
        return
    column = own.decode_batch(pa.array(pieces, pa.binary()))
    assert field.type.build_arrow_type() == column.type
    assert alone == [bits(value) for value in column.to_pylist()]


def test_keys_are_read_without_a_call_for_each() -> None:
    """Neither encoding falls back on one value at a time."""
    key = bind_key("[f][desc(g)]", {"f": "float64", "g": "float32"})
    rows = [{"f": n / 7 - 3, "g": 2.0**-n} for n in range(50)]
    keys = key.encode_batch(pa.RecordBatch.from_pylist(rows))
    assert rows == key.decode_batch(keys).to_pylist()
    for width in WIDTHS:
        for is_own in (False, True):
            codec = codec_of(width, is_own=is_own)
            assert type(codec).unpack_batch is not Codec.unpack_batch
