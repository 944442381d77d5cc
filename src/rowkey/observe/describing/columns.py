"""The columns of a table as fields of a design: text where all values are, else bytes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rowkey.errors import RowkeyError
from rowkey.observe.describing.sampling import text_of
from rowkey.schema import parse, parse_where

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from rowkey.observe.describing.sampling import Column, Sampled

_STRANGE = re.compile(r"[^A-Za-z0-9_]+")
LONGEST = 64
"""Characters of a qualifier, and of a family, that the name of a field is made of: a design has no
name of more than 200, while a qualifier may have thousands."""
_WIDTHS = {
    1: "a boolean or a byte",
    2: "a short",
    4: "an int or a float",
    8: "a long, a double or a time",
}
"""What HBase's Bytes.toBytes makes as many bytes of."""


def fields_of(
    found: Sampled, taken: Collection[str]
) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """The columns that were seen, as fields.

    Args:
        found: what was seen.
        taken: names that fields of the key have.

    Returns:
        The words of each field, and what was seen of it.
    """
    fields: dict[str, dict[str, Any]] = {}
    seen: dict[str, str] = {}
    for column in found.columns.values():
        qualifier = text_of(column.qualifier)
        if not qualifier or _is_marker(column):
            continue
        name = _name(qualifier, column.family, {*taken, *fields})
        type_, why = _type(column)
        fields[name] = {
            "type": type_,
            "nullable": True,
            "family": column.family,
            **({"qualifier": qualifier} if qualifier != name else {}),
        }
        seen[name] = f"in {column.rows:,} of {len(found.keys):,} rows, {why}"
    return fields, seen


def strange_columns(found: Sampled) -> Iterator[str]:
    """Columns that no field is made of, as sentences."""
    for family in sorted(found.wide):
        yield (
            f"Family {family} has more different qualifiers than a table has columns: they hold "
            f'data. If they are a field, declare it with at = "qualifier".'
        )
    unnamed = [column for column in found.columns.values() if not text_of(column.qualifier)]
    for column in unnamed:
        if not _is_marker(column):
            shown = column.qualifier.hex() or "the empty qualifier"
            yield f"The column {column.family}:{shown} is no field: its qualifier is no text."


def _is_marker(column: Column) -> bool:
    """Whether a column only says that there is a row, as rowkey and Phoenix write it."""
    return not column.qualifier and not column.longest


def _name(qualifier: str, family: str, taken: Collection[str]) -> str:
    """A name for a field that no other has, and that needs no quotes wherever it is written."""
    plain = _word(qualifier, "column")
    names = [plain, f"{_word(family, 'family')}_{plain}"]
    numbered = (f"{plain}_{number}" for number in range(2, len(taken) + 3))
    return next(name for name in (*names, *numbered) if name not in taken)


def _word(text: str, sort: str) -> str:
    """A text as a name, with the sort of thing it names before what a name cannot begin with.

    >>> _word("n-1", "column"), _word("0", "family"), _word("in", "column"), _word("--", "family")
    ('n_1', 'family_0', 'column_in', 'family')
    """
    plain = _STRANGE.sub("_", text).strip("_")[:LONGEST].strip("_")
    if not plain:
        return sort
    try:
        parse(f"[{plain}]")
        parse_where(f"{plain} = ?")
    except RowkeyError:
        return f"{sort}_{plain}"
    return plain


def _type(column: Column) -> tuple[str, str]:
    """The type that holds all values as they are, and what was seen of them."""
    shortest, longest = column.shortest, column.longest
    if longest and column.is_text:
        return "text", "text"
    if shortest == longest:
        made = f", as Java makes of {_WIDTHS[longest]}" if longest in _WIDTHS else ""
        return "bytes", f"{longest} bytes each{made}; what they mean is not known"
    return "bytes", f"{shortest} to {longest} bytes; what they mean is not known"
