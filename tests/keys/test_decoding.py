"""Bytes that are no key of a design, one by one: each was once taken for a key, or for a crash."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import decoding_properties
from rowkey import bind_key
from rowkey.errors import RowError

NULLABLE = {"type": "u8", "nullable": True}
HEX = {"type": "hex", "width": 2}
DIGITS = {"type": "digits", "width": 2}
NO_KEYS: list[tuple[str, dict[str, Any], bytes, str]] = [
    ("[bucket(host, 16)][ts]", {"host": "text", "ts": "timestamp_s"}, b"\xff" + bytes(8),
     "ff are not a valid bucket; expected a number below 16"),
    ("[bucket(n, 20, as=decimal)][ts]", {"n": "u8", "ts": "timestamp_s"}, b"20" + bytes(8),
     "3230 are not a valid bucket; expected a number below 20"),
    ("[salt(4)][ts]", {"ts": "timestamp_s"}, b"\xff" + bytes(8),
     "ff are not a valid salt; expected a number below 4"),
    ("[digest(salt(4), n, 4)][n]", {"n": "u8"}, bytes(5),
     "00000000 is not the digest of n"),
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
    ("[b]", {"b": NULLABLE}, b"", "all of its fields are null, so the key is empty"),
    ("[a][mod(a, 4)]", {"a": NULLABLE}, b"\1\5",
     "the encoding of a is missing; expected 0101"),
    ("[a:tail]", {"a": "text"}, b"a" * 32_768, "the key has 32,768 bytes"),
    ("[h]", {"h": HEX}, b"a\xff", "61ff are not UTF-8"),
    ("[d]", {"d": DIGITS}, b"1\xff", "31ff are not UTF-8"),
    ("[ts:calendar]", {"ts": "timestamp_ns"}, b"97001010" + b"0" * 15,
     "is out of range; expected 0..2^63-1"),
    ("[d:text]", {"d": {"type": "choice", "of": ["a"]}}, b"\xff\0", "ff are not UTF-8"),
]  # fmt: skip


@pytest.mark.parametrize(("notation", "fields", "data", "words"), NO_KEYS)
def test_no_key(notation: str, fields: dict[str, Any], data: bytes, words: str) -> None:
    """It is refused alone and in a batch, in the same words, and the property agrees."""
    key = bind_key(notation, fields)
    with pytest.raises(RowError) as alone:
        key.decode(data)
    assert words in str(alone.value)
    with pytest.raises(RowError) as together:
        key.decode_batch(pa.array([data], pa.binary()))
    assert str(alone.value) == str(together.value)
    decoding_properties.check_decodes_only_keys(key, data)


def test_a_stretch_of_stretches() -> None:
    """90 s lie in the stretch of 7 s from 84 on: it decodes although 84 starts no 90 s."""
    key = bind_key("[time_bucket(time_bucket(ts, 90s), 7s)]", {"ts": "timestamp_s"})
    assert bytes(7) + bytes([84]) == key.encode({"ts": 100})
    assert {} == key.decode(bytes(7) + bytes([84]))


CODED = "[bucket(16, over=rest)][code(b)]"


def test_a_bucket_beside_a_code_is_verified() -> None:
    """The dictionary knows the value, so its bucket is known; nothing is added to it."""
    key = bind_key(CODED, {"b": "text"})
    data = key.encode({"b": "x"})
    assert {"b": "x"} == key.decode(data)
    wrong = bytes([(data[0] + 1) % 16]) + data[1:]
    for decode in (key.decode, lambda one: key.decode_batch(pa.array([one]))):
        with pytest.raises(RowError, match="is not the bucket of b"):
            decode(wrong)
    assert data[1:-1] + b"\2" == key.encode({"b": "y"})[1:]


def test_a_code_beside_its_value_is_verified() -> None:
    """A value that the dictionary lacks is not given a number by being read."""
    key = bind_key("[code(b)][b]", {"b": "text"})
    data = key.encode({"b": "x"})
    with pytest.raises(RowError, match="00000001 is not the code of b"):
        key.decode(data.replace(b"x", b"y"))
    assert {"b": "x"} == key.decode(data)
    assert b"\0\0\0\2y\0" == key.encode({"b": "y"})


COLUMNS: list[tuple[pa.Array, str]] = [
    (pa.array([b"\1", None], pa.binary()), "key of row 1: the key is null; expected bytes"),
    (pa.array([1, 2]), "keys: the column has the type int64; expected bytes"),
    (pa.array([[1]]), "keys: the column has the type list<item: int64>; expected bytes"),
    (pa.nulls(2), "keys: the column has the type null; expected bytes"),
]


@pytest.mark.parametrize(("column", "words"), COLUMNS)
def test_no_column_of_keys(column: pa.Array, words: str) -> None:
    """What is no column of bytes, or has a null, is refused by name."""
    with pytest.raises(RowError) as found:
        bind_key("[a]", {"a": "u8"}).decode_batch(column)
    assert words in str(found.value)


@pytest.mark.parametrize("kind", [pa.large_binary(), pa.binary(1), pa.string(), pa.binary()])
@pytest.mark.parametrize("is_chunked", [False, True])
def test_columns_of_keys(kind: pa.DataType, is_chunked: bool) -> None:
    """Keys come in every type that Arrow has for bytes, in one piece or in several."""
    array = pa.array([b"\1", b"\2"]).cast(kind) if kind != pa.string() else pa.array(["\1", "\2"])
    column = pa.chunked_array([array, array]) if is_chunked else array
    expected = [1, 2, 1, 2] if is_chunked else [1, 2]
    assert expected == bind_key("[a]", {"a": "u8"}).decode_batch(column)["a"].to_pylist()


@pytest.mark.parametrize("given", ["a", None, 5, [1]])
def test_no_bytes(given: Any) -> None:
    """What is not bytes is refused by name."""
    with pytest.raises(RowError, match="expected bytes"):
        bind_key("[a]", {"a": "u8"}).decode(given)


@pytest.mark.parametrize("given", [memoryview(b"\1"), bytearray(b"\1")])
def test_a_view_of_bytes(given: Any) -> None:
    """Bytes come as a view or an array of bytes, too."""
    key = bind_key("[a]", {"a": "u8"})
    assert {"a": 1} == key.decode(given)


@pytest.mark.parametrize("encoding", ["", ":u32", ":calendar"])
@pytest.mark.parametrize("length", ["7us", "3ms", "1500ms", "7s", "90s"])
@pytest.mark.parametrize("outer", ["", "13us", "700ms", "5s"])
@given(instant=st.integers(0, 2**31 * 10**6))
def test_a_stretch_finer_than_its_encoding_decodes(
    encoding: str, length: str, outer: str, instant: int
) -> None:
    """The start of a stretch that the encoding cuts down to whole seconds is a key all the same."""
    term = f"time_bucket(ts{encoding}, {length})"
    notation = f"[time_bucket({term}, {outer})]" if outer else f"[{term}]"
    key = bind_key(notation, {"ts": "timestamp_us"})
    assert {} == key.decode(key.encode({"ts": instant}))


def test_what_is_no_start_is_refused() -> None:
    """Whole seconds that no stretch begins at are no key."""
    key = bind_key("[time_bucket(ts:u32, 7s)]", {"ts": "timestamp_us"})
    assert {} == key.decode(bytes([0, 0, 0, 7]))
    with pytest.raises(RowError, match="is not a multiple of 7s"):
        key.decode(bytes([0, 0, 0, 8]))
