"""Random designs and rows that the documented byte format allows, to compare two encoders on.

Types and transforms are listed here on purpose: a generator that asked the encoder for its plugins
could not notice that one is missing. Left out is only what the documentation does not define:
`desc` of `desc`, encodings inside `digest`, `reverse` of a choice's text, `desc` and encodings
inside `truncate` or a `digest` of one field, and a second `over=rest`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import hypothesis.strategies as st

import random_row_values
from reference_values import InvalidByReference, encode_value, normalize_value
from rowkey.schema import Constant, Duration, FieldRef, FunctionCall, Scalar, Term, format_key

TIMES = ("timestamp_s", "timestamp_ms", "timestamp_us", "timestamp_ns")
INTEGERS = ("u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64")
TYPES_WITHOUT_OPTIONS = ("float32", "float64", "bool", "uuid", "ipv4", "ipv6")
TYPES_WITH_OPTIONS = ("text", "bytes", "decimal", "choice", "digits", "hex")
TYPES = (
    *TYPES_WITH_OPTIONS,
    *TIMES,
    *INTEGERS,
    *TYPES_WITHOUT_OPTIONS,
    "date",
    "text",
    "text",
    "timestamp_ms",
)
FIELD_NAMES = ("host", "ts", "id_2", "log-event", "straße")
HASHES = ("murmur3", "murmur3", "crc32", "md5", "be", "java31")
BUCKET_COUNTS = (1, 2, 7, 10, 16, 26, 27, 100, 256, 257, 1_000, 65_536)
UNIT_NS_BY_TIMESTAMP = {
    "timestamp_s": 10**9,
    "timestamp_ms": 10**6,
    "timestamp_us": 10**3,
    "timestamp_ns": 1,
}
DAY_NS = 86_400 * 10**9
DURATIONS = (1, "ns"), (90, "ns"), (1, "us"), (7, "us"), (1, "ms"), (250, "ms"), (1, "s"), (45, "s")
LONG_DURATIONS = (1, "m"), (17, "m"), (1, "h"), (5, "h"), (1, "d"), (7, "d"), (365, "d")
MAX_DIGEST_BYTES = {"md5": 16, "sha1": 20, "sha256": 32, "murmur3": 4, "crc32": 4}

FieldDeclarations = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Case:
    """A design with rows for it, a few of which it does not accept."""

    notation: str
    fields: FieldDeclarations
    rows: list[dict[str, Any]]
    salts: list[int]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw a design of one to five parts, and one to six rows."""
    generator = _KeyGenerator(
        draw, {name: draw(declarations()) for name in FIELD_NAMES[: draw(st.integers(1, 5))]}
    )
    terms = generator.draw_key()
    rows = [draw(random_row_values.rows(generator.fields)) for _ in range(draw(st.integers(1, 6)))]
    salts = [draw(st.integers(0, max(generator.salt_count - 1, 0))) for _ in rows]
    return Case(format_key(terms), generator.fields, rows, salts)


