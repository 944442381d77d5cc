"""How a read runs: as text for people, as a JSON document for machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.plan import lines_of
from rowkey.render.documents import FORMAT
from rowkey.render.text import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rowkey.plan import Explanation

EXPLAIN = {
    "name": "name of the declared read; null for one asked in words",
    "key": "the row key in bracket notation",
    "conditions[]": "what is asked, a condition each",
    "order[]": "the order asked for, most significant field first",
    "limit": "rows wanted; null for all",
    "runs": "nothing, get (one key a range), scan or full scan",
    "fan_out": "ranges read for one answer",
    "ranges[].start": "first possible row key of one of the first ranges, hexadecimal",
    "ranges[].stop": "first row key behind it, hexadecimal; empty for the end of the table",
    "ranges[].words": "what its keys hold",
    "pinned[]": "parts of the key that have constant bytes in each range",
    "narrowed": "the part behind them of which a stretch is read; null if none",
    "residual[]": "fields whose conditions are tested row by row after reading",
    "served": "forwards, backwards, sorted (in memory), or free if no order was asked for",
    "comes_in[]": "the order in which merged rows come by themselves",
    "rows_read": "rows read for each row of the answer; null where too little is known",
    "warnings[]": "what it costs, as sentences",
    "proposal": "null where the key serves the read, or no key would",
    "proposal.key": "a key that would serve it; other reads and the writes are not looked at",
    "proposal.fan_out": "ranges it would read",
    "proposal.backwards": "whether it would read them from their ends",
    "proposal.residual[]": "fields that would still be tested row by row",
    "proposal.moved[]": "fields it holds that lie in columns now",
}
"""The meaning of every field of `explanation_document`."""


EXPLANATIONS = {
    "format": "version of this document",
    **{f"reads[].{path}": meaning for path, meaning in EXPLAIN.items()},
}
"""The meaning of every field of `explanations_document`."""


def explanations_document(told: Mapping[str, Explanation]) -> dict[str, Any]:
    """How reads run, as `rowkey explain -f json` prints it.

    Args:
        told: how each runs, by its name; the name is empty for one asked in words.
    """
    return {
        "format": FORMAT,
        "reads": [explanation_document(name, found) for name, found in told.items()],
    }


def explanation_document(name: str, found: Explanation) -> dict[str, Any]:
    """How one read runs, as `explanations_document` lists it.

    Args:
        name: the name of a declared read, or an empty string.
        found: how it runs.
    """
    new = found.proposal
    return {
        "name": name or None,
        "key": found.key,
        "conditions": list(found.conditions),
        "order": list(found.order),
        "limit": found.limit,
        "runs": found.runs,
        "fan_out": found.fan_out,
        "ranges": [
            {"start": one.start.hex(), "stop": one.stop.hex(), "words": one.words}
            for one in found.ranges
        ],
        "pinned": list(found.pinned),
        "narrowed": found.narrowed or None,
        "residual": list(found.residual),
        "served": found.served,
        "comes_in": list(found.comes_in),
        "rows_read": found.rows_read,
        "warnings": list(found.warnings),
        "proposal": None
        if new is None
        else {
            "key": new.key,
            "fan_out": new.fan_out,
            "backwards": new.backwards,
            "residual": list(new.residual),
            "moved": list(new.moved),
        },
    }


def explanation_lines(name: str, found: Explanation, width: int = 100) -> Iterator[str]:
    """How one read runs, as text: a dozen lines or so.

    Args:
        name: the name of a declared read, or an empty string.
        found: how it runs.
        width: characters of a line.
    """
    for line in lines_of(found, name):
        yield from wrapped(line, width, INDENT)


INDENT = 8
"""Where the text of a line begins, behind the word that says what it tells."""
