"""Invalid keys, fields and values are refused with a message that says how to correct them."""

from __future__ import annotations

import tracemalloc
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from rowkey import bind_key
from rowkey.errors import InvalidDesign, RowError
from rowkey.keys import TYPES, Key

LISTED = {"type": "choice", "of": ["a"]}
OPTIONAL = {"type": "u32", "nullable": True}
NOT_A_DURATION = "4 is not a length of time; expected a number with its unit, such as 1h."
DROP_ENCODING = (
    "expected a without an encoding. Write a alone: the function reads the value itself."
)
MOVE_DESC = (
    "desc of a has no effect inside a function that reads the value; expected a without desc. Write"
    " desc(…) around the function instead."
)

INVALID_DECLARATIONS: list[tuple[str, Any, str]] = [
    ("[truncate(desc(a), 4)]", "u32",
     f"key[0].truncate: {MOVE_DESC}"),
    ("[truncate(a:u8, 4)]", "u32",
     f"key[0].truncate: the encoding of a:u8 has no effect inside a function; {DROP_ENCODING}"),
    ("[digest(desc(a), 4)]", "u32",
     f"key[0].digest: {MOVE_DESC}"),
    ("[digest(a:u8, a, 4)]", OPTIONAL,
     ("key[0].digest: the encoding of a:u8 has no effect in this digest; expected a field without "
      "an encoding. Write a alone: digest of several fields uses their default encodings.")),
    ("[digest(time_bucket(a:u32, 1h), 4)]", "timestamp_s",
     f"key[0].digest: the encoding of a:u32 has no effect inside a function; {DROP_ENCODING}"),
    ("[bucket(4, over=rest)][bucket(4, over=rest)][a]", "u8",
     ("key[0].bucket.over: a later bucket of the key has over=rest too; expected over=rest in one"
     " bucket only. Name the fields to hash: bucket(field, n).")),
    ("[bucket(4, over=rest)][desc(bucket(4, over=rest))][a]", "u8",
     ("key[0].bucket.over: a later bucket of the key has over=rest too; expected over=rest in one"
     " bucket only. Name the fields to hash: bucket(field, n).")),
    ("[pad(a, 4)]", "bytes",
     "key[0].pad: pad cannot be applied to a, which is bytes; expected a field of type text."),
    ("[reverse(a, by=label)]", "bytes",
     ("key[0].reverse.by: by=label reverses text between dots, but a is not text; expected a field"
      " of type text.")),
    ("[code(a:tail)]", "text",
     ("key[0].code: code cannot be applied to a:tail; expected the name of a field without an"
     " encoding or a function.")),
    ("[code(desc(a))]", "text",
     ("key[0].code: code cannot be applied to desc; expected the name of a field without an"
     " encoding or a function.")),
    ("[time_bucket(a, 1h)]", "text",
     ("key[0].time_bucket: time_bucket cannot be applied to a, which is text; expected a"
     " timestamp or a date.")),
    ("[time_bucket(a, 4)]", "timestamp_s", f"key[0].time_bucket.d: {NOT_A_DURATION}"),
    ("[reverse(desc(a))]", "text",
     ("key[0].reverse: reverse cannot be applied to desc; expected a field of text, bytes or a"
     " fixed width.")),
    ("[reverse(a:text)]", LISTED,
     ("key[0].reverse: reverse cannot be applied to a, which is choice; expected a field of"
     " text, bytes or a fixed width.")),
    ("[a]", "digits",
     ("fields.a: the type digits needs the option `width`, which is missing. Declare the option"
      " `width` of this field.")),
    ("[a]", {"type": "text", "max_byte": 1},
     ("fields.a.max_byte: a field has no option 'max_byte'; expected one of type, nullable, of,"
     " precision, scale, width, max_bytes, normalize, heavy, from, family, qualifier, at, pack,"
     " distinct, unique, mean_bytes, draw. Did you mean max_bytes?")),
    ("[a]", {"type": "decimal", "precision": 99},
     "fields.a.precision: 99 is not valid; expected 1..38 (decimal: total number of digits)."),
    ("[a]", {"type": 5},
     ("fields.a.type: 5 is not valid; expected the field type, such as text or"
     " timestamp_ms.")),
    ("[a]", {},
     ("fields.a.type: the design lacks this option; expected the field type, such as text or"
     " timestamp_ms.")),
    ("[a]", 5,
     ("fields.a: 5 does not declare a field; expected a type such as 'text', or a mapping with a"
     " type.")),
    ("[a]", {"type": "u8", "heavy": ["x"]},
     "fields.a.heavy[0]: 'x' is not a whole number; expected digits, such as 42."),
    ("[a]", {"type": "u8", "heavy": [1.5]},
     "fields.a.heavy[0]: '1.5' is not a whole number; expected digits, such as 42."),
]  # fmt: skip


