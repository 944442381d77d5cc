"""A second, slow encoder of row keys, written from the page of bytes alone.

It shares nothing with `rowkey.keys` but the syntax tree of the notation: no codec, no numpy, a
murmur3 of its own. Where the encoder and this book give different bytes, one of them is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from book_hashes import DIGEST_BYTES, digested, hashed, number_bytes
from book_values import (
    DAY_NS,
    INTEGERS,
    LONG_MAX,
    MOST_BYTES,
    TIMES,
    TYPES,
    Refused,
    Words,
    big_endian,
    check,
    encoded,
    normal,
    own_bytes,
)
from rowkey.errors import InvalidArgument as Unreadable
from rowkey.schema import Constant, Duration, FieldRef, FunctionCall, Term, parse_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Codes: TypeAlias = dict[str, dict[Any, int]]
"""The ids given out so far, by field and value."""


__all__ = ["KINDS", "Codes", "Refused", "encode"]


def encode(
    notation: str,
    fields: Mapping[str, Words | str],
    row: Mapping[str, Any],
    salt: int | None = None,
    codes: Codes | None = None,
) -> bytes:
    """The row key of a row.

    Args:
        notation: the key in brackets.
        fields: the declared fields; a bare word is its type.
        row: values by field; a missing one is null.
        salt: the number that every salt of the key drew.
        codes: ids given out before; new ones are added to it.

    Raises:
        Refused: the key cannot be declared so, or the row does not fit it.

    >>> encode("[host][desc(ts)]", {"host": "text", "ts": "timestamp_ms"}, {"host": "a", "ts": 1})
    b'a\\x00\\x7f\\xff\\xff\\xff\\xff\\xff\\xff\\xfe'
    """
    try:
        terms = parse_key(notation)
    except Unreadable as unreadable:
        raise Refused(str(unreadable)) from unreadable
    declared = {n: {"type": w} if isinstance(w, str) else dict(w) for n, w in fields.items()}
    return _Page(declared, row, salt, {} if codes is None else codes).key(terms)


@dataclass
class _Page:
    """One row on its way to its bytes."""

    fields: dict[str, Words]
    row: Mapping[str, Any]
    salt: int | None
    codes: Codes
    rest: bytes = field(default=b"")

    def key(self, terms: tuple[Term, ...]) -> bytes:
        """The parts from the last to the first, for `over=rest` wants what follows."""
        for term in terms[:-1]:
            check(not self.is_open(term), f"[{term}] has no end and is not last")
        present = False
        for term in reversed(terms):
            part = self.part(term)
            present = present or not self.is_null(term)
            self.rest = part + self.rest if present else b""
        check(1 <= len(self.rest) <= MOST_BYTES, f"a row key of {len(self.rest)} bytes")
        return self.rest

    def part(self, term: Term) -> bytes:
        """A term as a key part of its own: its marker, where it has one, and its bytes."""
        if self.is_null(term):
            return b"\0"
        return self.is_nullable(term) * b"\1" + self.body(term)

    def is_nullable(self, term: Term) -> bool:
        """Whether a part carries a marker: a field, or what is made of one field alone."""
        if isinstance(term, FieldRef):
            return bool(self.words(term).get("nullable"))
        if isinstance(term, Constant) or term.name in {"bucket", "salt"}:
            return False
        return len(term.terms) == 1 and self.is_nullable(term.terms[0])

    def is_null(self, term: Term) -> bool:
        if isinstance(term, FieldRef):
            null = self.row.get(term.name) is None
            check(self.is_nullable(term) or not null, f"{term.name} is missing")
            return null
        return self.is_nullable(term) and self.is_null(_inner(term))

    def is_open(self, term: Term) -> bool:
        """Whether a part has the encoding `tail`, which stands last only."""
        if isinstance(term, FieldRef):
            return term.encoding == "tail"
        wrapped = isinstance(term, FunctionCall) and term.name in {"desc", "reverse"}
        return wrapped and self.is_open(_inner(term))

    def words(self, term: FieldRef) -> Words:
        check(term.name in self.fields, f"no field {term.name}")
        return self.fields[term.name]

    def body(self, term: Term, ended: bool = False) -> bytes:
        """The bytes of a term without its marker; `ended` gives a tail its end back."""
        if isinstance(term, Constant):
            return term.value
        if isinstance(term, FieldRef):
            return encoded(self.words(term), term, self.value(term), ended)
        check(term.name in _KINDS, f"no transform {term.name}")
        made: bytes = _KINDS[term.name](self, term, ended)
        return made

    def value(self, term: Term) -> Any:
        """The normal value of a field, or the start that time_bucket and time_slice make of it."""
        if isinstance(term, FieldRef):
            return normal(self.words(term), self.row[term.name])
        assert isinstance(term, FunctionCall)
        (duration,) = _scalars(term, 1)
        unit = TIMES.get(self.words(self.source(term))["type"], DAY_NS)
        check(isinstance(duration, Duration), f"{duration} has no unit")
        check(duration.nanoseconds > 0 and duration.nanoseconds % unit == 0, f"{duration}")
        value: int = self.value(_inner(term))
        return value - value % (duration.nanoseconds // unit)

    def source(self, term: Term) -> FieldRef:
        """The field whose value a term is, floored or not."""
        while isinstance(term, FunctionCall) and term.name in {"time_bucket", "time_slice"}:
            term = _inner(term)
        check(isinstance(term, FieldRef), f"{term} is no field")
        assert isinstance(term, FieldRef)
        return term

    def is_value(self, term: Term) -> bool:
        floored = isinstance(term, FunctionCall) and term.name in {"time_bucket", "time_slice"}
        return floored or isinstance(term, FieldRef)

    def is_long_time(self, term: Term) -> bool:
        """Whether a term is a timestamp, floored or not, in eight bytes."""
        if not self.is_value(term):
            return False
        source = self.source(term)
        return self.words(source)["type"] in TIMES and not source.encoding

    def own(self, term: Term) -> bytes:
        """The bytes of a value itself, before any encoding of keys."""
        if self.is_value(term):
            return own_bytes(self.words(self.source(term)), self.value(term))
        return self.body(term)

    def desc(self, call: FunctionCall, ended: bool) -> bytes:
        _options(call)
        _scalars(call, 0)
        inner = _inner(call)
        if self.is_long_time(inner):
            return (LONG_MAX - int.from_bytes(self.body(inner))).to_bytes(8)
        return bytes(255 - byte for byte in self.body(inner, ended=True))

    def bucket(self, call: FunctionCall, ended: bool) -> bytes:
        options = _options(call, "hash", "as", "width", "over")
        kind = options.get("hash", "murmur3")
        n, *spread = _scalars(call, 1, 2)
        if "over" in options:
            check(options["over"] == "rest" and not call.terms and not spread, f"{call}")
            return number_bytes(hashed(kind, self.rest, n), n, options)
        check(bool(call.terms), f"{call} has no argument")
        if not spread:
            return number_bytes(hashed(kind, b"".join(map(self.part, call.terms)), n), n, options)
        return number_bytes(self.spread(call, kind, n, spread[0]), n, options)

    def spread(self, call: FunctionCall, kind: str, n: int, m: int) -> int:
        """The bucket of a bounded spread: heavy values of the first field go to m buckets."""
        first, *others = call.terms
        check(isinstance(first, FieldRef) and bool(others) and 1 <= m <= n, f"{call}")
        assert isinstance(first, FieldRef)
        words = self.words(first)
        found = hashed(kind, self.part(first), n)
        step = hashed(kind, b"".join(map(self.part, others)), m)
        heavy = [normal(words, value) for value in words.get("heavy", ())]
        is_heavy = not self.is_null(first) and self.value(first) in heavy
        return (found + step) % n if is_heavy else found

    def salted(self, call: FunctionCall, ended: bool) -> bytes:
        (n,) = _scalars(call, 1)
        check(not call.terms and self.salt is not None, f"{call} without a number")
        assert self.salt is not None
        check(0 <= self.salt < n, f"salt {self.salt}")
        return number_bytes(self.salt, n, _options(call, "as", "width"))

    def mod(self, call: FunctionCall, ended: bool) -> bytes:
        (n,) = _scalars(call, 1)
        inner = _inner(call)
        type_ = self.words(self.source(inner))["type"]
        check(type_ in {*INTEGERS, *TIMES, "date"}, f"mod of {type_}")
        return number_bytes(self.value(inner) % n, n, _options(call, "as", "width"))

    def digest(self, call: FunctionCall, ended: bool) -> bytes:
        options = _options(call, "hash", "as")
        (n,) = _scalars(call, 1)
        kind = options.get("hash", "md5")
        check(kind in DIGEST_BYTES and 1 <= n <= DIGEST_BYTES[kind], f"{call}")
        check(options.get("as", "hex") == "hex" and bool(call.terms), f"{call}")
        if len(call.terms) == 1:
            told = self.own(call.terms[0])
        else:
            told = b"".join(self.part(_by_default(term)) for term in call.terms)
        digest = digested(kind, told)[:n]
        return digest.hex().encode() if "as" in options else digest

    def reverse(self, call: FunctionCall, ended: bool) -> bytes:
        by = _options(call, "by").get("by")
        _scalars(call, 0)
        inner = _inner(call)
        check(by in {None, "label"}, f"{call}")
        if not isinstance(inner, FieldRef):
            check(by is None, f"{call}")
            return self.body(inner)[::-1]
        words, value = self.words(inner), self.value(inner)
        if by == "label":
            check(words["type"] == "text", f"{call}")
            return encoded(words, inner, ".".join(reversed(value.split("."))))
        if (words["type"], inner.encoding) == ("choice", "text"):
            return encoded({"type": "text"}, FieldRef(inner.name), value[::-1])
        if words["type"] in {"text", "bytes"} and inner.encoding != "fixed":
            return encoded(words, inner, value[::-1])
        return encoded(words, inner, value)[::-1]

    def time_bucket(self, call: FunctionCall, ended: bool) -> bytes:
        _options(call)
        source = self.source(call)
        words = self.words(source)
        check(words["type"] in {*TIMES, "date"}, f"{call} is over no time")
        return encoded(words, source, self.value(call), ended)

    def truncate(self, call: FunctionCall, ended: bool) -> bytes:
        _options(call)
        (n,) = _scalars(call, 1)
        return self.own(_inner(call))[:n].ljust(n, b"\0")

    def pad(self, call: FunctionCall, ended: bool) -> bytes:
        _options(call)
        (n,) = _scalars(call, 1)
        value = self.value(self.source(_inner(call)))
        check(isinstance(value, str) and value.isascii(), f"{value!r} is no ASCII text")
        check(len(value) <= n and not value.startswith("0"), f"{value!r} in {call}")
        padded: str = value.rjust(n, "0")
        return padded.encode()

    def code(self, call: FunctionCall, ended: bool) -> bytes:
        width = _options(call, "width").get("width", 4)
        _scalars(call, 0)
        source = self.source(_inner(call))
        ids = self.codes.setdefault(source.name, {})
        number = ids.setdefault(self.value(source), len(ids) + 1)
        return big_endian(number, width)


_KINDS: dict[str, Callable[[_Page, FunctionCall, bool], bytes]] = {
    "desc": _Page.desc,
    "bucket": _Page.bucket,
    "salt": _Page.salted,
    "mod": _Page.mod,
    "digest": _Page.digest,
    "reverse": _Page.reverse,
    "time_bucket": _Page.time_bucket,
    "time_slice": _Page.time_bucket,
    "truncate": _Page.truncate,
    "pad": _Page.pad,
    "code": _Page.code,
}


KINDS = (*TYPES, *_KINDS)
"""Every type and transform that the page of bytes has."""


def _inner(call: Term) -> Term:
    check(isinstance(call, FunctionCall) and len(call.terms) == 1, f"{call} takes one argument")
    assert isinstance(call, FunctionCall)
    return call.terms[0]


def _scalars(call: FunctionCall, *counts: int) -> tuple[Any, ...]:
    check(len(call.scalars) in counts, f"{call} has {len(call.scalars)} numbers")
    timed = call.name in {"time_bucket", "time_slice"}
    for scalar in call.scalars:
        check(timed is isinstance(scalar, Duration), f"{scalar} in {call}")
        check(timed or scalar != 0, f"0 in {call}")
    return call.scalars


def _options(call: FunctionCall, *known: str) -> dict[str, Any]:
    check(set(call.options) <= set(known), f"{call} has an unknown option")
    return dict(call.options)


def _by_default(term: Term) -> Term:
    return FieldRef(term.name) if isinstance(term, FieldRef) else term
