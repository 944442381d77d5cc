"""Describe the columns of a table as fields: text where all values are text, else bytes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from rowkey.errors import RowkeyError
from rowkey.observe.description.table_sample import MAX_QUALIFIERS, SampledColumn, TableSample
from rowkey.rows import format_qualifier
from rowkey.schema import parse_key, parse_where

_NON_WORD = re.compile(r"[^A-Za-z0-9_]+")
MAX_NAME_LENGTH = 64
"""Characters of a qualifier or family that the name of its field takes: names in a design have at
most 200 characters, but a qualifier may have thousands."""
_JAVA_TYPES_BY_WIDTH = {
    1: "a boolean or a byte",
    2: "a short",
    4: "an int or a float",
    8: "a long, a double or a time",
}
"""The Java types that HBase's Bytes.toBytes encodes in a number of bytes."""


def build_fields(
    sample: TableSample, taken_names: Collection[str]
) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """Return field declarations for the sampled columns, and what was observed of each.

    Args:
        sample: the sampled rows.
        taken_names: the names of the key fields.

    Returns:
        The options of each field, and what was observed of it.
    """
    fields: dict[str, dict[str, Any]] = {}
    field_comments: dict[str, str] = {}
    for column in sample.columns.values():
        qualifier = format_qualifier(column.qualifier)
        if not qualifier:
            continue
        name = _choose_name(qualifier, column.family, {*taken_names, *fields})
        type_, why = _infer_type(column)
        fields[name] = {
            "type": type_,
            "nullable": True,
            "family": column.family,
            **({"qualifier": qualifier} if qualifier != name else {}),
        }
        field_comments[name] = f"found in {column.row_count:,} of {len(sample.keys):,} rows, {why}"
    return fields, field_comments


def format_unnamed_columns(sample: TableSample) -> Iterator[str]:
    """Yield a sentence for each family or column that is not declared as a field."""
    for family in sorted(sample.wide_families):
        yield (
            f"Family {family} has more than {MAX_QUALIFIERS} qualifiers: they probably hold data. "
            f'If they hold values of a field, declare it with at = "qualifier".'
        )
    for column in sample.columns.values():
        if not column.qualifier and not _is_marker_column(column):
            yield f"The column {column.family}: is not declared: its qualifier is empty."


def _is_marker_column(column: SampledColumn) -> bool:
    """Return whether a column only marks that a row exists, as rowkey and Phoenix write it."""
    return not column.qualifier and not column.max_bytes


def _choose_name(qualifier: str, family: str, taken_names: Collection[str]) -> str:
    """Return an unused field name for a column, which needs no quotes in a design file."""
    plain = _to_identifier(qualifier, "column")
    names = [plain, f"{_to_identifier(family, 'family')}_{plain}"]
    numbered = (f"{plain}_{number}" for number in range(2, len(taken_names) + 3))
    return next(name for name in (*names, *numbered) if name not in taken_names)


def _to_identifier(text: str, prefix: str) -> str:
    """Return a qualifier or family as an identifier; a prefix is added where it is needed.

    >>> _to_identifier("n-1", "column"), _to_identifier("0", "family")
    ('n_1', 'family_0')
    >>> _to_identifier("in", "column"), _to_identifier("--", "family")
    ('column_in', 'family')
    """
    plain = _NON_WORD.sub("_", text).strip("_")[:MAX_NAME_LENGTH].strip("_")
    if not plain:
        return prefix
    try:
        parse_key(f"[{plain}]")
        parse_where(f"{plain} = ?")
    except RowkeyError:
        return f"{prefix}_{plain}"
    return plain


def _infer_type(column: SampledColumn) -> tuple[str, str]:
    """Return the field type that fits all values of a column, and the evidence for it."""
    shortest, longest = column.min_bytes, column.max_bytes
    if longest and column.is_text:
        return "text", "text"
    if shortest == longest:
        java_hint = (
            f", like {_JAVA_TYPES_BY_WIDTH[longest]} in Java"
            if longest in _JAVA_TYPES_BY_WIDTH
            else ""
        )
        return "bytes", f"{longest} bytes each{java_hint}; their meaning is unknown"
    return "bytes", f"{shortest} to {longest} bytes; their meaning is unknown"
