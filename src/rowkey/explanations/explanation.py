"""The explanation of a read, and its lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rowkey.messages import format_number
from rowkey.proposals import ANOTHER_KEY

_ORDER_TEXTS = {
    "forwards": "as requested; ranges are merged by the bytes after their prefixes",
    "backwards": (
        "as requested; ranges are read backwards and merged by the bytes after their prefixes"
    ),
    "sorted": "sorted in memory",
}


@dataclass(frozen=True, slots=True)
class FormattedRange:
    """One range of row keys with a readable description.

    Args:
        start: the first possible key.
        stop: the first key after the range, or b"" for the end of the table.
        description: the fields of its keys in words.
    """

    start: bytes
    stop: bytes
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadKeyProposal:
    """A recommended key that serves a read.

    Args:
        key: in bracket notation.
        fan_out: ranges that the read needs under it.
        is_backwards: whether it reads them from their ends.
        residual_fields: fields that are still tested row by row.
        moved_fields: fields that it holds and that lie in columns now.
        remedy: the proposal as a sentence, the same in every command.
    """

    key: str
    fan_out: int
    is_backwards: bool
    residual_fields: tuple[str, ...]
    moved_fields: tuple[str, ...]
    remedy: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a read runs with a key, and what it costs.

    Args:
        key: the row key in bracket notation.
        order: the requested order.
        limit: the maximum number of rows, or None for all.
        access_type: `nothing`, `get`, `scan` or `full scan`.
        fan_out: ranges read for one answer.
        ranges: the first few of these ranges.
        pinned_parts: the parts of the key that have constant bytes in each range.
        narrowed_part: the next part of the key if the read limits it to a range, or empty.
        residual_fields: fields whose conditions are tested row by row after reading.
        order_method: how the requested order is produced: `forwards`, `backwards`, `sorted`, or
            `free` if none was requested.
        natural_order: the order of the merged rows without a sort.
        rows_read: rows read for each row of the answer; None if too little is known.
        warnings: sentences about the costs.
        needs_key: whether another key would serve the read better.
        proposal: the recommended key that does, once the search has found it.
        table: the table that serves the read, if it is one of several; else empty.
        table_reason: why that table serves it, as a sentence; else empty.
    """

    key: str
    conditions: tuple[str, ...]
    order: tuple[str, ...]
    limit: int | None
    access_type: str
    fan_out: int
    ranges: tuple[FormattedRange, ...]
    pinned_parts: tuple[str, ...]
    narrowed_part: str
    residual_fields: tuple[str, ...]
    order_method: str
    natural_order: tuple[str, ...]
    rows_read: float | None
    warnings: tuple[str, ...]
    needs_key: bool
    proposal: ReadKeyProposal | None = None
    table: str = ""
    table_reason: str = ""

    def __str__(self) -> str:
        """Return the explanation as about a dozen lines of text."""
        return "\n".join(format_explanation(self))


def format_explanation(explanation: Explanation, name: str = "") -> Iterator[str]:
    """Yield the explanation of a read as lines of text.

    Args:
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
