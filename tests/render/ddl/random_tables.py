"""Random tables whose names and attributes have characters that are hard to quote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import hypothesis.strategies as st

from rowkey.cells import ATTRIBUTES, Family
from rowkey.hbase import build_table_schema
from rowkey.render import CreateStatement
from rowkey.render.ddl.create_statement import EXPLICIT_ATTRIBUTES

if TYPE_CHECKING:
    from rowkey.cells import FamilyAttribute

STRANGE = (
    "#{exit}", "#$0", "#@a", "'", '"', "\\", "\\'", "\\\\u0041", "\\u000a", "\\x41", "\0", "\n",
    "\r", "\u2028", "\x85", "*/", "=begin\n", "\n__END__\n", "-*- coding: x -*-", "é", "表",
    "\U0001f600", " ", "a", "0", "%", "`exit`", "?", "${x}",
)  # fmt: skip
"""Pieces that mean something else to Ruby or Java than they say, or to a terminal."""

ANYTHING = st.lists(
    st.sampled_from(STRANGE) | st.characters(exclude_categories=["Cs"]), max_size=6
).map("".join)
KEYS = st.binary(max_size=12).map(lambda key: key + b"\1") | st.sampled_from(
    [b" ", b"'", b'"', b"\\x41", b"\\", b"#{exit}", b"\0", b"\xff" * 40, b"\x80", b"x y'"]
)
NAMES = st.from_regex(r"([A-Za-z]\w{0,5}:)?[A-Za-z_]\w{0,6}[.-]?\w{0,3}", fullmatch=True).filter(
    str.isascii
)
"""Names that tables may have."""
_NO_FAMILY = frozenset(":/\\")


def _is_family_name(name: str) -> bool:
    """Return whether HBase accepts a name. Source: isLegalColumnFamilyName."""
    plain = not any(ord(letter) < 0x20 or 0x7F <= ord(letter) < 0xA0 for letter in name)
    fits = 0 < len(name.encode()) <= 127 and name != "recovered.edits"
    return fits and plain and not name.startswith(".") and _NO_FAMILY.isdisjoint(name)


def _draw_attribute(row: FamilyAttribute) -> st.SearchStrategy[Any]:
    """Return a strategy for the values of an attribute."""
    if isinstance(row.default, bool):
        return st.booleans()
    plain = [word for word in row.choices if "(" not in word]
    if len(plain) < len(row.choices):
        prefixes = st.integers(1, 32_767).map("ROWPREFIX_FIXED_LENGTH({})".format)
        return st.sampled_from(plain) | prefixes
    if plain:
        return st.just(row.default) | st.sampled_from(plain)
    return st.just(row.default) | st.integers(row.min_value, row.max_value)


_ATTRIBUTES = {
    f"{row.key}_s" if row.is_duration else row.key: _draw_attribute(row)
    for row in ATTRIBUTES.values()
}


_FAMILIES = st.lists(
    st.builds(Family, ANYTHING.filter(_is_family_name), **_ATTRIBUTES),
    min_size=1,
    max_size=3,
    unique_by=lambda one: one.name,
)
_VALUES = (ANYTHING | st.lists(ANYTHING, max_size=4).map("\n".join)).filter(bool)
_WORDS = st.dictionaries(ANYTHING.filter(bool), _VALUES, max_size=3)
_SPLITS = st.sets(KEYS, max_size=5).map(sorted)
_REMARKS = st.lists(ANYTHING, max_size=3)
_LOTTERIES: st.SearchStrategy[tuple[str, ...]] = st.sampled_from([(), ("rowkey.table_id",)])


@st.composite
def draw_creations(draw: st.DrawFn, names: st.SearchStrategy[str]) -> CreateStatement:
    """Draw the creation of a table with families, attributes, split keys and remarks.

    Args:
        draw: Hypothesis' draw function.
        names: the strategy for the table's name.
    """
    listed, words, splits = draw(_FAMILIES), draw(_WORDS), draw(_SPLITS)
    table = build_table_schema(
        draw(names),
        listed,
        words,
        explicit_defaults=EXPLICIT_ATTRIBUTES if draw(st.booleans()) else (),
    )
    return CreateStatement(table, splits, draw(_REMARKS), draw(_LOTTERIES))
