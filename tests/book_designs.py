"""Random designs and rows as the page of bytes allows them, for `book` to judge the encoder by.

The kinds are listed here on purpose: a generator that asked the encoder what there is could not
notice what is missing. Left out is only what the page does not define: `desc` of `desc`, encodings
inside `digest`, `reverse` of a choice's text, `desc` and encodings inside `truncate` or a `digest`
of one field, and a second `over=rest`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import hypothesis.strategies as st

import book_row_values as values_of
from book_values import Refused, encoded, normal
from rowkey.schema import Constant, Duration, FieldRef, FunctionCall, Scalar, Term, format_key

TIMES = ("timestamp_s", "timestamp_ms", "timestamp_us", "timestamp_ns")
INTEGERS = ("u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64")
FIXED = ("float32", "float64", "bool", "uuid", "ipv4", "ipv6")
WORDED = ("text", "bytes", "decimal", "choice", "digits", "hex")
TYPES = (*WORDED, *TIMES, *INTEGERS, *FIXED, "date", "text", "text", "timestamp_ms")
NAMES = ("host", "ts", "id_2", "log-event", "straße")
HASHES = ("murmur3", "murmur3", "crc32", "md5", "be", "java31")
COUNTS = (1, 2, 7, 10, 16, 26, 27, 100, 256, 257, 1_000, 65_536)
TICKS = {"timestamp_s": 10**9, "timestamp_ms": 10**6, "timestamp_us": 10**3, "timestamp_ns": 1}
DAY_NS = 86_400 * 10**9
LENGTHS = (1, "ns"), (90, "ns"), (1, "us"), (7, "us"), (1, "ms"), (250, "ms"), (1, "s"), (45, "s")
LONG_LENGTHS = (1, "m"), (17, "m"), (1, "h"), (5, "h"), (1, "d"), (7, "d"), (365, "d")
MOST_DIGEST = {"md5": 16, "sha1": 20, "sha256": 32, "murmur3": 4, "crc32": 4}

Fields = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Case:
    """A design, and rows for it of which few are bad."""

    notation: str
    fields: Fields
    rows: list[dict[str, Any]]
    salts: list[int]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A design of one to five parts, and one to six rows."""
    drawn = _Drawn(draw, {name: draw(field()) for name in NAMES[: draw(st.integers(1, 5))]})
    terms = drawn.key()
    rows = [draw(values_of.rows(drawn.fields)) for _ in range(draw(st.integers(1, 6)))]
    salts = [draw(st.integers(0, max(drawn.salts - 1, 0))) for _ in rows]
    return Case(format_key(terms), drawn.fields, rows, salts)


