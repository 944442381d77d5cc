"""Random keys and reads of the grammars, whether or not a plugin could bind them."""

from __future__ import annotations

import unicodedata
from decimal import Decimal

import hypothesis.strategies as st

from rowkey.schema import (
    NANOSECONDS,
    Condition,
    Constant,
    Duration,
    FieldRef,
    FunctionCall,
    Ordering,
    Parameter,
    Scalar,
    Term,
    find_name_mistake,
)

words = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,8}", fullmatch=True)
"""Kinds, encodings and options."""

_anything = st.text(st.characters(exclude_categories=["C"], exclude_characters='\\"'), max_size=12)
names = st.one_of(
    words,
    st.sampled_from(
        ["log-event", "straße", "größe_2", "時刻", "a b", "it's", "[x]", "1st", "%", "क़"]
    ),
    _anything.map(lambda text: unicodedata.normalize("NFC", text)),
).filter(lambda name: find_name_mistake(name) is None)
"""Names of fields, plain ones and such as need quotes."""

numbers = st.integers(0, 10**18 - 1)
durations = st.builds(Duration, numbers, st.sampled_from(sorted(NANOSECONDS)))
scalars: st.SearchStrategy[Scalar] = st.one_of(numbers, durations)
constants = st.builds(
    Constant,
    st.one_of(
        st.binary(min_size=1, max_size=6),
        st.text(min_size=1, max_size=6).map(lambda text: text.encode("utf-8", "replace")),
        st.sampled_from([b"'", b"\\", b"\\x41", "e\u0301".encode(), "\u00a0".encode(), b"\xc3"]),
    ),
)


@st.composite
def draw_references(draw: st.DrawFn) -> FieldRef:
    """Draw a field, with or without an encoding."""
    encoding = draw(st.one_of(st.just(""), words))
    arguments = draw(st.lists(scalars, max_size=3)) if encoding else []
    return FieldRef(draw(names), encoding, tuple(arguments))


def _draw_calls(inner: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    values = st.one_of(scalars, words, constants)
    return st.builds(
        FunctionCall,
        words,
        st.lists(inner, max_size=4).map(tuple),
        st.lists(scalars, max_size=3).map(tuple),
        st.dictionaries(words, values, max_size=3),
    )


terms: st.SearchStrategy[Term] = st.recursive(
    st.one_of(draw_references(), constants), _draw_calls, max_leaves=8
)
keys = st.lists(terms, min_size=1, max_size=5).map(tuple)

_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8).map(
    lambda text: unicodedata.normalize("NFC", text)
)
_decimals = st.decimals(-(10**9), 10**9, places=7).filter(Decimal.is_finite)
_operands = st.one_of(
    words.map(Parameter), _texts, st.integers(-(10**39) + 1, 10**40 - 1), _decimals
)


@st.composite
def draw_conditions(draw: st.DrawFn) -> Condition:
    """Draw one condition of a read, with named parameters."""
    operator = draw(st.sampled_from(["=", "<", "<=", ">", ">=", "in", "between", "starts"]))
    least, most = {"in": (1, 4), "between": (2, 2)}.get(operator, (1, 1))
    operands = draw(st.lists(_operands, min_size=least, max_size=most))
    return Condition(draw(names), operator, tuple(operands))


orderings = st.builds(Ordering, names, st.booleans())
