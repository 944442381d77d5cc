"""Floating-point columns are decoded like single values, whatever their bytes."""

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

VALUES_BY_ORDERED_BYTES = {
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
WIDTHS = sorted(VALUES_BY_ORDERED_BYTES)


def build_field(width: int) -> Field:
    """Build a float field of a width in bytes."""
    return bind_key("[f]", {"f": f"float{8 * width}"}).fields["f"]


def build_codec(width: int, *, is_plain: bool) -> Codec:
    """Build the plain or the ordered codec of a float field."""
    field = build_field(width)
    return field.type.build_plain_codec() if is_plain else field.type.build_codec("", ())


def to_comparable(value: float) -> bytes:
    """Return bytes that are equal for NaN and NaN, and differ for 0.0 and -0.0."""
    return b"nan" if math.isnan(value) else pack(">d", value)


@pytest.mark.parametrize("width", WIDTHS)
def test_float_codecs_decode_known_bytes_to_known_values(width: int) -> None:
    """The ordered, the descending and Java's encoding decode known bytes to known values."""
    values_by_bytes = VALUES_BY_ORDERED_BYTES[width]
    ordered = build_codec(width, is_plain=False)
    pieces = [bytes.fromhex(text) for text in values_by_bytes]
    inverted = [bytes(255 - byte for byte in piece) for piece in pieces]
    plain = [pack({4: ">f", 8: ">d"}[width], value) for value in values_by_bytes.values()]
    expected = [to_comparable(value) for value in values_by_bytes.values()]
    for codec, encoded in (
        (ordered, pieces),
        (ordered.to_descending(), inverted),
        (build_codec(width, is_plain=True), plain),
    ):  # fmt: skip
        decoded = codec.unpack_batch(SlicedByteColumn.from_list(encoded))
        assert (expected, f"f{width}") == (
            [to_comparable(one) for one in decoded],
            decoded.dtype.str[1:],
        )


@given(st.data(), st.sampled_from(WIDTHS), st.booleans(), st.booleans())
def test_a_batch_of_floats_decodes_as_single_floats(
    data: st.DataObject, width: int, is_plain: bool, is_descending: bool
) -> None:
    """Any bytes decode to the same values in a batch as alone, and are encoded back."""
    codec = build_codec(width, is_plain=is_plain)
    codec = codec.to_descending() if is_descending else codec
    pieces = data.draw(st.lists(st.binary(min_size=width, max_size=width), min_size=1, max_size=8))
    decoded = codec.unpack_batch(SlicedByteColumn.from_list(pieces))
    assert [to_comparable(codec.unpack(piece)) for piece in pieces] == [
        to_comparable(one) for one in decoded
    ]
    numbers = [n for n in range(len(pieces)) if not math.isnan(decoded[n])]
    assert [pieces[n] for n in numbers] == codec.pack_batch(decoded[numbers]).tolist()


@given(st.lists(st.binary(min_size=4, max_size=4), min_size=1, max_size=8))
def test_a_column_of_float_cells_decodes_as_single_cells(pieces: list[bytes]) -> None:
    """A column of cells has the values of its cells, and refuses NaN."""
    field = build_field(4)
    column_codec = ColumnCodec(field)
    try:
        alone = [to_comparable(float(str(column_codec.decode(piece)))) for piece in pieces]
    except InvalidArgument:
        with pytest.raises(InvalidArgument, match="NaN"):
            column_codec.decode_batch(pa.array(pieces, pa.binary()))
        return
    column = column_codec.decode_batch(pa.array(pieces, pa.binary()))
    assert field.type.build_arrow_type() == column.type
    assert alone == [to_comparable(value) for value in column.to_pylist()]


def test_float_codecs_decode_whole_batches() -> None:
    """No float codec falls back to decoding one value at a time."""
    key = bind_key("[f][desc(g)]", {"f": "float64", "g": "float32"})
    rows = [{"f": n / 7 - 3, "g": 2.0**-n} for n in range(50)]
    keys = key.encode_batch(pa.RecordBatch.from_pylist(rows))
    assert rows == key.decode_batch(keys).to_pylist()
    for width in WIDTHS:
        for is_own in (False, True):
            codec = build_codec(width, is_plain=is_own)
            assert type(codec).unpack_batch is not Codec.unpack_batch


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("text", ["1e-400", "-0.04E-999", "0." + "0" * 400 + "1"])
def test_a_number_too_small_for_a_float_is_refused(width: int, text: str) -> None:
    """It is refused, one by one and in a column."""
    field_type = build_field(width).type
    with pytest.raises(InvalidArgument, match="is too small for"):
        field_type.parse(text)
    assert field_type.cast_text_column(pa.array(["1.5", text])) is None


@pytest.mark.parametrize("text", ["0", "-0.000", "0e-999", "00.0E5"])
def test_any_text_that_says_zero_is_parsed_as_zero(text: str) -> None:
    assert build_field(8).type.parse(text) == 0
    assert pa.array([0.0]).equals(build_field(8).type.cast_text_column(pa.array([text])))