@st.composite
def field(draw: st.DrawFn) -> dict[str, Any]:
    """The words of one field."""
    words: dict[str, Any] = {"type": draw(st.sampled_from(TYPES))}
    match words["type"]:
        case "decimal":
            words["precision"] = draw(st.sampled_from([1, 4, 9, 10, 18, 19, 38]))
            words["scale"] = draw(st.sampled_from([0, 1, words["precision"] // 2]))
        case "digits" | "hex":
            words["width"] = draw(st.sampled_from([1, 2, 4, 8, 13]))
        case "choice":
            words["of"] = draw(st.sampled_from(_lists()))
        case "text":
            words |= draw(st.sampled_from([{}, {}, {"normalize": "nfc"}, {"max_bytes": 6}]))
        case "bytes":
            words |= draw(st.sampled_from([{}, {}, {"max_bytes": 4}]))
    if draw(st.integers(0, 3)) == 0:
        words["nullable"] = True
    return words


@cache
def _lists() -> list[list[str]]:
    long = [f"v{number}" for number in range(257)]
    return [["INFO", "WARN", "ERROR"], ["b", "a"], ["only"], ["", "é", "zz"], long[:256], long]


class _Drawn:
    """Terms over some fields, drawn one after the other."""

    def __init__(self, draw: st.DrawFn, fields: Fields) -> None:
        self.draw = draw
        self.fields = fields
        self.salts = 0
        self.has_rest = False

    def one_of(self, *choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def often(self, one_in: int) -> bool:
        """Once in so many times; not at an end of the range, which Hypothesis prefers."""
        return self.draw(st.integers(0, one_in)) == (one_in + 1) // 2

    def names(self, *types: str) -> list[str]:
        return [name for name, words in self.fields.items() if words["type"] in types]

    def key(self) -> tuple[Term, ...]:
        """One to five parts; open ones only where the page lets them stand."""
        count = self.draw(st.integers(1, 5))
        terms: list[Term] = []
        for index in range(count):
            is_last = index == count - 1
            if not is_last and not self.has_rest and self.often(8):
                self.has_rest = True
                call = FunctionCall("bucket", (), (self.count(),), {"over": "rest"} | self.hashed())
                terms.append(call if self.often(2) else FunctionCall("desc", (call,)))
            elif not self.salts and self.often(10):
                terms.append(self.salt())
            else:
                terms.append(self.part(is_last))
        return tuple(terms)

    def part(self, is_last: bool) -> Term:
        if self.often(12):
            return self.constant()
        if self.often(2):
            return self.reference(is_last)
        return self.call(is_last)

    def constant(self) -> Constant:
        return Constant(self.draw(st.binary(min_size=1, max_size=3)))

    def salt(self) -> FunctionCall:
        self.salts = self.count()
        return FunctionCall("salt", (), (self.salts,), self.written())

    def call(self, is_last: bool, depth: int = 0) -> FunctionCall:
        kinds = [self.desc, self.bucket, self.digest, self.reverse, self.truncate, self.code]
        if self.names(*TIMES, "date"):
            kinds += [self.time_bucket, self.time_bucket]
        if self.names(*TIMES, *INTEGERS, "date"):
            kinds.append(self.mod)
        if self.names("text"):
            kinds.append(self.pad)
        call: FunctionCall = self.one_of(*kinds)(is_last, depth)
        return call

    def reference(self, is_last: bool, *types: str) -> FieldRef:
        """A field in any encoding; those without an end rarely before the last part."""
        name = self.one_of(*(self.names(*types) if types else self.fields))
        word = self.one_of(*self.encodings(self.fields[name], is_last))
        arguments = (self.one_of(1, 3, 8, 20),) if word == "fixed" else ()
        return FieldRef(name, word, arguments)

    def encodings(self, words: dict[str, Any], is_last: bool) -> list[str]:
        type_ = words["type"]
        if type_ in {"text", "bytes"}:
            return [
                "",
                "",
                "fixed",
                *(["tail", "tail"] if is_last else []),
                *(["raw"] * self.often(4)),
            ]
        if type_ in INTEGERS:
            return ["", "", *INTEGERS]
        if type_ in TIMES:
            return ["", "", "u32", "calendar"]
        if type_ == "hex":
            return ["", "bytes"] if words["width"] % 2 == 0 else [""]
        return {"date": ["", "calendar"], "choice": ["", "u16", "text"]}.get(type_, [""])

    def inner(self, is_last: bool, depth: int) -> Term:
        """What a transform of any part may stand over."""
        if self.often(20):
            return self.constant()
        if not self.salts and self.often(30):
            return self.salt()
        if depth < 2 and self.often(3):
            return self.call(is_last, depth + 1)
        return self.reference(is_last)

    def desc(self, is_last: bool, depth: int) -> FunctionCall:
        inner = self.inner(is_last, depth)
        while isinstance(inner, FunctionCall) and inner.name == "desc":
            inner = inner.terms[0]
        return FunctionCall("desc", (inner,))

    def bucket(self, is_last: bool, depth: int) -> FunctionCall:
        n = self.count()
        options = self.hashed() | self.written(n)
        if self.often(2):
            others = tuple(self.inner(is_last, depth) for _ in range(self.one_of(1, 2)))
            return FunctionCall("bucket", (self.spread(), *others), (n, self.one_of(1, n)), options)
        terms = tuple(self.inner(is_last, depth) for _ in range(self.one_of(1, 1, 2, 3)))
        return FunctionCall("bucket", terms, (n,), options)

    def spread(self) -> FieldRef:
        """A field with heavy values, in an encoding that has bytes for them."""
        first = self.reference(False)
        words = self.fields[first.name]
        if "heavy" not in words:
            words["heavy"] = self.draw(values_of.heavy(words))
        try:
            for value in words["heavy"]:
                encoded(words, first, normal(words, value))
        except Refused:
            return FieldRef(first.name)
        return first

    def count(self) -> int:
        return int(self.one_of(*COUNTS))

    def hashed(self) -> dict[str, Any]:
        return {"hash": self.one_of(*HASHES)} if self.often(2) else {}

    def written(self, n: int = 0) -> dict[str, Any]:
        options: dict[str, Any] = self.one_of(
            {}, {}, {"as": "decimal"}, {"as": "hex"}, {"as": "letters"}, {"width": 2}
        )
        return dict(options)

    def mod(self, is_last: bool, depth: int) -> FunctionCall:
        timed = self.names(*TIMES, "date")
        if timed and self.often(3):
            inner: Term = self.time_bucket(is_last, depth)
        else:
            inner = self.reference(is_last, *TIMES, *INTEGERS, "date")
        return FunctionCall("mod", (inner,), (self.count(),), self.written())

    def digest(self, is_last: bool, depth: int) -> FunctionCall:
        count = self.one_of(1, 1, 2, 3)
        terms = tuple(self.plain_inner(depth) for _ in range(count))
        if count == 1:
            terms = tuple(map(_owned, terms))
        options = {} if self.often(2) else {"hash": self.one_of(*MOST_DIGEST)}
        n = self.draw(st.integers(1, MOST_DIGEST[options.get("hash", "md5")]))
        return FunctionCall("digest", terms, (n,), options | self.one_of({}, {"as": "hex"}))

    def plain_inner(self, depth: int) -> Term:
        """A field in its default encoding, or a transform."""
        inner = self.inner(False, depth)
        return FieldRef(inner.name) if isinstance(inner, FieldRef) else inner

    def reverse(self, is_last: bool, depth: int) -> FunctionCall:
        if self.names("text") and self.often(3):
            return FunctionCall("reverse", (self.reference(is_last, "text"),), (), {"by": "label"})
        if depth < 2 and self.often(4):
            makers = [self.digest, self.bucket]
            makers += [self.time_bucket] if self.names(*TIMES, "date") else []
            return FunctionCall("reverse", (self.one_of(*makers)(is_last, depth + 1),))
        inner = self.reference(is_last)
        is_listed = self.fields[inner.name]["type"] == "choice"
        return FunctionCall("reverse", (FieldRef(inner.name) if is_listed else inner,))

    def time_bucket(self, is_last: bool, depth: int) -> FunctionCall:
        inner: Term = self.reference(is_last, *TIMES, "date")
        if depth < 2 and self.often(5):
            inner = self.time_bucket(is_last, depth + 1)
        source = inner
        while isinstance(source, FunctionCall):
            source = source.terms[0]
        assert isinstance(source, FieldRef)
        tick = TICKS.get(self.fields[source.name]["type"], DAY_NS)
        lengths = [Duration(count, unit) for count, unit in (*LENGTHS, *LONG_LENGTHS)]
        fitting = [length for length in lengths if length.nanoseconds % tick == 0]
        kind = self.one_of("time_bucket", "time_bucket", "time_slice")
        numbers: tuple[Scalar, ...] = (self.one_of(*fitting),)
        return FunctionCall(kind, (inner,), numbers)

    def truncate(self, is_last: bool, depth: int) -> FunctionCall:
        inner = _owned(self.inner(is_last, depth))
        return FunctionCall("truncate", (inner,), (self.one_of(1, 2, 4, 9),))

    def pad(self, is_last: bool, depth: int) -> FunctionCall:
        return FunctionCall(
            "pad", (FieldRef(self.one_of(*self.names("text"))),), (self.one_of(1, 6, 12),)
        )

    def code(self, is_last: bool, depth: int) -> FunctionCall:
        options = self.one_of({}, {"width": 1}, {"width": 3}, {"width": 8})
        return FunctionCall("code", (FieldRef(self.one_of(*self.fields)),), (), dict(options))


def _owned(term: Term) -> Term:
    """The term without what would have no effect where its own bytes are taken."""
    while isinstance(term, FunctionCall) and term.name == "desc":
        term = term.terms[0]
    if isinstance(term, FunctionCall) and term.name in {"time_bucket", "time_slice"}:
        return FunctionCall(term.name, (_owned(term.terms[0]),), term.scalars)
    return FieldRef(term.name) if isinstance(term, FieldRef) else term
