"""What is no key, no field and no value: each is refused by a sentence for who wrote it."""

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
LENGTH = "4 is not a length of time; expected a number with its unit, such as 1h."
PLAIN = "expected a. Write a: the function reads the value itself."
INSIDE = (
    "desc has no effect here: the function around it reads the value of a; expected a. Write"
    " desc(…) around the function instead."
)

KEYS: list[tuple[str, Any, str]] = [
    ("[truncate(desc(a), 4)]", "u32",
     f"key[0].truncate: {INSIDE}"),
    ("[truncate(a:u8, 4)]", "u32",
     f"key[0].truncate: the encoding of a:u8 has no effect here; {PLAIN}"),
    ("[digest(desc(a), 4)]", "u32",
     f"key[0].digest: {INSIDE}"),
    ("[digest(a:u8, a, 4)]", OPTIONAL,
     ("key[0].digest: the encoding of a:u8 has no effect here; expected a. Write a: digest"
     " of several fields uses their default encodings.")),
    ("[digest(time_bucket(a:u32, 1h), 4)]", "timestamp_s",
     f"key[0].digest: the encoding of a:u32 has no effect here; {PLAIN}"),
    ("[bucket(4, over=rest)][bucket(4, over=rest)][a]", "u8",
     ("key[0].bucket.over: a later bucket of the key has over=rest too; expected over=rest in one"
     " bucket only. Name the fields to hash: bucket(field, n).")),
    ("[bucket(4, over=rest)][desc(bucket(4, over=rest))][a]", "u8",
     ("key[0].bucket.over: a later bucket of the key has over=rest too; expected over=rest in one"
     " bucket only. Name the fields to hash: bucket(field, n).")),
    ("[pad(a, 4)]", "bytes",
     "key[0].pad: pad cannot be applied to a, which is bytes; expected a field of type text."),
    ("[reverse(a, by=label)]", "bytes",
     "key[0].reverse.by: only text has labels to reverse; expected a field of type text."),
    ("[code(a:tail)]", "text",
     ("key[0].code: code cannot be applied to a:tail; expected the name of a field without an"
     " encoding or a function.")),
    ("[code(desc(a))]", "text",
     ("key[0].code: code cannot be applied to desc; expected the name of a field without an"
     " encoding or a function.")),
    ("[time_bucket(a, 1h)]", "text",
     ("key[0].time_bucket: time_bucket cannot be applied to a, which is text; expected a"
     " timestamp or a date.")),
    ("[time_bucket(a, 4)]", "timestamp_s", f"key[0].time_bucket.d: {LENGTH}"),
    ("[reverse(desc(a))]", "text",
     ("key[0].reverse: reverse cannot be applied to desc; expected a field of text, bytes or a"
     " fixed width.")),
    ("[reverse(a:text)]", LISTED,
     ("key[0].reverse: reverse cannot be applied to a, which is choice; expected a field of"
     " text, bytes or a fixed width.")),
    ("[a]", "digits", "fields.a: the type digits needs the option width. Declare width."),
    ("[a]", {"type": "text", "max_byte": 1},
     ("fields.a.max_byte: a field has no such option; expected one of type, nullable, of,"
     " precision, scale, width, max_bytes, normalize, heavy, from, family, qualifier, at, pack,"
     " distinct, mean_bytes, draw. Did you mean max_bytes?")),
    ("[a]", {"type": "decimal", "precision": 99},
     "fields.a.precision: 99 does not fit; expected 1..38 (decimal: total number of digits)."),
    ("[a]", {"type": 5},
     ("fields.a.type: 5 does not fit; expected the field type, such as text or"
     " timestamp_ms.")),
    ("[a]", {},
     ("fields.a.type: the option is missing; expected the field type, such as text or"
     " timestamp_ms.")),
    ("[a]", 5,
     ("fields.a: 5 does not declare a field; expected a type such as 'text', or a mapping with a"
     " type.")),
    ("[a]", {"type": "u8", "heavy": ["x"]},
     "fields.a.heavy[0]: 'x' is not a whole number; expected digits, such as 42."),
    ("[a]", {"type": "u8", "heavy": [1.5]},
     "fields.a.heavy[0]: '1.5' is not a whole number; expected digits, such as 42."),
]  # fmt: skip


@pytest.mark.parametrize(("notation", "declared", "sentence"), KEYS)
def test_a_declaration(notation: str, declared: Any, sentence: str) -> None:
    """One mistake is one sentence: where it is, what it is, and what to do."""
    with pytest.raises(InvalidDesign) as found:
        bind_key(notation, {"a": declared})
    assert sentence == str(found.value)


@pytest.mark.parametrize(("key", "fields", "sentence"), [
    (5, {"a": "u8"}, "key: 5 is not text; expected a key such as '[host][ts]'."),
    ("[a]", 5, "fields: 5 is not a mapping; expected field names with their types."),
    ("['x']", {5: "u8"}, "fields: the field name 5 is not text; expected text."),
])  # fmt: skip
def test_what_is_no_declaration(key: Any, fields: Any, sentence: str) -> None:
    """Another Python type is a mistake like any other."""
    with pytest.raises(InvalidDesign) as found:
        bind_key(key, fields)
    assert sentence == str(found.value)


