"""The key of a design part by part: where each part stands, how wide it is, what it looks like."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused, RowError, printable
from rowkey.keys import Key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rowkey.design import Design, Properties
    from rowkey.lint import Seen
    from rowkey.render.report.redaction import Redaction

TRIED = 64
"""Rows of a sample that are tried for one that can be shown."""
LONGEST = 48
"""Bytes of a part that are shown."""


def key_boxes(
    design: Design, properties: Properties, seen: Seen | None, redaction: Redaction
) -> dict[str, Any]:
    """The parts of a key with offsets, widths and an example.

    Args:
        design: the design.
        properties: what it can and cannot do.
        seen: the sample from which the example is; made up from the types if None.
        redaction: what is hidden.
    """
    row, is_seen = _example(design, seen, redaction)
    pieces = _pieces(design.key, row)
    parts: list[dict[str, Any]] = []
    least = 0
    most: int | None = 0
    for number, (found, part, term) in enumerate(
        zip(properties.parts, design.key.parts, design.key.terms, strict=True)
    ):
        piece = pieces[number] if number < len(pieces) else None
        parts.append(
            {
                "notation": printable(f"[{term}]"),
                "fields": [printable(name) for name in part.fields],
                "offset": {"least": least, "most": most},
                "bytes": {"least": found.least, "most": found.most},
                "order": found.order,
                "loses": {printable(n): printable(what) for n, what in found.loses.items()},
                "words": printable(found.words) if redaction.shows(design, part) else "",
                **_shown(design, redaction, number, piece),
            }
        )
        least += found.least
        most = None if most is None or found.most is None else most + found.most
    return {
        "parts": parts,
        "bytes": {"least": properties.key_least, "most": properties.key_most},
        "seen": is_seen,
    }


def _shown(
    design: Design, redaction: Redaction, number: int, piece: bytes | None
) -> dict[str, str]:
    """One part of the example: in hexadecimal and as a person would name it."""
    if piece is None:
        return {"hex": "", "decoded": ""}
    part = design.key.parts[number]
    more = " …" if len(piece) > LONGEST else ""
    shown = f"{redaction.hex(design, part, piece[:LONGEST])}{more}"
    try:
        return {"hex": shown, "decoded": redaction.piece(design, part, piece)}
    except Refused:
        return {"hex": shown, "decoded": ""}


def _example(
    design: Design, seen: Seen | None, redaction: Redaction
) -> tuple[Mapping[str, Any], bool]:
    """A row that the key can have, and whether it is from the sample."""
    key = design.key
    if seen is not None and not redaction.hides:
        for row in _rows(key, seen.rows.slice(0, TRIED)):
            if _pieces(key, row):
                return row, True
    made = [row for row in key.examples(TRIED) if None not in row.values()]
    return next((row for row in made[1:] if _pieces(key, row)), {}), False


def _rows(key: Key, batch: Any) -> Iterator[Mapping[str, Any]]:
    """Sampled rows as normal values, where the sample has every field of the key."""
    from rowkey.keys import Columns

    names = [name for name in key.fields if name in batch.schema.names]
    if len(names) < len(key.fields) or not batch.num_rows:
        return
    yield from map(dict, Columns.of(batch, list(key.fields.values())).rows(names))


def _pieces(key: Key, row: Mapping[str, Any]) -> list[bytes]:
    """The bytes of each part, even where a key cannot be taken apart; none if it has no key."""
    ends = [0]
    try:
        whole = key.encode(row, salt=0)
        for count in range(1, len(key.parts)):
            front = Key(key.terms[:count], key.all_fields, key.parts[:count], 0, key.dictionary)
            ends.append(_length(front, row))
    except RowError:
        return []
    ends.append(len(whole))
    return [whole[start:stop] for start, stop in pairwise(ends)]


def _length(front: Key, row: Mapping[str, Any]) -> int:
    """Bytes of the first parts; a front of parts that are all left out has none."""
    if front.body.framing.most == 0:
        return 0
    try:
        return len(front.encode(row, salt=0))
    except RowError:
        return 0
