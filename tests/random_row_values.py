"""Values for rows of random designs: often the limits of a type, sometimes invalid ones."""

from __future__ import annotations

import ipaddress
import uuid
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any

import hypothesis.strategies as st

from reference_values import InvalidByReference, normalize_value

UNITS_PER_S_BY_TIMESTAMP = {
    "timestamp_s": 1,
    "timestamp_ms": 10**3,
    "timestamp_us": 10**6,
    "timestamp_ns": 10**9,
}
NOON_2024_S = 1_709_208_000
LAST_CALENDAR_SECOND = 253_402_300_799  # 9999-12-31T23:59:59Z
BIT_WIDTHS = (8, 16, 32, 64)
INTEGER_RANGES = {f"u{bits}": (0, 2**bits - 1) for bits in BIT_WIDTHS} | {
    f"i{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in BIT_WIDTHS
}
TEXTS = ("", "a", "web-1", "42", "007", "0", "é", "e\u0301", "\x01\x7f", "\uffff", "🎉", "w" * 300)
LABELS = ("www.example.com", "a.b.", ".", "..x", "com")


@st.composite
def rows(draw: st.DrawFn, fields: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Draw a value for every field; in one row of twelve each field may be invalid."""
    may_be_bad = draw(st.integers(1, 12)) == 1
    row: dict[str, Any] = {}
    for name, declaration in fields.items():
        chance = draw(st.integers(1, 3))
        if declaration.get("nullable") and chance == 1:
            row[name] = None
        elif may_be_bad and chance == 2:
            row[name] = draw(st.sampled_from(list_invalid_values(declaration["type"])))
        elif declaration.get("heavy") and chance == 3:
            row[name] = draw(st.sampled_from(declaration["heavy"]))
        else:
            row[name] = draw(valid_values(declaration))
    return row


@st.composite
def heavy_values(draw: st.DrawFn, declaration: dict[str, Any]) -> list[Any]:
    """Draw the heavy values of a field, or none."""
    distinct_lists = st.lists(
        valid_values(declaration),
        min_size=draw(st.integers(0, 1)),
        max_size=3,
        unique_by=lambda value: _identify_value(declaration, value),
    )
    listed, max_bytes = draw(distinct_lists), declaration.get("max_bytes")
    return [value for value in listed if max_bytes is None or len(value) * 4 <= max_bytes]


def _identify_value(declaration: dict[str, Any], value: Any) -> str:
    """Return the normal form of a value as text, so that no list repeats it."""
    try:
        return repr(normalize_value(declaration, value))
    except InvalidByReference:
        return repr(value)


def valid_values(declaration: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Return a strategy for values of a field; some texts are longer than its `max_bytes`."""
    if declaration["type"] == "choice":
        return st.sampled_from([*declaration["of"][:3], declaration["of"][-1]])
    return _values_of_type(
        declaration["type"], *(declaration.get(w, 0) for w in ("precision", "scale", "width"))
    )


@cache
def _values_of_type(type_: str, precision: int, scale: int, width: int) -> st.SearchStrategy[Any]:
    """Return a strategy for the values of a type with its options."""
    if type_ in INTEGER_RANGES:
        return _integers(*INTEGER_RANGES[type_])
    if type_ in UNITS_PER_S_BY_TIMESTAMP:
        return _timestamps(UNITS_PER_S_BY_TIMESTAMP[type_])
    if type_ == "decimal":
        return _decimals(precision, scale)
    if type_ == "digits":
        digit_texts = st.text("0123456789", min_size=width, max_size=width)
        return digit_texts | st.integers(0, 10**width - 1)
    if type_ == "hex":
        return st.text("0123456789abcdefF", min_size=width, max_size=width)
    return _VALUES_BY_TYPE[type_]


def _integers(low: int, high: int) -> st.SearchStrategy[int]:
    """Return a strategy for integers of a range, often its limits."""
    limits = sorted(
        {low, low + 1, -1, 0, 1, 100, 127, 128, 255, 256, 65_535, 65_536, high - 1, high}
    )
    limits_in_range = [number for number in limits if low <= number <= high]
    return st.sampled_from(limits_in_range) | st.integers(low, high)


def _timestamps(units_per_s: int) -> st.SearchStrategy[int]:
    """Return a strategy for timestamps in a unit, often the limits of the calendar."""
    noon = NOON_2024_S * units_per_s
    limits = [
        0,
        1,
        units_per_s - 1,
        units_per_s,
        2**32 * units_per_s - 1,
        2**32 * units_per_s,
        2**63 - 1,
    ]
    limits += [
        LAST_CALENDAR_SECOND * units_per_s + units_per_s - 1,
        (LAST_CALENDAR_SECOND + 1) * units_per_s,
        noon,
    ]
    limits_in_range = [edge for edge in limits if 0 <= edge < 2**63]
    recent = st.integers(noon - 10**6, noon + 4 * 10**6)
    return recent | recent | st.sampled_from(limits_in_range) | st.integers(0, 2**63 - 1)


def _decimals(precision: int, scale: int) -> st.SearchStrategy[Decimal]:
    """Return a strategy for decimals of a precision and scale, often the largest."""
    maximum = 10**precision - 1
    scaled = st.sampled_from([0, 1, -1, maximum, -maximum]) | st.integers(-maximum, maximum)
    return scaled.map(lambda number: Decimal(f"{number}E-{scale}"))


def _dates() -> st.SearchStrategy[date]:
    """Return a strategy for dates, often the first and last of the calendar."""
    limits = st.sampled_from(
        [date(1, 1, 8), date(9999, 12, 31), date(1970, 1, 1), date(1969, 12, 31)]
    )
    return limits | st.dates(date(1900, 1, 1), date(2100, 1, 1))


_BYTES_WITH_ZEROS = st.lists(st.sampled_from([0, 1, 254, 255, 97]), max_size=6).map(bytes)
_VALUES_BY_TYPE: dict[str, st.SearchStrategy[Any]] = {
    "text": st.sampled_from(TEXTS)
    | st.sampled_from(LABELS)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12),
    "bytes": _BYTES_WITH_ZEROS | st.binary(max_size=20) | st.just(b"\0" * 300),
    "date": _dates(),
    "float32": st.floats(allow_nan=False, width=32) | st.sampled_from([0.0, -0.0, 1.5, -1.5]),
    "float64": st.floats(allow_nan=False) | st.sampled_from([0.0, -0.0, 1.5, 5e-324]),
    "bool": st.booleans(),
    "uuid": st.binary(min_size=16, max_size=16).map(lambda raw: str(uuid.UUID(bytes=raw))),
    "ipv4": st.integers(0, 2**32 - 1).map(lambda number: str(ipaddress.IPv4Address(number))),
    "ipv6": st.integers(0, 2**128 - 1).map(lambda number: str(ipaddress.IPv6Address(number))),
}


@cache
def list_invalid_values(type_: str) -> tuple[Any, ...]:
    """Return values that a type does not accept, and null."""
    if type_ in INTEGER_RANGES:
        low, high = INTEGER_RANGES[type_]
        return (None, low - 1, high + 1, 1.5, True, "x")
    if type_ in UNITS_PER_S_BY_TIMESTAMP:
        return (None, -1, 2**63, 2**64, 1.5, "x")
    return (None, *_INVALID_VALUES_BY_TYPE[type_])


_INVALID_VALUES_BY_TYPE: dict[str, tuple[Any, ...]] = {
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
