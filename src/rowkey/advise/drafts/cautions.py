"""Warnings about a draft: times that cannot be read, and rows that overwrite others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rowkey.advise.drafts.name_hints import is_like_identity, is_like_personal
from rowkey.advise.drafts.roles import ColumnRoles
from rowkey.messages import join_names, pluralize, shorten_text
from rowkey.workload import format_inline_table

if TYPE_CHECKING:
    from rowkey.advise.drafts.inferred_schema import InferredColumn

COMMENT_WIDTH = 96
"""Characters of a line of comment."""
MAX_LISTED_COLUMNS = 8
"""Columns that a message names."""
MAX_VALUE_WIDTH = 32
"""Characters of a value that is shown."""


def format_unparsed_time(column: InferredColumn) -> str:
    """Return a warning that a column looks like a time but is not read as one.

    Args:
        column: one of `unparsed_time_columns`.
    """
    example = (
        column.unparsed_time
        if len(column.unparsed_time) < MAX_VALUE_WIDTH
        else f"{column.unparsed_time[:MAX_VALUE_WIDTH]}…"
    )
    name = shorten_text(column.name)[:80]
    return (
        f"The column {name!r} looks like a time ({shorten_text(example)}), but nothing tells how "
        "it is written: declare its layout in the format of the sample, such as times = "
        f'{format_inline_table({name: "%d.%m.%Y %H:%M"})}, or "excel" for days of a spreadsheet'
    )


def format_left_out_columns(reasons: Mapping[str, str]) -> str:
    """Return how many columns became no fields, and the first with reasons; empty if all did.

    Args:
        reasons: the reason of each column, by its name.
    """
    if not reasons:
        return ""
    listed = [f"{shorten_text(name)[:80]!r} {shorten_text(why)}" for name, why in reasons.items()]
    more = len(listed) - MAX_LISTED_COLUMNS
    tail = f"; and {more:,} more" if more > 0 else ""
    count = pluralize(len(listed), "column")
    return f"{count} left out: {'; '.join(listed[:MAX_LISTED_COLUMNS])}{tail}"


def describe_uniqueness(roles: ColumnRoles, lost_count: int) -> Iterator[str]:
    """Yield comments on sampled rows that are equal or overwrite each other.

    Args:
        roles: what the columns are for.
        lost_count: rows of the sample that overwrite one which they differ from.
    """
    survey = roles.schema
    if survey.copy_count:
        share = survey.copy_count / survey.event_count
        yield (
            f"{pluralize(survey.copy_count, 'row')} ({share:.1%}) of the sample equal another "
            "row in every field: each such pair becomes one row."
        )
    if lost_count and not roles.is_missing_time:
        keyed = join_names([one.name for one in roles.key_columns])
        yield from wrap_comment(
            f"{pluralize(lost_count, 'row')} of the sample differ only in measured values from "
            f"another row with the same {keyed}, and overwrite it. That is right if values "
            "were corrected. If each row is an event of its own, add a field with a sequence "
            "number at the end of the key."
        )
    elif roles.is_missing_time:
        yield from _describe_missing_time(roles, lost_count)
    elif not survey.copy_count:
        yield "No two rows of the sample have the same key."
    names = {one.name for one in roles.key_columns}
    sure = [
        one.name
        for one in survey.columns
        if one.name not in names
        and one.facts.distinct_count == survey.event_count - survey.copy_count > 1
        and not is_like_personal(one.name)
        and (is_like_identity(one.name) or one.field.type.name == "uuid")
    ]
    if sure:
        yield (f"{sure[0]} never repeats: at the end of the key it would make all row keys unique.")


def _describe_missing_time(roles: ColumnRoles, lost_count: int) -> Iterator[str]:
    """Yield a comment that the key lacks a time because the time cannot be read yet."""
    [missed, *_], columns = roles.schema.unparsed_time_columns, roles.key_columns
    if lost_count:
        consequence = (
            f"{pluralize(lost_count, 'row')} of the sample overwrite another row until then"
        )
    else:
        consequence = "no two rows of the sample have the same key even without it"
    place = f"after {columns[0].name}" if roles.entity is not None else "into the key"
    yield from wrap_comment(
        f"The key has no time yet: once {missed.name} can be read as a time, put it {place}; "
        f"{consequence}."
    )


def wrap_comment(text: str, indent: str = "") -> Iterator[str]:
    """Wrap a sentence into comment lines of limited width.

    Args:
        text: the sentence.
        indent: the indentation of its first line; later lines have two spaces more.
    """
    line, next_indent = "", f"{indent}  "
    for word in text.split(" "):
        if line and len(line) + len(word) + 1 > COMMENT_WIDTH - 4:
            yield indent + line
            line, indent = word, next_indent
        else:
            line = f"{line} {word}" if line else word
    yield indent + line
