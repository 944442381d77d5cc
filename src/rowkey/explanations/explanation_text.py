"""Explanations as lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rowkey.messages import format_number
from rowkey.proposals import ANOTHER_KEY

if TYPE_CHECKING:
    from rowkey.explanations.explanation import Explanation

_ORDER_TEXTS = {
    "forwards": "as requested; ranges are merged by the bytes after their prefixes",
    "backwards": (
        "as requested; ranges are read backwards and merged by the bytes after their prefixes"
    ),
    "sorted": "sorted in memory",
}


def format_explanation(explanation: Explanation, name: str = "") -> Iterator[str]:
    """Yield the explanation of a read as lines of text.

    Args:
        explanation: the explanation.
        name: what the read is called, or an empty string.
    """
    yield _format_line(
        "read", f"{name}: {_format_read(explanation)}" if name else _format_read(explanation)
    )
    if explanation.table:
        yield _format_line("table", f"{explanation.table}: {explanation.table_reason}")
    yield _format_line("key", explanation.key)
    yield _format_line("runs", _format_access(explanation))
    for number, formatted_range in enumerate(explanation.ranges):
        yield _format_line("" if number else "ranges", formatted_range.description)
    if explanation.fan_out > len(explanation.ranges):
        yield _format_line("", f"… {explanation.fan_out:,} in all")
    if explanation.residual_fields:
        yield _format_line(
            "tests", f"{', '.join(explanation.residual_fields)} of each row, after reading"
        )
    if explanation.fan_out:
        yield from _format_order(explanation)
    if explanation.rows_read is not None:
        yield _format_line(
            "reads", f"{_format_row_count(explanation.rows_read)} for each row of the answer"
        )
    for warning in explanation.warnings:
        yield _format_line("note", f"{warning}.")
    if explanation.needs_key:
        yield from _format_proposal(explanation)


def _format_line(label: str, text: str) -> str:
    """Return a line of text with its label in a column of 8 characters."""
    return f"{label:8}{text}"


def _format_read(explanation: Explanation) -> str:
    """Return the conditions, the order and the limit of a read as text."""
    text = " and ".join(explanation.conditions) or "all rows"
    if explanation.order:
        text += f", order {', '.join(explanation.order)}"
    return text if explanation.limit is None else f"{text}, limit {explanation.limit:,}"


def _format_access(explanation: Explanation) -> str:
    """Return how the read accesses the table: by get, scan or full scan, and its ranges."""
    if explanation.access_type == "nothing":
        return "not at all: no row can meet the conditions"
    noun = "key" if explanation.access_type == "get" else "range"
    text = (
        f"as a {explanation.access_type} of {explanation.fan_out:,} "
        f"{noun}{'' if explanation.fan_out == 1 else 's'}"
    )
    if explanation.pinned_parts:
        verb = "has" if len(explanation.pinned_parts) == 1 else "have"
        text += f"; {', '.join(explanation.pinned_parts)} {verb} constant bytes in each"
    return f"{text}; a range of {explanation.narrowed_part}" if explanation.narrowed_part else text


def _format_order(explanation: Explanation) -> Iterator[str]:
    """Yield the line about the order in which rows come."""
    if explanation.order_method in _ORDER_TEXTS:
        yield _format_line("order", _ORDER_TEXTS[explanation.order_method])
    elif explanation.natural_order and explanation.access_type != "get":
        yield _format_line(
            "order", f"none requested; rows come by {', '.join(explanation.natural_order)}"
        )


def _format_row_count(rows: float) -> str:
    """Return a rounded number of rows as text."""
    count = format_number(rows, 2)
    return f"{count} row" if count == "1" else f"about {count} rows"


def _format_proposal(explanation: Explanation) -> Iterator[str]:
    """Yield the lines about a key that would serve the read better."""
    new = explanation.proposal
    if new is None:
        yield _format_line("propose", ANOTHER_KEY)
        return
    ranges = f"{new.fan_out:,} range{'' if new.fan_out == 1 else 's'}"
    yield _format_line("propose", new.remedy)
    yield _format_line("", f"it would read {ranges} for this answer")
    if new.moved_fields:
        remark = (
            "is a column now; rows may lack it only if it is declared nullable"
            if len(new.moved_fields) == 1
            else "are columns now; rows may lack only those that are declared nullable"
        )
        yield _format_line("", f"{', '.join(new.moved_fields)} {remark}")