@st.composite
def declarations(draw: st.DrawFn) -> dict[str, Any]:
    """Draw the declaration of one field."""
    declaration: dict[str, Any] = {"type": draw(st.sampled_from(TYPES))}
    match declaration["type"]:
        case "decimal":
            declaration["precision"] = draw(st.sampled_from([1, 4, 9, 10, 18, 19, 38]))
            declaration["scale"] = draw(st.sampled_from([0, 1, declaration["precision"] // 2]))
        case "digits" | "hex":
            declaration["width"] = draw(st.sampled_from([1, 2, 4, 8, 13]))
        case "choice":
            declaration["of"] = draw(st.sampled_from(_list_choices()))
        case "text":
            declaration |= draw(st.sampled_from([{}, {}, {"normalize": "nfc"}, {"max_bytes": 6}]))
        case "bytes":
            declaration |= draw(st.sampled_from([{}, {}, {"max_bytes": 4}]))
    if draw(st.integers(0, 3)) == 0:
        declaration["nullable"] = True
    return declaration


@cache
def _list_choices() -> list[list[str]]:
    """Return lists of choices of several lengths, some of which need two bytes."""
    numbered = [f"v{number}" for number in range(257)]
    return [
        ["INFO", "WARN", "ERROR"],
        ["b", "a"],
        ["only"],
        ["", "é", "zz"],
        numbered[:256],
        numbered,
    ]


class _KeyGenerator:
    """Draws the terms of a key over some fields, one after the other."""

    def __init__(self, draw: st.DrawFn, fields: FieldDeclarations) -> None:
        self.draw = draw
        self.fields = fields
        self.salt_count = 0
        self.has_rest = False

    def draw_choice(self, *choices: Any) -> Any:
        """Draw one of some choices."""
        return self.draw(st.sampled_from(choices))

    def draw_chance(self, one_in: int) -> bool:
        """Return True once in so many draws, but not for a limit, which Hypothesis prefers."""
        return self.draw(st.integers(0, one_in)) == (one_in + 1) // 2

    def list_fields(self, *types: str) -> list[str]:
        """Return the names of the fields of some types."""
        return [name for name, words in self.fields.items() if words["type"] in types]

    def draw_key(self) -> tuple[Term, ...]:
        """Draw one to five parts, with variable-length parts only where they are allowed."""
        count = self.draw(st.integers(1, 5))
        terms: list[Term] = []
        for index in range(count):
            is_last = index == count - 1
            if not is_last and not self.has_rest and self.draw_chance(8):
                self.has_rest = True
                call = FunctionCall(
                    "bucket", (), (self.draw_count(),), {"over": "rest"} | self.draw_hash_option()
                )
                terms.append(call if self.draw_chance(2) else FunctionCall("desc", (call,)))
            elif not self.salt_count and self.draw_chance(10):
                terms.append(self.draw_salt())
            else:
                terms.append(self.draw_part(is_last))
        return tuple(terms)

    def draw_part(self, is_last: bool) -> Term:
        """Draw a constant, a field or a transform."""
        if self.draw_chance(12):
            return self.draw_constant()
        if self.draw_chance(2):
            return self.draw_field(is_last)
        return self.draw_call(is_last)

    def draw_constant(self) -> Constant:
        """Draw a constant of one to three bytes."""
        return Constant(self.draw(st.binary(min_size=1, max_size=3)))

    def draw_salt(self) -> FunctionCall:
        """Draw a salt and remember its count."""
        self.salt_count = self.draw_count()
        return FunctionCall("salt", (), (self.salt_count,), self.draw_number_format())

    def draw_call(self, is_last: bool, depth: int = 0) -> FunctionCall:
        """Draw a call of a transform that some of the fields fit into."""
        transforms = [
            self.draw_desc,
            self.draw_bucket,
            self.draw_digest,
            self.draw_reverse,
            self.draw_truncate,
            self.draw_code,
        ]
        if self.list_fields(*TIMES, "date"):
            transforms += [self.draw_time_bucket, self.draw_time_bucket]
        if self.list_fields(*TIMES, *INTEGERS, "date"):
            transforms.append(self.draw_mod)
        if self.list_fields("text"):
            transforms.append(self.draw_pad)
        call: FunctionCall = self.draw_choice(*transforms)(is_last, depth)
        return call

    def draw_field(self, is_last: bool, *types: str) -> FieldRef:
        """Draw a field in any encoding, rarely one without an end before the last part."""
        name = self.draw_choice(*(self.list_fields(*types) if types else self.fields))
        encoding = self.draw_choice(*self.list_encodings(self.fields[name], is_last))
        arguments = (self.draw_choice(1, 3, 8, 20),) if encoding == "fixed" else ()
        return FieldRef(name, encoding, arguments)

    def list_encodings(self, declaration: dict[str, Any], is_last: bool) -> list[str]:
        """Return the encodings to draw from for a declared field, the frequent ones repeated."""
        type_ = declaration["type"]
        if type_ in {"text", "bytes"}:
            return [
                "",
                "",
                "fixed",
                *(["tail", "tail"] if is_last else []),
                *(["raw"] * self.draw_chance(4)),
            ]
        if type_ in INTEGERS:
            return ["", "", *INTEGERS]
        if type_ in TIMES:
            return ["", "", "u32", "calendar"]
        if type_ == "hex":
            return ["", "bytes"] if declaration["width"] % 2 == 0 else [""]
        return {"date": ["", "calendar"], "choice": ["", "u16", "text"]}.get(type_, [""])

    def draw_argument(self, is_last: bool, depth: int) -> Term:
        """Draw an argument for a transform that accepts any part."""
        if self.draw_chance(20):
            return self.draw_constant()
        if not self.salt_count and self.draw_chance(30):
            return self.draw_salt()
        if depth < 2 and self.draw_chance(3):
            return self.draw_call(is_last, depth + 1)
        return self.draw_field(is_last)

    def draw_desc(self, is_last: bool, depth: int) -> FunctionCall:
        """Draw a `desc` of anything but another `desc`."""
        inner = self.draw_argument(is_last, depth)
        while isinstance(inner, FunctionCall) and inner.name == "desc":
            inner = inner.terms[0]
        return FunctionCall("desc", (inner,))

    def draw_bucket(self, is_last: bool, depth: int) -> FunctionCall:
        """Draw a `bucket` of one to three arguments, some with a bounded spread."""
        n = self.draw_count()
        options = self.draw_hash_option() | self.draw_number_format(n)
        if self.draw_chance(2):
            others = tuple(
                self.draw_argument(is_last, depth) for _ in range(self.draw_choice(1, 2))
            )
            return FunctionCall(
                "bucket", (self.draw_spread_field(), *others), (n, self.draw_choice(1, n)), options
            )
        terms = tuple(
            self.draw_argument(is_last, depth) for _ in range(self.draw_choice(1, 1, 2, 3))
        )
        return FunctionCall("bucket", terms, (n,), options)

    def draw_spread_field(self) -> FieldRef:
        """Draw a field with heavy values, in an encoding that can represent them."""
        first = self.draw_field(False)
        declaration = self.fields[first.name]
        if "heavy" not in declaration:
            declaration["heavy"] = self.draw(random_row_values.heavy_values(declaration))
        try:
            for value in declaration["heavy"]:
                encode_value(declaration, first, normalize_value(declaration, value))
        except InvalidByReference:
            return FieldRef(first.name)
        return first

    def draw_count(self) -> int:
        """Draw a number of buckets."""
        return int(self.draw_choice(*BUCKET_COUNTS))

    def draw_hash_option(self) -> dict[str, Any]:
        """Draw the option `hash`, or none."""
        return {"hash": self.draw_choice(*HASHES)} if self.draw_chance(2) else {}

    def draw_number_format(self, n: int = 0) -> dict[str, Any]:
        """Draw the options that say how a number is written, or none."""
        options: dict[str, Any] = self.draw_choice(
            {}, {}, {"as": "decimal"}, {"as": "hex"}, {"as": "letters"}, {"width": 2}
        )
        return dict(options)

    def draw_mod(self, is_last: bool, depth: int) -> FunctionCall:
        """Draw a `mod` of a whole number or a time."""
        time_fields = self.list_fields(*TIMES, "date")
        if time_fields and self.draw_chance(3):
            inner: Term = self.draw_time_bucket(is_last, depth)
        else:
            inner = self.draw_field(is_last, *TIMES, *INTEGERS, "date")
        return FunctionCall("mod", (inner,), (self.draw_count(),), self.draw_number_format())

    def draw_digest(self, is_last: bool, depth: int) -> FunctionCall:
        """Draw a `digest` of one to three arguments."""
        count = self.draw_choice(1, 1, 2, 3)
        terms = tuple(self.draw_default_argument(depth) for _ in range(count))
        if count == 1:
            terms = tuple(map(_strip_ineffective, terms))
        options = {} if self.draw_chance(2) else {"hash": self.draw_choice(*MAX_DIGEST_BYTES)}
        n = self.draw(st.integers(1, MAX_DIGEST_BYTES[options.get("hash", "md5")]))
        return FunctionCall("digest", terms, (n,), options | self.draw_choice({}, {"as": "hex"}))

    def draw_default_argument(self, depth: int) -> Term:
        """Draw a field in its default encoding, or a transform."""
        inner = self.draw_argument(False, depth)
        return FieldRef(inner.name) if isinstance(inner, FieldRef) else inner

    def draw_reverse(self, is_last: bool, depth: int) -> FunctionCall:
        """Draw a `reverse` of a field or of a transform of fixed width."""
        if self.list_fields("text") and self.draw_chance(3):
            return FunctionCall("reverse", (self.draw_field(is_last, "text"),), (), {"by": "label"})
        if depth < 2 and self.draw_chance(4):
            makers = [self.draw_digest, self.draw_bucket]
            makers += [self.draw_time_bucket] if self.list_fields(*TIMES, "date") else []
            return FunctionCall("reverse", (self.draw_choice(*makers)(is_last, depth + 1),))
        inner = self.draw_field(is_last)
        is_listed = self.fields[inner.name]["type"] == "choice"
        return FunctionCall("reverse", (FieldRef(inner.name) if is_listed else inner,))

    def draw_time_bucket(self, is_last: bool, depth: int) -> FunctionCall:
        """Draw a `time_bucket` or `time_slice` of a time."""
        inner: Term = self.draw_field(is_last, *TIMES, "date")
        if depth < 2 and self.draw_chance(5):
            inner = self.draw_time_bucket(is_last, depth + 1)
        source = inner
        while isinstance(source, FunctionCall):
            source = source.terms[0]
        assert isinstance(source, FieldRef)
        tick = UNIT_NS_BY_TIMESTAMP.get(self.fields[source.name]["type"], DAY_NS)
        lengths = [Duration(count, unit) for count, unit in (*DURATIONS, *LONG_DURATIONS)]
        durations = [length for length in lengths if length.nanoseconds % tick == 0]
        name = self.draw_choice("time_bucket", "time_bucket", "time_slice")
        numbers: tuple[Scalar, ...] = (self.draw_choice(*durations),)
        return FunctionCall(name, (inner,), numbers)

    def draw_truncate(self, is_last: bool, depth: int) -> FunctionCall:
        """Draw a `truncate` of anything."""
        inner = _strip_ineffective(self.draw_argument(is_last, depth))
        return FunctionCall("truncate", (inner,), (self.draw_choice(1, 2, 4, 9),))

    def draw_pad(self, is_last: bool, depth: int) -> FunctionCall:
        """Draw a `pad` of a text."""
        return FunctionCall(
            "pad",
            (FieldRef(self.draw_choice(*self.list_fields("text"))),),
            (self.draw_choice(1, 6, 12),),
        )

    def draw_code(self, is_last: bool, depth: int) -> FunctionCall:
        """Draw a `code` of any field."""
        options = self.draw_choice({}, {"width": 1}, {"width": 3}, {"width": 8})
        return FunctionCall("code", (FieldRef(self.draw_choice(*self.fields)),), (), dict(options))


def _strip_ineffective(term: Term) -> Term:
    """Return a term without `desc` and encodings, which do not change what `digest` hashes."""
    while isinstance(term, FunctionCall) and term.name == "desc":
        term = term.terms[0]
    if isinstance(term, FunctionCall) and term.name in {"time_bucket", "time_slice"}:
        return FunctionCall(term.name, (_strip_ineffective(term.terms[0]),), term.scalars)
    return FieldRef(term.name) if isinstance(term, FieldRef) else term
