"""Explains why a value of a file does not fit its field."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.array_libraries import pa
from rowkey.errors import RowError
from rowkey.messages import shorten_text
from rowkey.workload.contract import format_inline_table
from rowkey.workload.sample_streams import CONVERT_REMEDY, find_marked_byte, format_invalid_byte
from rowkey.workload.values.time_detection import derive_layouts
from rowkey.workload.values.typed_columns import format_first_value, is_text_column

if TYPE_CHECKING:
    from rowkey.keys import Field

CALENDAR_FORMAT = "a date or time as digits yyyyMMdd[HHmmss]"
_ISO_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")
_NEGATIVE = re.compile("-[0-9]+")
EXAMPLE_LAYOUT = "%d.%m.%Y %H:%M:%S"
MAX_SHOWN_CHARACTERS = 60
"""Characters of a value that are shown."""
MISSING_VALUE_REMEDY = 'Name the columns with from = "…", or declare the field nullable.'


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a row is skipped.

    Args:
        problem: what is missing or wrong and what is expected, to be printed after `row 7`.
        remedy: what to write instead.
    """

    problem: str
    remedy: str


def explain_rejection(field: Field, value: pa.Array, *, expected_form: str = "") -> Rejection:
    """Return why a value does not fit a field.

    Args:
        value: one value, as the file had it.
        expected_form: how the file writes the field's values, if that is known.
    """
    from pyarrow.types import is_timestamp

    text = format_first_value(value)
    if text is None or not text.strip():
        return Rejection(f" has no {field.type.name} for {field.name}", MISSING_VALUE_REMEDY)
    if byte := find_marked_byte(text):
        return Rejection(f": {field.name} contains {format_invalid_byte(byte)}", CONVERT_REMEDY)
    excerpt = text if len(text) <= MAX_SHOWN_CHARACTERS else f"{text[:MAX_SHOWN_CHARACTERS]}…"
    expected = expected_form or _format_expected(field, text)
    remedy = f"Declare another type for {field.name}, or correct the file."
    other_type = _find_type_before_epoch(text)
    if field.type.unit_ns is not None and field.type.is_plain_integer and other_type:
        remedy = f"Timestamps begin in 1970: declare {field.name} as {other_type}."
    elif field.type.unit_ns is not None and not is_timestamp(value.type):
        column = field.declaration.source or field.name
        layout = next(iter(derive_layouts([text])), EXAMPLE_LAYOUT)
        remedy = (
            f"Declare how its times are written: times = {format_inline_table({column: layout})} "
            f"in the format of the sample, or another type for {field.name}."
        )
    if text.strip().lower() == "nan" and not field.nullable:
        remedy = f"Declare {field.name} nullable, so that it is null there."
    if field.nullable:
        remedy = (
            "If this text stands for null, declare "
            f'[sample] format = {{ kind = ..., nulls = ["{excerpt}"] }}.'
        )
    shown = f"'{excerpt}'" if is_text_column(value) else excerpt
    return Rejection(shorten_text(f": {field.name} is {shown}; expected {expected}"), remedy)


def _find_type_before_epoch(text: str) -> str:
    """Return which types hold a time before 1970, or a negative number; empty for other texts."""
    if _ISO_DAY.match(text) is not None and text < "1970":
        return "date or text"
    return "i64" if _NEGATIVE.fullmatch(text.strip()) else ""


def _format_expected(field: Field, text: str) -> str:
    """Return the type of a field with its options, or with the values it allows."""
    options = field.declaration.model_dump(include=set(field.type.options), exclude_none=True)
    details = [f"{name} {value}" for name, value in options.items() if isinstance(value, int)]
    if not details:
        try:
            field.to_internal(field.parse(text))
        except RowError as error:
            details = [error.mistake.expected]
    return ", ".join(filter(None, [field.type.name, *details]))