VALUES: list[tuple[Any, Any, str]] = [
    ("text", 5, "a: 5 is a whole number; expected text."),
    ("bytes", "x", "a: 'x' is text; expected bytes."),
    ("u8", "5", "a: '5' is text; expected a whole number for u8."),
    ("u8", None,
     ("a: the value is missing; expected a whole number for u8. Declare the field nullable, or"
      " give a value.")),
    ("u8", True, "a: True is a boolean; expected a whole number for u8."),
    ("u8", 10**5_000, "a: a number of 16,610 bits is out of range; expected 0..255."),
    ("float64", 10**400, "a: a number of 1,329 bits is out of range; expected a float64."),
    ("float32", 10**400, "a: a number of 1,329 bits is out of range; expected a float32."),
    ("ipv4", "1.2.3", "a: '1.2.3' is not an IPv4 address."),
    ("date", datetime(2021, 1, 1, tzinfo=UTC),
     ("a: datetime.datetime(2021, 1, 1, 0, 0,"
      " tzinfo=datetime.timezone.utc) is a datetime; expected a date.")),
]  # fmt: skip


@pytest.mark.parametrize(("declared", "value", "sentence"), VALUES, ids=range(len(VALUES)))
def test_a_value(declared: Any, value: Any, sentence: str) -> None:
    """A value of another sort is told in the words of who works with data."""
    with pytest.raises(RowError) as found:
        bind_key("[a]", {"a": declared}).encode({"a": value})
    assert sentence == str(found.value)


NEEDED = {"precision": 5, "of": ["a"], "width": 4}
WEIRD: list[Any] = [
    10**5_000, -(10**400), float("inf"), Decimal("NaN"), Decimal("sNaN"), Decimal("1e999999"), [],
    {}, [10**5_000], object(), b"x", "x" * 100_000, "\ud800", "1" * 5_000,
    datetime.max.replace(tzinfo=UTC), date.min,
]  # fmt: skip


@pytest.mark.parametrize("kind", sorted(TYPES))
def test_weird_values(kind: str) -> None:
    """No value gives a traceback of another type: it is encoded, or refused for its field."""
    words = {word: NEEDED[word] for word in TYPES[kind].required_options}
    key = bind_key("[a]", {"a": {"type": kind, **words}})
    for value in WEIRD:
        found = outcome(key, value)
        assert isinstance(found, bytes) or found.startswith(("a: ", "key: "))


def outcome(key: Key, value: Any) -> bytes | str:
    """The bytes of a value, or the sentence that refuses it."""
    try:
        return key.encode({"a": value})
    except RowError as problem:
        return str(problem)


HEAVY: list[tuple[Any, Any, Any]] = [
    ({"type": "decimal", "precision": 5, "scale": 2}, 1.1, Decimal("1.1")),
    ({"type": "decimal", "precision": 5, "scale": 2}, "1.10", Decimal("1.1")),
    ({"type": "bytes"}, "6162", b"ab"),
    ({"type": "timestamp_s"}, "1970-01-01T00:01:00Z", 60),
    ({"type": "timestamp_s"}, datetime(1970, 1, 1, 0, 1, tzinfo=UTC), 60),
    ({"type": "date"}, "2021-01-01", date(2021, 1, 1)),
    ({"type": "text"}, "60", "60"),
    ({"type": "float64"}, 1.5, 1.5),
]


@pytest.mark.parametrize(("words", "listed", "value"), HEAVY)
def test_heavy_values(words: dict[str, Any], listed: Any, value: Any) -> None:
    """Whatever TOML has no word for is listed as text, and is spread."""
    key = bind_key("[bucket(a, b, 64, 8)]", {"a": {**words, "heavy": [listed]}, "b": "u16"})
    found = {key.encode({"a": value, "b": number}) for number in range(200)}
    assert 8 == len(found)


LONG = "x" * 40_000


def test_refused_rows_get_no_number() -> None:
    """Ids go by the rows that are stored: a row that a later part refuses takes none."""
    key = bind_key("[code(b)][b:u32]", {"b": "u64"})
    text = bind_key("[code(a)][b:tail]", {"a": "u8", "b": "text"})
    with pytest.raises(RowError):
        key.encode({"b": 2**40})
    with pytest.raises(RowError):
        key.encode_batch(pa.record_batch([pa.array([2**41, 2**42])], names=["b"]))
    with pytest.raises(RowError, match="the key has 40,004 bytes"):
        text.encode({"a": 1, "b": LONG})
    with pytest.raises(RowError, match="has 40,004 bytes"):
        text.encode_batch(pa.record_batch([pa.array([1]), pa.array([LONG])], names=["a", "b"]))
    assert b"\0\0\0\1\0\0\0\7" == key.encode({"b": 7})
    both = pa.record_batch([pa.array([9, 7, 8], pa.uint64())], names=["b"])
    assert [2, 1, 3] == [data[3] for data in key.encode_batch(both).to_pylist()]
    assert b"\0\0\0\1" == text.encode({"a": 2, "b": ""})


def test_many_tables_are_one() -> None:
    """Prefixes of as many numbers in one form share what they look them up in."""
    tracemalloc.start()
    try:
        bind_key("[bucket(id, 65536, as=letters)]" * 60, {"id": "u64"})
        bind_key("".join(f"[bucket(id, {65_536 - n}, as=hex)]" for n in range(60)), {"id": "u64"})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000
