"""The value of a field and the bytes of each of its encodings: part of `reference_encoder`."""

from __future__ import annotations

import struct
import unicodedata
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from ipaddress import IPv4Address, IPv6Address
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import UUID

if TYPE_CHECKING:
    from rowkey.schema import FieldRef

Declaration: TypeAlias = dict[str, Any]
"""What a design file declares of one field: its type and options."""

LONG_MAX = 2**63 - 1
MAX_KEY_BYTES = 32_767
DAY_NS = 86_400 * 10**9
UNIT_NS_BY_TIMESTAMP = {
    "timestamp_s": 10**9,
    "timestamp_ms": 10**6,
    "timestamp_us": 10**3,
    "timestamp_ns": 1,
}
"""Nanoseconds in the unit of each timestamp."""

FRACTION_DIGITS_BY_TIMESTAMP = {
    "timestamp_s": 0,
    "timestamp_ms": 3,
    "timestamp_us": 6,
    "timestamp_ns": 9,
}
"""Digits after the second in the calendar encoding of each timestamp."""

WIDTH_BY_INTEGER = {f"{sign}{bits}": bits // 8 for sign in "ui" for bits in (8, 16, 32, 64)}
EPOCH = date(1970, 1, 1)


class InvalidByReference(Exception):
    """The documented byte format does not allow this key or this row."""


def require(condition: bool, problem: str) -> None:
    """Raise `InvalidByReference` unless a condition holds."""
    if not condition:
        raise InvalidByReference(problem)


def normalize_value(declaration: Declaration, value: Any) -> Any:
    """Return a value in the form in which equal values of its type are equal."""
    type_ = declaration["type"]
    require(
        type_ in _NORMALIZERS_BY_TYPE or type_ in _NORMALIZERS_BY_DECLARED_TYPE, f"no type {type_}"
    )
    return (
        _NORMALIZERS_BY_TYPE[type_](value)
        if type_ in _NORMALIZERS_BY_TYPE
        else _NORMALIZERS_BY_DECLARED_TYPE[type_](declaration, value)
    )


def _normalize_text(declaration: Declaration, value: Any) -> str:
    """Return a text in its declared Unicode form, if the field accepts it."""
    require(isinstance(value, str), f"{value!r} is no text")
    text: str = value
    if declaration.get("normalize") == "nfc":
        text = unicodedata.normalize("NFC", text)
    require("\0" not in text, "U+0000")
    require(not any("\ud800" <= character <= "\udfff" for character in text), "a lone surrogate")
    require(
        len(text.encode()) <= (declaration.get("max_bytes") or MAX_KEY_BYTES), "above max_bytes"
    )
    return text


def _normalize_bytes(declaration: Declaration, value: Any) -> bytes:
    """Return bytes, if they are no longer than the field allows."""
    require(isinstance(value, bytes), f"{value!r} is no bytes")
    require(len(value) <= (declaration.get("max_bytes") or MAX_KEY_BYTES), "above max_bytes")
    return bytes(value)


def _validate_integer(value: Any, minimum: int, maximum: int) -> int:
    """Return a number, if it is an integer in a range."""
    require(isinstance(value, int) and not isinstance(value, bool), f"{value!r} is no integer")
    require(minimum <= value <= maximum, f"{value} is not within {minimum}..{maximum}")
    return int(value)


def _normalize_integer(declaration: Declaration, value: Any) -> int:
    """Return an integer, if its declared type can represent it."""
    bits = 8 * WIDTH_BY_INTEGER[declaration["type"]]
    if declaration["type"].startswith("u"):
        return _validate_integer(value, 0, 2**bits - 1)
    return _validate_integer(value, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _normalize_timestamp(value: Any) -> int:
    """Return a timestamp as a count of units since 1970."""
    return _validate_integer(value, 0, LONG_MAX)


def _normalize_date(value: Any) -> int:
    """Return a date as days since 1970."""
    require(isinstance(value, date) and not isinstance(value, datetime), f"{value!r} is no date")
    days: int = (value - EPOCH).days
    return days


def _normalize_float(declaration: Declaration, value: Any) -> float:
    """Return a number rounded to its declared type, with 0.0 for -0.0."""
    require(isinstance(value, (float, int)) and not isinstance(value, bool), f"{value!r}")
    require(value == value, "NaN")  # noqa: PLR0124 - the definition of NaN
    width = ">f" if declaration["type"] == "float32" else ">d"
    try:
        rounded: float = struct.unpack(width, struct.pack(width, value))[0]
    except OverflowError as error:
        raise InvalidByReference(f"{value} is no {declaration['type']}") from error
    return rounded or 0.0


def _normalize_decimal(declaration: Declaration, value: Any) -> int:
    """Return a decimal as an integer scaled by its declared scale."""
    require(isinstance(value, (Decimal, int)), f"{value!r} is no decimal")
    exact = Decimal(value)
    require(exact.is_finite(), f"{value} is not finite")
    sign, digits, exponent = exact.as_tuple()
    shift = int(exponent) + declaration["scale"]
    number = int("".join(map(str, digits)))
    if number == 0:
        return 0
    require(shift <= declaration["precision"], f"{value} is out of range")
    scaled, remainder = divmod(number * 10 ** max(shift, 0), 10 ** max(-shift, 0))
    require(not remainder, f"{value} has too many digits after the point")
    require(scaled < 10 ** declaration["precision"], f"{value} is out of range")
    return int(-scaled if sign else scaled)


def _normalize_bool(value: Any) -> bool:
    """Return a truth value, if it is one."""
    require(isinstance(value, bool), f"{value!r} is neither true nor false")
    return bool(value)


def _normalize_choice(declaration: Declaration, value: Any) -> str:
    """Return a text, if the field lists it as a choice."""
    require(isinstance(value, str) and value in declaration["of"], f"{value!r} is not listed")
    return str(value)


def _normalize_uuid(value: Any) -> bytes:
    """Return the bytes of a UUID."""
    return bytes(_parse_object(UUID, value).bytes)


def _normalize_ipv4(value: Any) -> bytes:
    """Return the bytes of an IPv4 address."""
    return bytes(_parse_object(IPv4Address, value).packed)


def _normalize_ipv6(value: Any) -> bytes:
    """Return the bytes of an IPv6 address without a zone."""
    require("%" not in str(value), f"{value!r} has a zone")
    return bytes(_parse_object(IPv6Address, value).packed)


def _parse_object(class_: type[Any], value: Any) -> Any:
    """Return an object of a class, made of its text if need be."""
    require(isinstance(value, (class_, str)), f"{value!r} is no {class_.__name__}")
    try:
        return class_(str(value))
    except ValueError as error:
        raise InvalidByReference(str(error)) from error


def _normalize_digits(declaration: Declaration, value: Any) -> str:
    """Return digits, or a number padded with zeros, in the declared width."""
    width = declaration["width"]
    if isinstance(value, int):
        value = str(_validate_integer(value, 0, 10**width - 1)).rjust(width, "0")
    require(isinstance(value, str) and len(value) == width, f"{value!r} is not {width} digits")
    require(all(character in "0123456789" for character in value), f"{value!r} is no digits")
    return str(value)


def _normalize_hex(declaration: Declaration, value: Any) -> str:
    """Return hexadecimal digits in lower case, in the declared width."""
    require(isinstance(value, str) and len(value) == declaration["width"], f"{value!r} in width")
    require(all(c in "0123456789abcdefABCDEF" for c in value), f"{value!r} is no hex")
    return str(value).lower()


_NORMALIZERS_BY_TYPE: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(UNIT_NS_BY_TIMESTAMP, _normalize_timestamp),
    "date": _normalize_date,
    "bool": _normalize_bool,
    "uuid": _normalize_uuid,
    "ipv4": _normalize_ipv4,
    "ipv6": _normalize_ipv6,
}
_NORMALIZERS_BY_DECLARED_TYPE: dict[str, Callable[[Declaration, Any], Any]] = {
    "text": _normalize_text,
    "bytes": _normalize_bytes,
    **dict.fromkeys(WIDTH_BY_INTEGER, _normalize_integer),
    "float32": _normalize_float,
    "float64": _normalize_float,
    "decimal": _normalize_decimal,
    "choice": _normalize_choice,
    "digits": _normalize_digits,
    "hex": _normalize_hex,
}


TYPES = (*_NORMALIZERS_BY_TYPE, *_NORMALIZERS_BY_DECLARED_TYPE)
"""Every field type of the documented byte format."""


def encode_value(
    declaration: Declaration, term: FieldRef, value: Any, with_end: bool = False
) -> bytes:
    """Encode a normal value as a key part; `with_end` adds the end that `tail` leaves out."""
    type_, encoding = declaration["type"], term.encoding
    require(not term.arguments or encoding == "fixed", f"{term} takes no numbers")
    if type_ == "text":
        return _encode_variable_length(term, value.encode(), value.encode() + b"\0", with_end)
    if type_ == "bytes":
        return _encode_variable_length(
            term, value, value.replace(b"\0", b"\0\xff") + b"\0\1", with_end
        )
    if type_ in WIDTH_BY_INTEGER:
        require(encoding in {"", *WIDTH_BY_INTEGER}, f"no encoding {term}")
        return _encode_integer(encoding or type_, value)
    if type_ in UNIT_NS_BY_TIMESTAMP and encoding == "u32":
        return encode_big_endian(value * UNIT_NS_BY_TIMESTAMP[type_] // 10**9, 4)
    if type_ in {*UNIT_NS_BY_TIMESTAMP, "date"} and encoding == "calendar":
        return _encode_calendar(type_, value)
    if type_ == "choice" and encoding == "text":
        return str(value).encode() + b"\0"
    if type_ == "choice":
        require(encoding in {"", "u16"}, f"no encoding {term}")
        wide = encoding == "u16" or len(declaration["of"]) > 256
        return encode_big_endian(declaration["of"].index(value), 2 if wide else 1)
    if type_ == "hex" and encoding == "bytes":
        require(declaration["width"] % 2 == 0, f"{term} of an odd width")
        return bytes.fromhex(value)
    require(not encoding, f"no encoding {term}")
    return _encode_default(declaration, value)


def _encode_variable_length(
    term: FieldRef, content: bytes, terminated: bytes, with_end: bool
) -> bytes:
    """Encode text or bytes with a fixed width, a terminator or neither."""
    if term.encoding == "fixed":
        require(len(term.arguments) == 1 and isinstance(term.arguments[0], int), f"{term}")
        (width,) = term.arguments
        assert isinstance(width, int)
        padded = content.ljust(width, b"\0") if terminated == content + b"\0" else content
        require(len(padded) == width, f"{content!r} in {term}")
        return padded
    require(term.encoding in {"", "tail", "raw"}, f"no encoding {term}")
    is_terminated = not term.encoding or (term.encoding == "tail" and with_end)
    return terminated if is_terminated else content


def _encode_integer(name: str, value: int) -> bytes:
    """Encode an integer so that its bytes sort as the numbers do."""
    width = WIDTH_BY_INTEGER[name]
    return (
        encode_big_endian(value, width)
        if name.startswith("u")
        else encode_sign_flipped(value, width)
    )


def _encode_calendar(type_: str, value: int) -> bytes:
    """Encode a timestamp or date as the digits of its UTC calendar date."""
    try:
        if type_ == "date":
            return (EPOCH + timedelta(days=value)).strftime("%Y%m%d").rjust(8, "0").encode()
        seconds, fraction = divmod(value, 10**9 // UNIT_NS_BY_TIMESTAMP[type_])
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    except OverflowError as error:
        raise InvalidByReference(f"{value} is beyond the calendar") from error
    digits = (
        str(fraction).rjust(FRACTION_DIGITS_BY_TIMESTAMP[type_], "0")
        if FRACTION_DIGITS_BY_TIMESTAMP[type_]
        else ""
    )
    return (moment.strftime("%Y%m%d%H%M%S") + digits).encode()


def _encode_default(declaration: Declaration, value: Any) -> bytes:
    """Encode a value of a type that has one encoding only."""
    type_ = declaration["type"]
    if type_ in UNIT_NS_BY_TIMESTAMP:
        return encode_big_endian(value, 8)
    if type_ == "date":
        return encode_sign_flipped(value, 4)
    if type_ in {"float32", "float64"}:
        return _encode_float(type_, value)
    if type_ == "decimal":
        return encode_sign_flipped(value, _compute_decimal_width(declaration))
    return encode_for_digest(declaration, value)


def _encode_float(type_: str, value: float) -> bytes:
    """Encode a float so that its bytes sort as the numbers do."""
    ieee_bytes = struct.pack(">f" if type_ == "float32" else ">d", value)
    if ieee_bytes[0] & 0x80:
        return bytes(byte ^ 0xFF for byte in ieee_bytes)
    return bytes([ieee_bytes[0] | 0x80]) + ieee_bytes[1:]


def _compute_decimal_width(declaration: Declaration) -> int:
    """Return the bytes that a decimal of a declared precision needs."""
    return 4 if declaration["precision"] <= 9 else 8 if declaration["precision"] <= 18 else 16


def encode_for_digest(declaration: Declaration, value: Any) -> bytes:
    """Return the bytes of a normal value that `digest` hashes where it has one field."""
    type_ = declaration["type"]
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value
    if type_ in {"float32", "float64"}:
        return struct.pack(">f" if type_ == "float32" else ">d", value)
    width = {
        "bool": 1,
        "date": 4,
        **dict.fromkeys(UNIT_NS_BY_TIMESTAMP, 8),
        **WIDTH_BY_INTEGER,
    }.get(type_)
    width = width or _compute_decimal_width(declaration)
    return encode_big_endian(
        int(value), width, signed=type_.startswith("i") or type_ in {"date", "decimal"}
    )


def encode_big_endian(number: int, width: int, signed: bool = False) -> bytes:
    """Encode an integer in a given number of bytes, if it fits."""
    try:
        return number.to_bytes(width, signed=signed)
    except (OverflowError, ValueError) as error:
        raise InvalidByReference(f"{number} in {width} bytes") from error


def encode_sign_flipped(number: int, width: int) -> bytes:
    """Encode a signed integer with its sign bit flipped.

    >>> encode_sign_flipped(-1, 2).hex(), encode_sign_flipped(1, 2).hex()
    ('7fff', '8001')
    """
    signed = encode_big_endian(number, width, signed=True)
    return bytes([signed[0] ^ 0x80]) + signed[1:]
