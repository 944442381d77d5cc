"""What a draft cannot make sure of: times that are not read, and rows that overwrite others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.advise.drafting.hints import is_like_identity, is_like_personal
from rowkey.errors import counted, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rowkey.advise.drafting.roles import Roles
    from rowkey.advise.drafting.survey import Column

WIDE = 96
"""Characters of a line of comment."""
VALUE = 32
"""Characters of a value that is shown."""


def stray_said(column: Column) -> str:
    """What is to be done about a column whose times are not read.

    Args:
        column: one of `strays`.
    """
    shown = column.stray if len(column.stray) < VALUE else f"{column.stray[:VALUE]}…"
    return (
        f"The column {printable(column.name)[:80]!r} looks like a time ({printable(shown)}), which "
        "is not read as one: write it as ISO 8601 (2024-01-31T08:00:00.250Z) or as whole numbers "
        "since 1970"
    )


def on_uniqueness(roles: Roles, lost: int) -> Iterator[str]:
    """Whether rows overwrite each other, and what would make sure.

    Args:
        roles: what the columns are for.
        lost: rows of the sample that overwrite one which they differ from.
    """
    survey = roles.survey
    if survey.copies:
        share = survey.copies / survey.events
        yield (
            f"{counted(survey.copies, 'row')} ({share:.1%}) stand in the sample twice, equal in "
            "every "
            "field: they become one row."
        )
    if lost and not roles.misses_time:
        keyed = _joined(roles.columns)
        yield from wrapped(
            f"{counted(lost, 'row')} of the sample differ from another of the same {keyed} in "
            "measured values alone, and overwrite it: right where a value was corrected. If each "
            "is an event of its own, give it a number and put that at the end of the key."
        )
    elif roles.misses_time:
        yield from _on_missing_time(roles, lost)
    elif not survey.copies:
        yield "No two rows of the sample have one key."
    names = {one.name for one in roles.columns}
    sure = [
        one.name
        for one in survey.columns
        if one.name not in names
        and one.facts.distinct == survey.events - survey.copies > 1
        and not is_like_personal(one.name)
        and (is_like_identity(one.name) or one.field.type.name == "uuid")
    ]
    if sure:
        yield f"{sure[0]} never repeats: at the end of the key it would make sure of that."


def _on_missing_time(roles: Roles, lost: int) -> Iterator[str]:
    """What the key waits for."""
    [missed, *_], columns = roles.survey.strays, roles.columns
    if lost:
        told = f"{counted(lost, 'row')} of the sample overwrite another until then"
    else:
        told = "no two rows of the sample have one key even so"
    place = f"behind {columns[0].name}" if roles.entity is not None else "in the key"
    yield from wrapped(
        f"The time is missing: once {missed.name} is read as one, its place is {place}, and {told}."
    )


def _joined(columns: Sequence[Column]) -> str:
    """Names of columns as a list of words."""
    names = [one.name for one in columns]
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def wrapped(text: str, indent: str = "") -> Iterator[str]:
    """A sentence over as many lines as it takes.

    Args:
        text: the sentence.
        indent: what stands before its first line.
    """
    line, more = "", f"{indent}  "
    for word in text.split(" "):
        if line and len(line) + len(word) + 1 > WIDE - 4:
            yield indent + line
            line, indent = word, more
        else:
            line = f"{line} {word}" if line else word
    yield indent + line
