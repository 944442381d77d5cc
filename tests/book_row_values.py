"""Values for the rows of `book_designs`: the edges of each type often, a bad one now and then."""

from __future__ import annotations

import ipaddress
import uuid
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any

import hypothesis.strategies as st

from book_values import Refused, normal

TICKS_PER_S = {
    "timestamp_s": 1,
    "timestamp_ms": 10**3,
    "timestamp_us": 10**6,
    "timestamp_ns": 10**9,
}
NOON_2024_S = 1_709_208_000
LAST_SECOND = 253_402_300_799  # 9999-12-31T23:59:59Z
BIT_WIDTHS = (8, 16, 32, 64)
INTEGER_RANGES = {f"u{bits}": (0, 2**bits - 1) for bits in BIT_WIDTHS} | {
    f"i{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in BIT_WIDTHS
}
TEXTS = ("", "a", "web-1", "42", "007", "0", "é", "e\u0301", "\x01\x7f", "\uffff", "🎉", "w" * 300)
LABELS = ("www.example.com", "a.b.", ".", "..x", "com")


@st.composite
def rows(draw: st.DrawFn, fields: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """A value for every field; in one row of twelve each field may be bad."""
    may_be_bad = draw(st.integers(1, 12)) == 1
    row: dict[str, Any] = {}
    for name, words in fields.items():
        chance = draw(st.integers(1, 3))
        if words.get("nullable") and chance == 1:
            row[name] = None
        elif may_be_bad and chance == 2:
            row[name] = draw(st.sampled_from(bad(words["type"])))
        elif words.get("heavy") and chance == 3:
            row[name] = draw(st.sampled_from(words["heavy"]))
        else:
            row[name] = draw(good(words))
    return row


@st.composite
def heavy(draw: st.DrawFn, words: dict[str, Any]) -> list[Any]:
    """Heavy values of a field; none at times."""
    once = st.lists(
        good(words),
        min_size=draw(st.integers(0, 1)),
        max_size=3,
        unique_by=lambda value: _held(words, value),
    )
    listed, most = draw(once), words.get("max_bytes")
    return [value for value in listed if most is None or len(value) * 4 <= most]


def _held(words: dict[str, Any], value: Any) -> str:
    """What a value is held as, if it can be held: a file may list it once."""
    try:
        return repr(normal(words, value))
    except Refused:
        return repr(value)


def good(words: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values of a field's type; of text and bytes some are above a declared `max_bytes`."""
    if words["type"] == "choice":
        return st.sampled_from([*words["of"][:3], words["of"][-1]])
    return _of_type(words["type"], *(words.get(w, 0) for w in ("precision", "scale", "width")))


@cache
def _of_type(type_: str, precision: int, scale: int, width: int) -> st.SearchStrategy[Any]:
    if type_ in INTEGER_RANGES:
        return _integers(*INTEGER_RANGES[type_])
    if type_ in TICKS_PER_S:
        return _instants(TICKS_PER_S[type_])
    if type_ == "decimal":
        return _decimals(precision, scale)
    if type_ == "digits":
        written = st.text("0123456789", min_size=width, max_size=width)
        return written | st.integers(0, 10**width - 1)
    if type_ == "hex":
        return st.text("0123456789abcdefF", min_size=width, max_size=width)
    return _PLAIN[type_]


def _integers(low: int, high: int) -> st.SearchStrategy[int]:
    near = sorted({low, low + 1, -1, 0, 1, 100, 127, 128, 255, 256, 65_535, 65_536, high - 1, high})
    fitting = [number for number in near if low <= number <= high]
    return st.sampled_from(fitting) | st.integers(low, high)


def _instants(per_s: int) -> st.SearchStrategy[int]:
    noon = NOON_2024_S * per_s
    edges = [0, 1, per_s - 1, per_s, 2**32 * per_s - 1, 2**32 * per_s, 2**63 - 1]
    edges += [LAST_SECOND * per_s + per_s - 1, (LAST_SECOND + 1) * per_s, noon]
    fitting = [edge for edge in edges if 0 <= edge < 2**63]
    near = st.integers(noon - 10**6, noon + 4 * 10**6)
    return near | near | st.sampled_from(fitting) | st.integers(0, 2**63 - 1)


def _decimals(precision: int, scale: int) -> st.SearchStrategy[Decimal]:
    top = 10**precision - 1
    scaled = st.sampled_from([0, 1, -1, top, -top]) | st.integers(-top, top)
    return scaled.map(lambda number: Decimal(f"{number}E-{scale}"))


def _dates() -> st.SearchStrategy[date]:
    edges = st.sampled_from(
        [date(1, 1, 8), date(9999, 12, 31), date(1970, 1, 1), date(1969, 12, 31)]
    )
    return edges | st.dates(date(1900, 1, 1), date(2100, 1, 1))


_ZEROS = st.lists(st.sampled_from([0, 1, 254, 255, 97]), max_size=6).map(bytes)
_PLAIN: dict[str, st.SearchStrategy[Any]] = {
    "text": st.sampled_from(TEXTS)
    | st.sampled_from(LABELS)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12),
    "bytes": _ZEROS | st.binary(max_size=20) | st.just(b"\0" * 300),
    "date": _dates(),
    "float32": st.floats(allow_nan=False, width=32) | st.sampled_from([0.0, -0.0, 1.5, -1.5]),
    "float64": st.floats(allow_nan=False) | st.sampled_from([0.0, -0.0, 1.5, 5e-324]),
    "bool": st.booleans(),
    "uuid": st.binary(min_size=16, max_size=16).map(lambda raw: str(uuid.UUID(bytes=raw))),
    "ipv4": st.integers(0, 2**32 - 1).map(lambda number: str(ipaddress.IPv4Address(number))),
    "ipv6": st.integers(0, 2**128 - 1).map(lambda number: str(ipaddress.IPv6Address(number))),
}


@cache
def bad(type_: str) -> tuple[Any, ...]:
    """Values that are none of a type, and no value at all."""
    if type_ in INTEGER_RANGES:
        low, high = INTEGER_RANGES[type_]
        return (None, low - 1, high + 1, 1.5, True, "x")
    if type_ in TICKS_PER_S:
        return (None, -1, 2**63, 2**64, 1.5, "x")
    return (None, *_BAD[type_])


_BAD: dict[str, tuple[Any, ...]] = {
    "text": ("a\0b", "\ud800", "x\udfff", b"raw", 5),
    "bytes": ("text", 5),
    "decimal": (Decimal(10) ** 40, Decimal("0.1234567890123456789012"), Decimal("NaN"), 1.5),
    "choice": ("unlisted", "info", 1),
    "digits": ("", "12345678901234", "x", "\u0663", -1, 10**14),
    "hex": ("", "g", "0" * 14, 5),
    "date": (5, "x", 1.5),
    "float32": (float("nan"), 1e39, -1e300, "x"),
    "float64": (float("nan"), "x"),
    "bool": ("x", 2),
    "uuid": ("", "zz", 5),
    "ipv4": ("1.2.3", "1.2.3.256", "::1"),
    "ipv6": ("1.2.3.4", "::1%eth0", ":::"),
}
