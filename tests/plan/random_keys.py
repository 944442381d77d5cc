"""Random keys, rows, bounds and orders over one set of fields, and a plain check of bounds."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from random import Random
from typing import TYPE_CHECKING, Any

from hypothesis import assume
from hypothesis import strategies as st

from rowkey.errors import InvalidDesign
from rowkey.keys import bind_key
from rowkey.schema import Equal, OneOf, Ordering, Range, StartsWith

if TYPE_CHECKING:
    from rowkey.keys import Key
    from rowkey.schema import Bound, Bounds

FIELDS: dict[str, Any] = {
    "host": {"type": "text", "max_bytes": 6, "heavy": ["a", "ab"]},
    "kind": {"type": "choice", "of": ["info", "warn", "error"]},
    "n": "i16",
    "u": "u8",
    "ts": "timestamp_s",
    "note": {"type": "text", "max_bytes": 6, "nullable": True},
    "level": {"type": "u8", "nullable": True},
    "raw": {"type": "bytes", "max_bytes": 4},
    "code": {"type": "digits", "width": 4},
    "day": "date",
    "f": "float32",
    "yes": "bool",
}

PARTS = (
    "[host]", "[host:fixed(8)]", "[host:raw]", "[desc(host)]", "[reverse(host)]", "[kind]",
    "[kind:text]", "[desc(kind)]", "[n]", "[desc(n)]", "[n:i32]", "[u]", "[reverse(n)]", "[ts]",
    "[ts:u32]", "[ts:calendar]", "[desc(ts)]", "[desc(ts:u32)]", "[note]", "[desc(note)]",
    "[level]", "[desc(level)]", "[raw]", "[desc(raw)]", "[code]", "[day]",
    "[desc(day:calendar)]", "[f]", "[desc(f)]", "[yes]", "['x']", "['-']",
    "[bucket(host, 4)]", "[bucket(host, ts, 8)]", "[bucket(host, ts, 8, 3)]",
    "[bucket(kind, 4, as=hex)]", "[bucket(4, over=rest)]", "[bucket(note, 4)]", "[mod(ts, 16)]",
    "[mod(n, 5)]", "[mod(ts, 100, as=decimal)]", "[salt(3)]", "[digest(host, 2)]",
    "[digest(host, n, 4)]", "[digest(code, 2, as=hex)]", "[truncate(host, 2)]",
    "[truncate(ts, 6)]", "[time_bucket(ts, 1m)]", "[time_bucket(ts:u32, 1m)]",
    "[desc(time_bucket(ts, 10s))]", "[time_slice(ts, 1m)]", "[bucket(time_bucket(ts, 10s), 4)]",
    "[mod(time_bucket(ts, 10s), 7)]", "[desc(bucket(host, 4))]", "[desc(digest(host, 2))]",
)  # fmt: skip
LAST_PARTS = (
    "[host:tail]", "[desc(host:tail)]", "[raw:tail]", "[raw:raw]", "[desc(raw:tail)]",
    "[note:tail]", "[desc(note:tail)]", "[note:raw]",
)  # fmt: skip
SPREADING_PARTS = (
    "[salt(3)]", "[bucket(host, 4)]", "[bucket(4, over=rest)]", "[mod(n, 5)]", "[bucket(n, 3)]",
)  # fmt: skip
ORDERED_PARTS = ("[ts]", "[u]", "[desc(ts)]", "[day]", "[level]")

HOSTS = ("", "a", "ab", "abc", "b", "ba", "é", "z\U0001f600", "~", "a\x7f")
_VALUES: dict[str, tuple[Any, ...]] = {
    "host": HOSTS,
    "kind": ("info", "warn", "error"),
    "n": (-32768, -2, -1, 0, 1, 2, 255, 256, 32767),
    "u": (0, 1, 127, 128, 254, 255),
    "ts": (0, 1, 9, 10, 59, 60, 61, 3599, 3600, 1_609_459_200, 2**32 - 1),
    "note": (*[None] * len(HOSTS), *HOSTS),
    "level": (*[None] * 4, 0, 1, 254, 255),
    "raw": (b"", b"\0", b"\0\0", b"\0\xff", b"a", b"a\0", b"\xff", b"\xff\xff"),
    "code": ("0000", "0001", "0010", "9999", "1234"),
    "day": tuple(date(1970, 1, 1) + timedelta(n) for n in (0, 1, 255, 256, 18_628)),
    "f": (-float("inf"), -2.5, -0.0, 0.0, 0.5, 1.0, float("inf")),
    "yes": (False, True),
}
VALUES_BY_FIELD = {name: st.sampled_from(values) for name, values in _VALUES.items()}
_CHANCE = Random(1)
_ROWS = [{name: _CHANCE.choice(values) for name, values in _VALUES.items()} for _ in range(10_000)]
"""Rows to choose from: to draw one is twelve times as fast as to draw each of its values."""
NOT_OF_TIME = ("host", "note", "raw")


@st.composite
def keys(draw: st.DrawFn) -> Key:
    """Draw a key of up to five parts."""
    parts = draw(st.lists(st.sampled_from(PARTS), min_size=1, max_size=4))
    if draw(st.integers(0, 3)) == 0:
        parts.append(draw(st.sampled_from(LAST_PARTS)))
    try:
        return bind_fields_to_key("".join(parts))
    except InvalidDesign:
        assume(False)
        raise


@st.composite
def spread_keys(draw: st.DrawFn) -> Key:
    """Draw a key of salts and buckets, followed by fields that sort as their values do."""
    spreading = draw(
        st.lists(st.sampled_from(SPREADING_PARTS), min_size=1, max_size=2, unique=True)
    )
    whole = ["[host]", "[n]", *draw(st.lists(st.sampled_from(ORDERED_PARTS), max_size=1))]
    whole = draw(st.permutations(whole))
    return bind_fields_to_key("".join([*spreading, *whole]))


@st.composite
def open_keys(draw: st.DrawFn) -> Key:
    """Draw a key whose last part has no terminator."""
    first = draw(st.sampled_from(("", "[u]", "[yes]", "[salt(3)]")))
    return bind_fields_to_key(first + draw(st.sampled_from(LAST_PARTS)))


def bind_fields_to_key(notation: str) -> Key:
    """Bind a key in the notation to the fields."""
    return bind_key(notation, FIELDS)


KEYS = {
    "any": keys(),
    "spread": spread_keys(),
    "open": open_keys(),
    "open, maybe null": st.sampled_from(("[note:tail]", "[u][note:raw]")).map(bind_fields_to_key),
}


def rows(key: Key) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Return a strategy for 10 to 25 normal rows, enough for some to be in one range."""
    one = st.sampled_from(_ROWS).map(lambda row: normalize_row(key, row))
    return st.lists(one, min_size=10, max_size=25)


