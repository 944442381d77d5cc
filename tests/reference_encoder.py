"""A second, slow encoder of row keys, written from the documentation of the byte format alone.

It shares only the syntax tree of the notation with `rowkey.keys`: no codec, no numpy, a murmur3 of
its own. Where the two encoders give different bytes, one of them is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from reference_hashes import DIGEST_BYTES, compute_digest, compute_hash_bucket, encode_number
from reference_values import (
    DAY_NS,
    LONG_MAX,
    MAX_KEY_BYTES,
    TYPES,
    UNIT_NS_BY_TIMESTAMP,
    WIDTH_BY_INTEGER,
    Declaration,
    InvalidByReference,
    encode_big_endian,
    encode_for_digest,
    encode_value,
    normalize_value,
    require,
)
from rowkey.errors import InvalidArgument as Unreadable
from rowkey.schema import Constant, Duration, FieldRef, FunctionCall, Term, parse_key

AssignedCodes: TypeAlias = dict[str, dict[Any, int]]
"""The codes given to the values of each field so far, by field and value."""


__all__ = ["PLUGIN_NAMES", "AssignedCodes", "InvalidByReference", "encode_row"]


def encode_row(
    notation: str,
    fields: Mapping[str, Declaration | str],
    row: Mapping[str, Any],
    salt: int | None = None,
    assigned_codes: AssignedCodes | None = None,
) -> bytes:
    """Encode the row key of a row as the documentation of the byte format says.

    Args:
        notation: the key in brackets.
        fields: the declaration of each field, or only its type.
        row: values by field; a missing one is null.
        salt: the number drawn for every salt of the key.
        assigned_codes: the codes given before; new ones are added to it.

    Raises:
        InvalidByReference: the key cannot be declared so, or the row does not fit it.

    >>> encode_row("[desc(ts)]", {"ts": "timestamp_ms"}, {"ts": 1})
    b'\\x7f\\xff\\xff\\xff\\xff\\xff\\xff\\xfe'
    """
    try:
        terms = parse_key(notation)
    except Unreadable as unreadable:
        raise InvalidByReference(str(unreadable)) from unreadable
    declarations = {n: {"type": w} if isinstance(w, str) else dict(w) for n, w in fields.items()}
    return _RowEncoder(
        declarations, row, salt, {} if assigned_codes is None else assigned_codes
    ).encode_key(terms)


@dataclass
class _RowEncoder:
    """Encodes the terms of a key for one row, from the last to the first."""

    fields: dict[str, Declaration]
    row: Mapping[str, Any]
    salt: int | None
    assigned_codes: AssignedCodes
    following_bytes: bytes = field(default=b"")

    def encode_key(self, terms: tuple[Term, ...]) -> bytes:
        """Encode the last part first, because `over=rest` hashes the parts that follow it."""
        for term in terms[:-1]:
            require(not self.is_open(term), f"[{term}] has no end and is not last")
        present = False
        for term in reversed(terms):
            part = self.encode_part(term)
            present = present or not self.is_null(term)
            self.following_bytes = part + self.following_bytes if present else b""
        require(
            1 <= len(self.following_bytes) <= MAX_KEY_BYTES,
            f"a row key of {len(self.following_bytes)} bytes",
        )
        return self.following_bytes

    def encode_part(self, term: Term) -> bytes:
        """Encode a term with the null marker that a nullable part begins with."""
        if self.is_null(term):
            return b"\0"
        return self.is_nullable(term) * b"\1" + self.encode_body(term)

    def is_nullable(self, term: Term) -> bool:
        """Return whether a part begins with a null marker, as a nullable field does."""
        if isinstance(term, FieldRef):
            return bool(self.find_declaration(term).get("nullable"))
        if isinstance(term, Constant) or term.name in {"bucket", "salt"}:
            return False
        return len(term.terms) == 1 and self.is_nullable(term.terms[0])

    def is_null(self, term: Term) -> bool:
        """Return whether the row has no value for the only field of a part."""
        if isinstance(term, FieldRef):
            null = self.row.get(term.name) is None
            require(self.is_nullable(term) or not null, f"{term.name} is missing")
            return null
        return self.is_nullable(term) and self.is_null(_find_only_term(term))

    def is_open(self, term: Term) -> bool:
        """Return whether a part has the encoding `tail`, which is allowed only as the last part."""
        if isinstance(term, FieldRef):
            return term.encoding == "tail"
        wrapped = isinstance(term, FunctionCall) and term.name in {"desc", "reverse"}
        return wrapped and self.is_open(_find_only_term(term))

    def find_declaration(self, term: FieldRef) -> Declaration:
        """Return the declaration of a field."""
        require(term.name in self.fields, f"no field {term.name}")
        return self.fields[term.name]

    def encode_body(self, term: Term, with_end: bool = False) -> bytes:
        """Encode a term without its null marker; `with_end` adds the end that `tail` leaves out."""
        if isinstance(term, Constant):
            return term.value
        if isinstance(term, FieldRef):
            return encode_value(
                self.find_declaration(term), term, self.compute_value(term), with_end
            )
        require(term.name in _TRANSFORM_ENCODERS, f"no transform {term.name}")
        data: bytes = _TRANSFORM_ENCODERS[term.name](self, term, with_end)
        return data

    def compute_value(self, term: Term) -> Any:
        """Return the normal value of a field, floored by time_bucket and time_slice around it."""
        if isinstance(term, FieldRef):
            return normalize_value(self.find_declaration(term), self.row[term.name])
        assert isinstance(term, FunctionCall)
        (duration,) = _validate_scalars(term, 1)
        unit = UNIT_NS_BY_TIMESTAMP.get(
            self.find_declaration(self.find_source_field(term))["type"], DAY_NS
        )
        require(isinstance(duration, Duration), f"{duration} has no unit")
        require(duration.nanoseconds > 0 and duration.nanoseconds % unit == 0, f"{duration}")
        value: int = self.compute_value(_find_only_term(term))
        return value - value % (duration.nanoseconds // unit)

    def find_source_field(self, term: Term) -> FieldRef:
        """Return the field inside time_bucket and time_slice."""
        while isinstance(term, FunctionCall) and term.name in {"time_bucket", "time_slice"}:
            term = _find_only_term(term)
        require(isinstance(term, FieldRef), f"{term} is no field")
        assert isinstance(term, FieldRef)
        return term

    def is_value(self, term: Term) -> bool:
        """Return whether a term is a field, floored to a time bucket or not."""
        is_floored = isinstance(term, FunctionCall) and term.name in {"time_bucket", "time_slice"}
        return is_floored or isinstance(term, FieldRef)

    def is_8_byte_timestamp(self, term: Term) -> bool:
        """Return whether a term is a timestamp in eight bytes, floored or not."""
        if not self.is_value(term):
            return False
        source = self.find_source_field(term)
        return self.find_declaration(source)["type"] in UNIT_NS_BY_TIMESTAMP and not source.encoding

    def encode_for_digest(self, term: Term) -> bytes:
        """Return the bytes of a term that `digest` and `truncate` work on."""
        if self.is_value(term):
            return encode_for_digest(
                self.find_declaration(self.find_source_field(term)), self.compute_value(term)
            )
        return self.encode_body(term)

    def encode_desc(self, call: FunctionCall, with_end: bool) -> bytes:
        """Encode `desc`: the bytes of its argument inverted, or the time before the last one."""
        _validate_options(call)
        _validate_scalars(call, 0)
        inner = _find_only_term(call)
        if self.is_8_byte_timestamp(inner):
            return (LONG_MAX - int.from_bytes(self.encode_body(inner))).to_bytes(8)
        return bytes(255 - byte for byte in self.encode_body(inner, with_end=True))

    def encode_bucket(self, call: FunctionCall, with_end: bool) -> bytes:
        """Encode `bucket`: the number of a hash bucket."""
        options = _validate_options(call, "hash", "as", "width", "over")
        hash_name = options.get("hash", "murmur3")
        n, *spread_arguments = _validate_scalars(call, 1, 2)
        if "over" in options:
            require(
                options["over"] == "rest" and not call.terms and not spread_arguments, f"{call}"
            )
            return encode_number(
                compute_hash_bucket(hash_name, self.following_bytes, n), n, options
            )
        require(bool(call.terms), f"{call} has no argument")
        if not spread_arguments:
            return encode_number(
                compute_hash_bucket(hash_name, b"".join(map(self.encode_part, call.terms)), n),
                n,
                options,
            )
        return encode_number(
            self.compute_spread_bucket(call, hash_name, n, spread_arguments[0]), n, options
        )

    def compute_spread_bucket(self, call: FunctionCall, hash_name: str, n: int, m: int) -> int:
        """Return the bucket of a bounded spread, which puts each heavy value into m buckets."""
        first, *others = call.terms
        require(isinstance(first, FieldRef) and bool(others) and 1 <= m <= n, f"{call}")
        assert isinstance(first, FieldRef)
        declaration = self.find_declaration(first)
        bucket = compute_hash_bucket(hash_name, self.encode_part(first), n)
        step = compute_hash_bucket(hash_name, b"".join(map(self.encode_part, others)), m)
        heavy = [normalize_value(declaration, value) for value in declaration.get("heavy", ())]
        is_heavy = not self.is_null(first) and self.compute_value(first) in heavy
        return (bucket + step) % n if is_heavy else bucket

    def encode_salt(self, call: FunctionCall, with_end: bool) -> bytes:
        """Encode `salt`: the number drawn for the row."""
        (n,) = _validate_scalars(call, 1)
        require(not call.terms and self.salt is not None, f"{call} without a number")
        assert self.salt is not None
        require(0 <= self.salt < n, f"salt {self.salt}")
        return encode_number(self.salt, n, _validate_options(call, "as", "width"))

    def encode_mod(self, call: FunctionCall, with_end: bool) -> bytes:
        """Encode `mod`: the remainder of a whole number."""
        (n,) = _validate_scalars(call, 1)
        inner = _find_only_term(call)
        type_ = self.find_declaration(self.find_source_field(inner))["type"]
        require(type_ in {*WIDTH_BY_INTEGER, *UNIT_NS_BY_TIMESTAMP, "date"}, f"mod of {type_}")
        return encode_number(
            self.compute_value(inner) % n, n, _validate_options(call, "as", "width")
        )

    def encode_digest(self, call: FunctionCall, with_end: bool) -> bytes:
        """Encode `digest`: the first n bytes of a hash of its arguments."""
        options = _validate_options(call, "hash", "as")
        (n,) = _validate_scalars(call, 1)
        hash_name = options.get("hash", "md5")
        require(hash_name in DIGEST_BYTES and 1 <= n <= DIGEST_BYTES[hash_name], f"{call}")
        require(options.get("as", "hex") == "hex" and bool(call.terms), f"{call}")
        if len(call.terms) == 1:
            data = self.encode_for_digest(call.terms[0])
        else:
            data = b"".join(self.encode_part(_drop_encoding(term)) for term in call.terms)
        digest = compute_digest(hash_name, data)[:n]
        return digest.hex().encode() if "as" in options else digest

    def encode_reverse(self, call: FunctionCall, with_end: bool) -> bytes:
        """Encode `reverse`: a value with its characters, labels or bytes in reverse order."""
        by = _validate_options(call, "by").get("by")
        _validate_scalars(call, 0)
        inner = _find_only_term(call)
        require(by in {None, "label"}, f"{call}")
        if not isinstance(inner, FieldRef):
            require(by is None, f"{call}")
            return self.encode_body(inner)[::-1]
        declaration, value = self.find_declaration(inner), self.compute_value(inner)
        if by == "label":
            require(declaration["type"] == "text", f"{call}")
            return encode_value(declaration, inner, ".".join(reversed(value.split("."))))
        if (declaration["type"], inner.encoding) == ("choice", "text"):
            return encode_value({"type": "text"}, FieldRef(inner.name), value[::-1])
        if declaration["type"] in {"text", "bytes"} and inner.encoding != "fixed":
            return encode_value(declaration, inner, value[::-1])
        return encode_value(declaration, inner, value)[::-1]

    def encode_time_bucket(self, call: FunctionCall, with_end: bool) -> bytes:
        """Encode `time_bucket` or `time_slice`: the start of the interval of a time."""
        _validate_options(call)
        source = self.find_source_field(call)
        declaration = self.find_declaration(source)
        require(declaration["type"] in {*UNIT_NS_BY_TIMESTAMP, "date"}, f"{call} is over no time")
        return encode_value(declaration, source, self.compute_value(call), with_end)

    def encode_truncate(self, call: FunctionCall, with_end: bool) -> bytes:
        """Encode `truncate`: the first n bytes of its argument, padded with zeros."""
        _validate_options(call)
        (n,) = _validate_scalars(call, 1)
        return self.encode_for_digest(_find_only_term(call))[:n].ljust(n, b"\0")

    def encode_pad(self, call: FunctionCall, with_end: bool) -> bytes:
        """Encode `pad`: a text padded with the digit 0 on the left."""
        _validate_options(call)
        (n,) = _validate_scalars(call, 1)
        value = self.compute_value(self.find_source_field(_find_only_term(call)))
        require(isinstance(value, str) and value.isascii(), f"{value!r} is no ASCII text")
        require(len(value) <= n and not value.startswith("0"), f"{value!r} in {call}")
        padded: str = value.rjust(n, "0")
        return padded.encode()

    def encode_code(self, call: FunctionCall, with_end: bool) -> bytes:
        """Encode `code`: the number given to a value in a dictionary."""
        width = _validate_options(call, "width").get("width", 4)
        _validate_scalars(call, 0)
        source = self.find_source_field(_find_only_term(call))
        ids = self.assigned_codes.setdefault(source.name, {})
        number = ids.setdefault(self.compute_value(source), len(ids) + 1)
        return encode_big_endian(number, width)


_TRANSFORM_ENCODERS: dict[str, Callable[[_RowEncoder, FunctionCall, bool], bytes]] = {
    "desc": _RowEncoder.encode_desc,
    "bucket": _RowEncoder.encode_bucket,
    "salt": _RowEncoder.encode_salt,
    "mod": _RowEncoder.encode_mod,
    "digest": _RowEncoder.encode_digest,
    "reverse": _RowEncoder.encode_reverse,
    "time_bucket": _RowEncoder.encode_time_bucket,
    "time_slice": _RowEncoder.encode_time_bucket,
    "truncate": _RowEncoder.encode_truncate,
    "pad": _RowEncoder.encode_pad,
    "code": _RowEncoder.encode_code,
}


PLUGIN_NAMES = (*TYPES, *_TRANSFORM_ENCODERS)
"""Every field type and transform of the documented byte format."""


def _find_only_term(call: Term) -> Term:
    """Return the only argument of a call."""
    require(isinstance(call, FunctionCall) and len(call.terms) == 1, f"{call} takes one argument")
    assert isinstance(call, FunctionCall)
    return call.terms[0]


def _validate_scalars(call: FunctionCall, *counts: int) -> tuple[Any, ...]:
    """Return the numbers or durations of a call, if their count and type are right."""
    require(len(call.scalars) in counts, f"{call} has {len(call.scalars)} numbers")
    takes_duration = call.name in {"time_bucket", "time_slice"}
    for scalar in call.scalars:
        require(takes_duration is isinstance(scalar, Duration), f"{scalar} in {call}")
        require(takes_duration or scalar != 0, f"0 in {call}")
    return call.scalars


def _validate_options(call: FunctionCall, *allowed: str) -> dict[str, Any]:
    """Return the options of a call, if the transform has all of them."""
    require(set(call.options) <= set(allowed), f"{call} has an unknown option")
    return dict(call.options)


def _drop_encoding(term: Term) -> Term:
    """Return a field in its default encoding, or any other term as it is."""
    return FieldRef(term.name) if isinstance(term, FieldRef) else term
