"""What a field's value is and the bytes of each encoding: the first half of `book`."""

from __future__ import annotations

import struct
import unicodedata
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from ipaddress import IPv4Address, IPv6Address
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import UUID

if TYPE_CHECKING:
    from collections.abc import Callable

    from rowkey.schema import FieldRef

Words: TypeAlias = dict[str, Any]
"""What is declared of one field."""

LONG_MAX = 2**63 - 1
MOST_BYTES = 32_767
DAY_NS = 86_400 * 10**9
TIMES = {"timestamp_s": 10**9, "timestamp_ms": 10**6, "timestamp_us": 10**3, "timestamp_ns": 1}
"""Nanoseconds in the unit of each timestamp."""

FRACTIONS = {"timestamp_s": 0, "timestamp_ms": 3, "timestamp_us": 6, "timestamp_ns": 9}
"""Digits after the second in the calendar encoding of each timestamp."""

INTEGERS = {f"{sign}{bits}": bits // 8 for sign in "ui" for bits in (8, 16, 32, 64)}
EPOCH = date(1970, 1, 1)


class Refused(Exception):
    """The page says that this key or this row is refused."""


def check(holds: bool, otherwise: str) -> None:
    """Refuses what does not hold."""
    if not holds:
        raise Refused(otherwise)


def normal(words: Words, value: Any) -> Any:
    """A value as its type holds it: equal values give equal ones.

    Text in its declared form, times as whole units, dates as days, decimals as scaled integers,
    addresses and uuids as their bytes.
    """
    type_ = words["type"]
    check(type_ in _PLAIN or type_ in _DECLARED, f"no type {type_}")
    return _PLAIN[type_](value) if type_ in _PLAIN else _DECLARED[type_](words, value)


def _text(words: Words, value: Any) -> str:
    check(isinstance(value, str), f"{value!r} is no text")
    text: str = value
    if words.get("normalize") == "nfc":
        text = unicodedata.normalize("NFC", text)
    check("\0" not in text, "U+0000")
    check(not any("\ud800" <= character <= "\udfff" for character in text), "a lone surrogate")
    check(len(text.encode()) <= (words.get("max_bytes") or MOST_BYTES), "above max_bytes")
    return text


def _bytes(words: Words, value: Any) -> bytes:
    check(isinstance(value, bytes), f"{value!r} is no bytes")
    check(len(value) <= (words.get("max_bytes") or MOST_BYTES), "above max_bytes")
    return bytes(value)


def _whole(value: Any, least: int, most: int) -> int:
    check(isinstance(value, int) and not isinstance(value, bool), f"{value!r} is no integer")
    check(least <= value <= most, f"{value} is not within {least}..{most}")
    return int(value)


def _integer(words: Words, value: Any) -> int:
    bits = 8 * INTEGERS[words["type"]]
    if words["type"].startswith("u"):
        return _whole(value, 0, 2**bits - 1)
    return _whole(value, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _time(value: Any) -> int:
    return _whole(value, 0, LONG_MAX)


def _date(value: Any) -> int:
    check(isinstance(value, date) and not isinstance(value, datetime), f"{value!r} is no date")
    days: int = (value - EPOCH).days
    return days


def _float(words: Words, value: Any) -> float:
    check(isinstance(value, (float, int)) and not isinstance(value, bool), f"{value!r}")
    check(value == value, "NaN")  # noqa: PLR0124 - the definition of NaN
    width = ">f" if words["type"] == "float32" else ">d"
    try:
        rounded: float = struct.unpack(width, struct.pack(width, value))[0]
    except OverflowError as error:
        raise Refused(f"{value} is no {words['type']}") from error
    return rounded or 0.0


def _decimal(words: Words, value: Any) -> int:
    check(isinstance(value, (Decimal, int)), f"{value!r} is no decimal")
    exact = Decimal(value)
    check(exact.is_finite(), f"{value} is not finite")
    sign, digits, exponent = exact.as_tuple()
    shift = int(exponent) + words["scale"]
    number = int("".join(map(str, digits)))
    if number == 0:
        return 0
    check(shift <= words["precision"], f"{value} is out of range")
    scaled, lost = divmod(number * 10 ** max(shift, 0), 10 ** max(-shift, 0))
    check(not lost, f"{value} has too many digits after the point")
    check(scaled < 10 ** words["precision"], f"{value} is out of range")
    return int(-scaled if sign else scaled)


def _bool(value: Any) -> bool:
    check(isinstance(value, bool), f"{value!r} is neither true nor false")
    return bool(value)


def _choice(words: Words, value: Any) -> str:
    check(isinstance(value, str) and value in words["of"], f"{value!r} is not listed")
    return str(value)


def _uuid(value: Any) -> bytes:
    return bytes(_object_of(UUID, value).bytes)


def _ipv4(value: Any) -> bytes:
    return bytes(_object_of(IPv4Address, value).packed)


def _ipv6(value: Any) -> bytes:
    check("%" not in str(value), f"{value!r} has a zone")
    return bytes(_object_of(IPv6Address, value).packed)


def _object_of(kind: type[Any], value: Any) -> Any:
    """The object itself, or the one that its text stands for."""
    check(isinstance(value, (kind, str)), f"{value!r} is no {kind.__name__}")
    try:
        return kind(str(value))
    except ValueError as error:
        raise Refused(str(error)) from error


def _digits(words: Words, value: Any) -> str:
    width = words["width"]
    if isinstance(value, int):
        value = str(_whole(value, 0, 10**width - 1)).rjust(width, "0")
    check(isinstance(value, str) and len(value) == width, f"{value!r} is not {width} digits")
    check(all(character in "0123456789" for character in value), f"{value!r} is no digits")
    return str(value)


def _hex(words: Words, value: Any) -> str:
    check(isinstance(value, str) and len(value) == words["width"], f"{value!r} in width")
    check(all(c in "0123456789abcdefABCDEF" for c in value), f"{value!r} is no hex")
    return str(value).lower()


_PLAIN: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(TIMES, _time),
    "date": _date,
    "bool": _bool,
    "uuid": _uuid,
    "ipv4": _ipv4,
    "ipv6": _ipv6,
}
_DECLARED: dict[str, Callable[[Words, Any], Any]] = {
    "text": _text,
    "bytes": _bytes,
    **dict.fromkeys(INTEGERS, _integer),
    "float32": _float,
    "float64": _float,
    "decimal": _decimal,
    "choice": _choice,
    "digits": _digits,
    "hex": _hex,
}


TYPES = (*_PLAIN, *_DECLARED)
"""Every type that the page has."""


def encoded(words: Words, term: FieldRef, value: Any, ended: bool = False) -> bytes:
    """The bytes of a normal value in the encoding of a key part; `ended` gives a tail its end."""
    type_, encoding = words["type"], term.encoding
    check(not term.arguments or encoding == "fixed", f"{term} takes no numbers")
    if type_ == "text":
        return _framed(term, value.encode(), value.encode() + b"\0", ended)
    if type_ == "bytes":
        return _framed(term, value, value.replace(b"\0", b"\0\xff") + b"\0\1", ended)
    if type_ in INTEGERS:
        check(encoding in {"", *INTEGERS}, f"no encoding {term}")
        return _integer_bytes(encoding or type_, value)
    if type_ in TIMES and encoding == "u32":
        return big_endian(value * TIMES[type_] // 10**9, 4)
    if type_ in {*TIMES, "date"} and encoding == "calendar":
        return _calendar(type_, value)
    if type_ == "choice" and encoding == "text":
        return str(value).encode() + b"\0"
    if type_ == "choice":
        check(encoding in {"", "u16"}, f"no encoding {term}")
        wide = encoding == "u16" or len(words["of"]) > 256
        return big_endian(words["of"].index(value), 2 if wide else 1)
    if type_ == "hex" and encoding == "bytes":
        check(words["width"] % 2 == 0, f"{term} of an odd width")
        return bytes.fromhex(value)
    check(not encoding, f"no encoding {term}")
    return _only_encoding(words, value)


def _framed(term: FieldRef, plain: bytes, with_end: bytes, ended: bool) -> bytes:
    """Text or bytes by how their end is told."""
    if term.encoding == "fixed":
        check(len(term.arguments) == 1 and isinstance(term.arguments[0], int), f"{term}")
        (width,) = term.arguments
        assert isinstance(width, int)
        padded = plain.ljust(width, b"\0") if with_end == plain + b"\0" else plain
        check(len(padded) == width, f"{plain!r} in {term}")
        return padded
    check(term.encoding in {"", "tail", "raw"}, f"no encoding {term}")
    with_its_end = not term.encoding or (term.encoding == "tail" and ended)
    return with_end if with_its_end else plain


def _integer_bytes(name: str, value: int) -> bytes:
    width = INTEGERS[name]
    return big_endian(value, width) if name.startswith("u") else flipped(value, width)


def _calendar(type_: str, value: int) -> bytes:
    """The digits of the UTC calendar."""
    try:
        if type_ == "date":
            return (EPOCH + timedelta(days=value)).strftime("%Y%m%d").rjust(8, "0").encode()
        seconds, fraction = divmod(value, 10**9 // TIMES[type_])
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    except OverflowError as error:
        raise Refused(f"{value} is beyond the calendar") from error
    digits = str(fraction).rjust(FRACTIONS[type_], "0") if FRACTIONS[type_] else ""
    return (moment.strftime("%Y%m%d%H%M%S") + digits).encode()


def _only_encoding(words: Words, value: Any) -> bytes:
    """The bytes of a type, in the default encoding, that has no other or was asked for none."""
    type_ = words["type"]
    if type_ in TIMES:
        return big_endian(value, 8)
    if type_ == "date":
        return flipped(value, 4)
    if type_ in {"float32", "float64"}:
        return _float_bytes(type_, value)
    if type_ == "decimal":
        return flipped(value, _decimal_width(words))
    return own_bytes(words, value)


def _float_bytes(type_: str, value: float) -> bytes:
    plain = struct.pack(">f" if type_ == "float32" else ">d", value)
    if plain[0] & 0x80:
        return bytes(byte ^ 0xFF for byte in plain)
    return bytes([plain[0] | 0x80]) + plain[1:]


def _decimal_width(words: Words) -> int:
    return 4 if words["precision"] <= 9 else 8 if words["precision"] <= 18 else 16


def own_bytes(words: Words, value: Any) -> bytes:
    """The bytes of a normal value itself: what one field gives to a digest."""
    type_ = words["type"]
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value
    if type_ in {"float32", "float64"}:
        return struct.pack(">f" if type_ == "float32" else ">d", value)
    width = {"bool": 1, "date": 4, **dict.fromkeys(TIMES, 8), **INTEGERS}.get(type_)
    width = width or _decimal_width(words)
    return big_endian(
        int(value), width, signed=type_.startswith("i") or type_ in {"date", "decimal"}
    )


def big_endian(number: int, width: int, signed: bool = False) -> bytes:
    """A number in so many bytes; refused where they do not hold it."""
    try:
        return number.to_bytes(width, signed=signed)
    except (OverflowError, ValueError) as error:
        raise Refused(f"{number} in {width} bytes") from error


def flipped(number: int, width: int) -> bytes:
    """A signed number with its sign bit flipped.

    >>> flipped(-1, 2).hex(), flipped(1, 2).hex()
    ('7fff', '8001')
    """
    plain = big_endian(number, width, signed=True)
    return bytes([plain[0] ^ 0x80]) + plain[1:]
