"""Bytes that are not a key of a design are refused; each case was once accepted or crashed."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import decoding_properties
from example_counts import divide_examples
from rowkey import bind_key
from rowkey.errors import RowError

NULLABLE = {"type": "u8", "nullable": True}
HEX = {"type": "hex", "width": 2}
DIGITS = {"type": "digits", "width": 2}
INVALID_KEYS: list[tuple[str, dict[str, Any], bytes, str]] = [
    ("[bucket(host, 16)][ts]", {"host": "text", "ts": "timestamp_s"}, b"\xff" + bytes(8),
     "ff are not a valid bucket; expected a number below 16"),
    ("[bucket(n, 20, as=decimal)][ts]", {"n": "u8", "ts": "timestamp_s"}, b"20" + bytes(8),
     "3230 are not a valid bucket; expected a number below 20"),
    ("[salt(4)][ts]", {"ts": "timestamp_s"}, b"\xff" + bytes(8),
     "ff are not a valid salt; expected a number below 4"),
    ("[digest(salt(4), n, 4)][n]", {"n": "u8"}, bytes(5),
     "00000000 is not the digest of the field n"),
    ("[digest(n, 2, as=hex)]", {"n": "u8"}, b"zzzz", "7a7a7a7a are not a valid digest of n"),
    ("[time_bucket(ts, 1h)]", {"ts": "timestamp_s"}, bytes(7) + b"\1",
     "0000000000000001 is not a multiple of 1h"),
    ("[time_slice(time_bucket(ts, 90s), 1s)]", {"ts": "timestamp_s"}, bytes(7) + b"\x5b",
     "000000000000005b is not a multiple of 1s"),
    ("[desc(time_bucket(ts, 1h))]", {"ts": "timestamp_s"}, b"\x7f" + bytes(7),
     "7f00000000000000 is not a multiple of 1h"),
    ("[ts:u32][a]", {"ts": "timestamp_ms", "a": NULLABLE}, bytes(4) + b"\0",
     "the key ends with a null marker 00, which rowkey never writes there"),
    ("[a][b]", {"a": "u8", "b": NULLABLE}, b"\1\0",
     "the key ends with a null marker 00, which rowkey never writes there"),
    ("[b]", {"b": NULLABLE}, b"", "all fields of the key are null, so the key is empty"),
    ("[a][mod(a, 4)]", {"a": NULLABLE}, b"\1\5",
     "the encoding of the field a is missing; expected 0101"),
    ("[a:tail]", {"a": "text"}, b"a" * 32_768, "the key has 32,768 bytes"),
    ("[h]", {"h": HEX}, b"a\xff", "61ff are not UTF-8"),
    ("[d]", {"d": DIGITS}, b"1\xff", "31ff are not UTF-8"),
    ("[ts:calendar]", {"ts": "timestamp_ns"}, b"97001010" + b"0" * 15,
     "is out of range; expected 0 to 2^63-1 ns"),
    ("[d:text]", {"d": {"type": "choice", "of": ["a"]}}, b"\xff\0", "ff are not UTF-8"),
]  # fmt: skip


@pytest.mark.parametrize(("notation", "fields", "data", "message"), INVALID_KEYS)
def test_bytes_that_are_not_a_key_are_refused(
    notation: str, fields: dict[str, Any], data: bytes, message: str
) -> None:
    """Bytes that are not a key are refused with the same message alone and in a batch."""
    key = bind_key(notation, fields)
    with pytest.raises(RowError) as alone:
        key.decode(data)
    assert message in str(alone.value)
    with pytest.raises(RowError) as together:
        key.decode_batch(pa.array([data], pa.binary()))
    assert str(alone.value) == str(together.value)
    decoding_properties.check_only_keys_decode(key, data)


def test_a_time_bucket_of_another_time_bucket_decodes() -> None:
    """The interval of 7 s from 84 s on is decoded, although no interval of 90 s begins at 84 s."""
    key = bind_key("[time_bucket(time_bucket(ts, 90s), 7s)]", {"ts": "timestamp_s"})
    assert bytes(7) + bytes([84]) == key.encode({"ts": 100})
    assert {} == key.decode(bytes(7) + bytes([84]))


KEY_WITH_CODE = "[bucket(16, over=rest)][code(b)]"


def test_decoding_verifies_the_bucket_of_a_coded_value() -> None:
    """A key with the wrong bucket for the value of its code is refused, and no code is assigned."""
    key = bind_key(KEY_WITH_CODE, {"b": "text"})
    data = key.encode({"b": "x"})
    assert {"b": "x"} == key.decode(data)
    wrong = bytes([(data[0] + 1) % 16]) + data[1:]
    for decode in (key.decode, lambda one: key.decode_batch(pa.array([one]))):
        with pytest.raises(RowError, match="is not the bucket of the field b"):
            decode(wrong)
    assert data[1:-1] + b"\2" == key.encode({"b": "y"})[1:]


def test_decoding_verifies_the_code_of_a_value() -> None:
    """A key with the wrong code for its value is refused, and no code is assigned."""
    key = bind_key("[code(b)][b]", {"b": "text"})
    data = key.encode({"b": "x"})
    with pytest.raises(RowError, match="00000001 is not the code of the field b"):
        key.decode(data.replace(b"x", b"y"))
    assert {"b": "x"} == key.decode(data)
    assert b"\0\0\0\2y\0" == key.encode({"b": "y"})


INVALID_COLUMNS: list[tuple[pa.Array, str]] = [
    (pa.array([b"\1", None], pa.binary()), "key of row 1: the key is null; expected bytes"),
    (pa.array([1, 2]), "keys: the array of row keys has the type int64; expected bytes"),
    (pa.array([[1]]), "keys: the array of row keys has the type list<item: int64>; expected bytes"),
    (pa.nulls(2), "keys: the array of row keys has the type null; expected bytes"),
]


@pytest.mark.parametrize(("column", "message"), INVALID_COLUMNS)
def test_a_column_that_does_not_hold_keys_is_refused(column: pa.Array, message: str) -> None:
    """A column of another type, or with a null, is refused with its type or row."""
    with pytest.raises(RowError) as error:
        bind_key("[a]", {"a": "u8"}).decode_batch(column)
    assert message in str(error.value)


@pytest.mark.parametrize("arrow_type", [pa.large_binary(), pa.binary(1), pa.string(), pa.binary()])
@pytest.mark.parametrize("is_chunked", [False, True])
def test_keys_decode_from_columns_of_every_byte_type(
    arrow_type: pa.DataType, is_chunked: bool
) -> None:
    """Keys are decoded from every Arrow type for bytes, in one chunk or in several."""
    array = (
        pa.array([b"\1", b"\2"]).cast(arrow_type)
        if arrow_type != pa.string()
        else pa.array(["\1", "\2"])
    )
    column = pa.chunked_array([array, array]) if is_chunked else array
    expected = [1, 2, 1, 2] if is_chunked else [1, 2]
    assert expected == bind_key("[a]", {"a": "u8"}).decode_batch(column)["a"].to_pylist()


@pytest.mark.parametrize("value", ["a", None, 5, [1]])
def test_a_key_that_is_not_bytes_is_refused(value: Any) -> None:
    """Text, numbers, lists and None are refused as keys."""
    with pytest.raises(RowError, match="expected bytes"):
        bind_key("[a]", {"a": "u8"}).decode(value)


@pytest.mark.parametrize("data", [memoryview(b"\1"), bytearray(b"\1")])
def test_a_key_in_a_bytes_like_object_decodes(data: Any) -> None:
    """A key may be a memoryview or a bytearray."""
    key = bind_key("[a]", {"a": "u8"})
    assert {"a": 1} == key.decode(data)


@pytest.mark.parametrize("encoding", ["", ":u32", ":calendar"])
@pytest.mark.parametrize("length", ["7us", "3ms", "1500ms", "7s", "90s"])
@pytest.mark.parametrize("outer", ["", "13us", "700ms", "5s"])
@divide_examples(3)
@given(instant=st.integers(0, 2**31 * 10**6))
def test_a_time_bucket_finer_than_its_encoding_decodes(
    encoding: str, length: str, outer: str, instant: int
) -> None:
    """A key decodes although its encoding cuts the start of an interval to whole seconds."""
    term = f"time_bucket(ts{encoding}, {length})"
    notation = f"[time_bucket({term}, {outer})]" if outer else f"[{term}]"
    key = bind_key(notation, {"ts": "timestamp_us"})
    assert {} == key.decode(key.encode({"ts": instant}))


def test_seconds_that_begin_no_time_bucket_are_refused() -> None:
    """Whole seconds at which no interval begins are not a key."""
    key = bind_key("[time_bucket(ts:u32, 7s)]", {"ts": "timestamp_us"})
    assert {} == key.decode(bytes([0, 0, 0, 7]))
    with pytest.raises(RowError, match="is not a multiple of 7s"):
        key.decode(bytes([0, 0, 0, 8]))
