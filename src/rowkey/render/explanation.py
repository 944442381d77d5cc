"""The plan of a read as text for people and as a JSON document for machines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rowkey.explanations import format_explanation
from rowkey.render.documents import FORMAT_VERSION
from rowkey.render.redaction import NO_REDACTION, Redaction
from rowkey.render.text import wrap_text

if TYPE_CHECKING:
    from rowkey.explanations import Explanation

EXPLANATION_FIELDS = {
    "name": "name of the declared read; null for one of the command line",
    "table": "the table that serves the read, of a design with companions; else null",
    "table_reason": "why that table serves it, as a sentence; else null",
    "key": "the row key in bracket notation",
    "conditions[]": "the conditions of the read",
    "order[]": "the order asked for, most significant field first",
    "limit": "rows wanted; null for all",
    "access_type": "nothing, get (one key a range), scan or full scan",
    "fan_out": "ranges read for one answer",
    "ranges[].start": "first possible row key of one of the first ranges, hexadecimal",
    "ranges[].stop": "first row key after it, hexadecimal; empty for the end of the table",
    "ranges[].description": "the field values of its keys",
    "pinned_parts[]": "parts of the key that have constant bytes in each range",
    "narrowed_part": "the part after them of which a range is read; null if none",
    "residual[]": "fields whose conditions are tested row by row after reading",
    "order_method": "forwards, backwards, sorted (in memory), or free if no order was asked for",
    "natural_order[]": "the order in which merged rows come by themselves",
    "rows_read": "rows read for each row of the answer; null where too little is known",
    "warnings[]": "what it costs, as sentences",
    "proposal": "null where the key serves the read, or no recommended key does",
    "proposal.key": "the recommended key that serves it",
    "proposal.remedy": "the key and its splits as a sentence, as `check` has it",
    "proposal.fan_out": "ranges it would read",
    "proposal.backwards": "whether it would read them from their ends",
    "proposal.residual[]": "fields that would still be tested row by row",
    "proposal.moved[]": "fields it holds that lie in columns now",
}
"""The meaning of every field of `build_explanation_document`."""


EXPLANATIONS_FIELDS = {
    "format": "version of this document",
    **{f"reads[].{path}": meaning for path, meaning in EXPLANATION_FIELDS.items()},
}
"""The meaning of every field of `build_explanations_document`."""


def build_explanations_document(explanations: Mapping[str, Explanation]) -> dict[str, Any]:
    """Return the plans of reads as `rowkey explain -f json` prints them.

    Args:
        explanations: how each runs, by its name; the name is empty for a read of the command line.
    """
    return {
        "format": FORMAT_VERSION,
        "reads": [
            build_explanation_document(name, explanation)
            for name, explanation in explanations.items()
        ],
    }


def build_explanation_document(
    name: str, explanation: Explanation, redaction: Redaction = NO_REDACTION
) -> dict[str, Any]:
    """Return the plan of one read as a JSON document.

    Args:
        name: the name of a declared read, or an empty string.
        explanation: how it runs.
        redaction: what is hidden.
    """
    new = explanation.proposal
    return {
        "name": name or None,
        "table": explanation.table or None,
        "table_reason": explanation.table_reason or None,
        "key": explanation.key,
        "conditions": redaction.omit_texts(explanation.conditions),
        "order": list(explanation.order),
        "limit": explanation.limit,
        "access_type": explanation.access_type,
        "fan_out": explanation.fan_out,
        "ranges": []
        if redaction.is_hiding
        else [
            {
                "start": key_range.start.hex(),
                "stop": key_range.stop.hex(),
                "description": key_range.description,
            }
            for key_range in explanation.ranges
        ],
        "pinned_parts": list(explanation.pinned_parts),
        "narrowed_part": explanation.narrowed_part or None,
        "residual": list(explanation.residual_fields),
        "order_method": explanation.order_method,
        "natural_order": list(explanation.natural_order),
        "rows_read": explanation.rows_read,
        "warnings": redaction.omit_texts(explanation.warnings),
        "proposal": None
        if new is None
        else {
            "key": new.key,
            "fan_out": new.fan_out,
            "backwards": new.is_backwards,
            "residual": list(new.residual_fields),
            "moved": list(new.moved_fields),
            "remedy": redaction.omit_text(new.remedy),
        },
    }


def format_explanation_text(name: str, explanation: Explanation, width: int = 100) -> Iterator[str]:
    """Yield the plan of one read in about a dozen lines of text.

    Args:
        name: the name of a declared read, or an empty string.
        explanation: how it runs.
        width: characters of a line.
    """
    for line in format_explanation(explanation, name):
        yield from wrap_text(line, width, TEXT_INDENT)


TEXT_INDENT = 8
"""The column where the text of a line begins, after its label."""