@pytest.mark.parametrize(("notation", "declaration", "message"), INVALID_DECLARATIONS)
def test_an_invalid_declaration_is_refused(notation: str, declaration: Any, message: str) -> None:
    """The message says where the mistake is, what it is, and what to write instead."""
    with pytest.raises(InvalidDesign) as error:
        bind_key(notation, {"a": declaration})
    assert message == str(error.value)


@pytest.mark.parametrize(("key", "fields", "message"), [
    (5, {"a": "u8"}, "key: 5 is not text; expected a key such as '[host][ts]'."),
    ("[a]", 5, "fields: 5 is not a mapping; expected field names with their types."),
    ("['x']", {5: "u8"}, "fields: the field name 5 is not text; expected text."),
])  # fmt: skip
def test_a_declaration_of_a_wrong_python_type_is_refused(
    key: Any, fields: Any, message: str
) -> None:
    """A number is refused as a key, as the fields and as a field name."""
    with pytest.raises(InvalidDesign) as error:
        bind_key(key, fields)
    assert message == str(error.value)


INVALID_VALUES: list[tuple[Any, Any, str]] = [
    ("text", 5, "field a: 5 is a whole number; expected text."),
    ("bytes", "x", "field a: 'x' is text; expected bytes."),
    ("u8", "5", "field a: '5' is text; expected a whole number for u8."),
    ("u8", None,
     ("field a: the value is missing; expected a whole number for u8. Give a value, or declare the"
      " field nullable.")),
    ("u8", True, "field a: True is a boolean; expected a whole number for u8."),
    ("u8", 10**5_000, "field a: a number of 16,610 bits is out of range; expected 0..255."),
    ("float64", 10**400, "field a: a number of 1,329 bits is out of range; expected a float64."),
    ("float32", 10**400, "field a: a number of 1,329 bits is out of range; expected a float32."),
    ("ipv4", "1.2.3", "field a: '1.2.3' is not an IPv4 address."),
    ("date", datetime(2021, 1, 1, tzinfo=UTC),
     ("field a: datetime.datetime(2021, 1, 1, 0, 0,"
      " tzinfo=datetime.timezone.utc) is a datetime; expected a date.")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("declaration", "value", "message"), INVALID_VALUES, ids=range(len(INVALID_VALUES))
)
def test_a_value_of_a_wrong_type_is_refused(declaration: Any, value: Any, message: str) -> None:
    """The message names the type of the value in plain words."""
    with pytest.raises(RowError) as error:
        bind_key("[a]", {"a": declaration}).encode({"a": value})
    assert message == str(error.value)


REQUIRED_OPTIONS = {"precision": 5, "of": ["a"], "width": 4}
UNUSUAL_VALUES: list[Any] = [
    10**5_000, -(10**400), float("inf"), Decimal("NaN"), Decimal("sNaN"), Decimal("1e999999"), [],
    {}, [10**5_000], object(), b"x", "x" * 100_000, "\ud800", "1" * 5_000,
    datetime.max.replace(tzinfo=UTC), date.min,
]  # fmt: skip


@pytest.mark.parametrize("type_name", sorted(TYPES))
def test_unusual_values_are_encoded_or_refused(type_name: str) -> None:
    """Huge numbers, broken text and foreign objects are encoded, or refused with a `RowError`."""
    options = {word: REQUIRED_OPTIONS[word] for word in TYPES[type_name].required_options}
    key = bind_key("[a]", {"a": {"type": type_name, **options}})
    for value in UNUSUAL_VALUES:
        result = encode_or_describe_error(key, value)
        assert isinstance(result, bytes) or result.startswith(("field a: ", "key: "))


def encode_or_describe_error(key: Key, value: Any) -> bytes | str:
    """Encode a value; if it is refused, return the message."""
    try:
        return key.encode({"a": value})
    except RowError as problem:
        return str(problem)


HEAVY_VALUES: list[tuple[Any, Any, Any]] = [
    ({"type": "decimal", "precision": 5, "scale": 2}, 1.1, Decimal("1.1")),
    ({"type": "decimal", "precision": 5, "scale": 2}, "1.10", Decimal("1.1")),
    ({"type": "bytes"}, "6162", b"ab"),
    ({"type": "timestamp_s"}, "1970-01-01T00:01:00Z", 60),
    ({"type": "timestamp_s"}, datetime(1970, 1, 1, 0, 1, tzinfo=UTC), 60),
    ({"type": "date"}, "2021-01-01", date(2021, 1, 1)),
    ({"type": "text"}, "60", "60"),
    ({"type": "float64"}, 1.5, 1.5),
]


@pytest.mark.parametrize(("declaration", "listed", "value"), HEAVY_VALUES)
def test_heavy_values_of_every_type_are_spread(
    declaration: dict[str, Any], listed: Any, value: Any
) -> None:
    """Heavy values that TOML cannot represent are listed as text, and are spread over buckets."""
    key = bind_key("[bucket(a, b, 64, 8)]", {"a": {**declaration, "heavy": [listed]}, "b": "u16"})
    row_keys = {key.encode({"a": value, "b": number}) for number in range(200)}
    assert 8 == len(row_keys)


LONG_TEXT = "x" * 40_000


def test_a_row_refused_by_a_later_key_part_uses_up_no_code() -> None:
    key = bind_key("[code(b)][b:u32]", {"b": "u64"})
    text = bind_key("[code(a)][b:tail]", {"a": "u8", "b": "text"})
    with pytest.raises(RowError):
        key.encode({"b": 2**40})
    with pytest.raises(RowError):
        key.encode_batch(pa.record_batch([pa.array([2**41, 2**42])], names=["b"]))
    with pytest.raises(RowError, match="the key has 40,004 bytes"):
        text.encode({"a": 1, "b": LONG_TEXT})
    with pytest.raises(RowError, match="has 40,004 bytes"):
        text.encode_batch(pa.record_batch([pa.array([1]), pa.array([LONG_TEXT])], names=["a", "b"]))
    assert b"\0\0\0\1\0\0\0\7" == key.encode({"b": 7})
    both = pa.record_batch([pa.array([9, 7, 8], pa.uint64())], names=["b"])
    assert [2, 1, 3] == [data[3] for data in key.encode_batch(both).to_pylist()]
    assert b"\0\0\0\1" == text.encode({"a": 2, "b": ""})


def test_bucket_parts_of_the_same_count_share_their_lookup_table() -> None:
    """Many bucket parts of large counts need little memory."""
    tracemalloc.start()
    try:
        bind_key("[bucket(id, 65536, as=letters)]" * 60, {"id": "u64"})
        bind_key("".join(f"[bucket(id, {65_536 - n}, as=hex)]" for n in range(60)), {"id": "u64"})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000