def normalize_row(key: Key, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with the normal values of its fields."""
    return {
        name: None if value is None else key.declared_fields[name].normalize(value)
        for name, value in row.items()
    }


@st.composite
def bounds(draw: st.DrawFn, key: Key) -> dict[str, Bound]:
    """Draw bounds of up to three fields, mostly fields of the key."""
    names = draw(
        st.lists(
            st.sampled_from([*key.fields] or ["n"]) | st.sampled_from(sorted(FIELDS)),
            min_size=draw(st.sampled_from((0, 1, 1, 1))),
            max_size=3,
            unique=True,
        )
    )
    return {name: draw(_bounds_of_field(key, name)) for name in names}


@st.composite
def _bounds_of_field(draw: st.DrawFn, key: Key, name: str) -> Bound:
    """Draw a bound of a field."""
    field = key.declared_fields[name]
    value = VALUES_BY_FIELD[name].map(lambda v: None if v is None else field.normalize(v))
    present = value.filter(lambda v: v is not None)
    form = draw(st.sampled_from(("=", "=", "in", "in", "range", "half", "starts")))
    if form == "in":
        listed = draw(st.lists(value, min_size=1, max_size=4, unique=True))
        if field.nullable and draw(st.booleans()):
            listed = [None, *(v for v in listed if v is not None)]
        return OneOf(tuple(listed))
    if form == "range":
        low, high = draw(present), draw(present)
        return Range(low, high, draw(st.booleans()), draw(st.booleans()))
    if form == "half":
        if draw(st.booleans()):
            return Range(low=draw(present), includes_low=draw(st.booleans()))
        return Range(high=draw(present), includes_high=draw(st.booleans()))
    if form == "starts" and field.type.is_sequence:
        return StartsWith(draw(present))
    return Equal(draw(value))


@st.composite
def orders(draw: st.DrawFn, key: Key) -> tuple[Ordering, ...]:
    """Draw an order by up to two fields of the key."""
    names = draw(st.lists(st.sampled_from([*key.fields] or ["n"]), max_size=2, unique=True))
    return tuple(Ordering(name, draw(st.booleans())) for name in names)


def to_comparable(name: str, value: Any) -> Any:
    """Return a value that sorts as the database does: choices by position, text by UTF-8 bytes."""
    if value is None:
        return None
    if FIELDS[name] == FIELDS["kind"]:
        return FIELDS["kind"]["of"].index(value)
    return value.encode() if isinstance(value, str) else value


def satisfies_bounds(row: Mapping[str, Any], bounds: Bounds, names: set[str]) -> bool:
    """Return whether a row satisfies the bounds of some fields."""
    return all(_satisfies_bound(name, row[name], bounds[name]) for name in bounds if name in names)


def _satisfies_bound(name: str, value: Any, bound: Bound) -> bool:
    """Return whether a value satisfies a bound."""
    if isinstance(bound, Equal):
        return bool(value == bound.value)
    if isinstance(bound, OneOf):
        return value in bound.values
    if value is None:
        return False
    mine = to_comparable(name, value)
    if isinstance(bound, StartsWith):
        return bool(mine.startswith(to_comparable(name, bound.prefix)))
    low, high = to_comparable(name, bound.low), to_comparable(name, bound.high)
    above = low is None or mine > low or (bound.includes_low and mine == low)
    below = high is None or mine < high or (bound.includes_high and mine == high)
    return bool(above and below)
