"""Why a value of a file is none of its field's, in words that show the value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.errors import RowError, printable
from rowkey.workload.files import CONVERT, marked_byte, not_utf8
from rowkey.workload.values.typed import text_of

if TYPE_CHECKING:
    import pyarrow as pa

    from rowkey.keys import Field

CALENDAR = "a day or a second of the calendar, yyyyMMdd[HHmmss]"
SHOWN = 60
"""Characters of a value that are shown."""
LACKS = 'Name the columns with from = "…", or declare the field nullable.'


@dataclass(frozen=True, slots=True)
class Rejected:
    """Why a row is no event.

    Args:
        what: what it lacks, or holds and what is expected instead, to stand behind `row 7`.
        remedy: what to write instead.
    """

    what: str
    remedy: str


def why_rejected(field: Field, found: pa.Array, *, is_calendar: bool) -> Rejected:
    """Why a value is none of a field's.

    Args:
        field: the field.
        found: one value, as the file had it.
        is_calendar: whether the field's column holds digits of the calendar.
    """
    text = text_of(found)
    if text is None or not text.strip():
        return Rejected(f" has no {field.type.name} for {field.name}", LACKS)
    if byte := marked_byte(text):
        return Rejected(f": {field.name} holds {not_utf8(byte)}", CONVERT)
    shown = text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
    expected = CALENDAR if is_calendar else _expected(field, text)
    remedy = f"Declare {field.name} as a type that holds it, or correct the file."
    if field.nullable:
        remedy = f'If that stands for null: format = {{ kind = ..., nulls = ["{shown}"] }}.'
    return Rejected(printable(f": {field.name} is {shown}; expected {expected}"), remedy)


def _expected(field: Field, text: str) -> str:
    """The type of a field with its options; where it has none, with what it allows."""
    words = field.words.model_dump(include=set(field.type.options), exclude_none=True)
    told = [f"{name} {value}" for name, value in words.items() if isinstance(value, int)]
    if not told:
        try:
            field.hold(field.parse(text))
        except RowError as error:
            told = [error.mistake.allowed]
    return ", ".join(filter(None, [field.type.name, *told]))
