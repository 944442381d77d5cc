"""The parts of a key as boxes: offset, width and an example of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rowkey.design import Design, DesignProperties
from rowkey.errors import InvalidArgument, RowError
from rowkey.keys import Key
from rowkey.messages import shorten_text, shorten_texts
from rowkey.render.documents import build_part_document
from rowkey.render.redaction import Redaction

if TYPE_CHECKING:
    from rowkey.workload import SampleSummary

MAX_ROWS_TRIED = 64
"""Rows of a sample that are tried for one that can be shown."""
MAX_PART_BYTES = 48
"""Bytes of a part that are shown."""


def build_key_boxes(
    design: Design, properties: DesignProperties, sample: SampleSummary | None, redaction: Redaction
) -> dict[str, Any]:
    """Return the parts of a key with offset, width and an example value each.

    Args:
        sample: the sample that the example is from; generated from the field types if None.
        redaction: decides which values are hidden.
    """
    row, is_sampled = _choose_example(design, sample, redaction)
    pieces = _split_key(design.key, row)
    parts: list[dict[str, Any]] = []
    min_offset = 0
    max_offset: int | None = 0
    for number, (part_properties, part) in enumerate(
        zip(properties.parts, design.key.parts, strict=True)
    ):
        piece = pieces[number] if number < len(pieces) else None
        parts.append(
            {
                **shorten_texts(build_part_document(part_properties)),
                "description": shorten_text(part_properties.description)
                if redaction.is_shown(design, part)
                else "",
                "offset": {"least": min_offset, "most": max_offset},
                **_format_piece(design, redaction, number, piece),
            }
        )
        min_offset += part_properties.min_bytes
        max_offset = (
            None
            if max_offset is None or part_properties.max_bytes is None
            else max_offset + part_properties.max_bytes
        )
    return {
        "parts": parts,
        "bytes": {"least": properties.min_key_bytes, "most": properties.max_key_bytes},
        "is_sampled": is_sampled,
    }


def _format_piece(
    design: Design, redaction: Redaction, number: int, piece: bytes | None
) -> dict[str, str]:
    """Return the bytes of a key part as hex and text; empty if absent or undecodable."""
    if piece is None:
        return {"hex": "", "decoded": ""}
    part = design.key.parts[number]
    ellipsis = " …" if len(piece) > MAX_PART_BYTES else ""
    hex_text = f"{redaction.format_hex(design, part, piece[:MAX_PART_BYTES])}{ellipsis}"
    try:
        return {"hex": hex_text, "decoded": redaction.format_piece(design, part, piece)}
    except InvalidArgument:
        return {"hex": hex_text, "decoded": ""}


def _choose_example(
    design: Design, sample: SampleSummary | None, redaction: Redaction
) -> tuple[Mapping[str, Any], bool]:
    """Return an example row for the key, and whether it comes from the sample."""
    key = design.key
    if sample is not None and not redaction.is_hiding:
        for row in _read_rows(key, sample.rows.slice(0, MAX_ROWS_TRIED)):
            if _split_key(key, row):
                return row, True
    generated_rows = [row for row in key.generate_rows(MAX_ROWS_TRIED) if None not in row.values()]
    return next((row for row in generated_rows[1:] if _split_key(key, row)), {}), False


def _read_rows(key: Key, batch: Any) -> Iterator[Mapping[str, Any]]:
    """Yield sampled rows as field values, if the sample has all fields of the key."""
    from rowkey.keys import ColumnBatch

    names = [name for name in key.fields if name in batch.schema.names]
    if len(names) < len(key.fields) or not batch.num_rows:
        return
    yield from map(
        dict, ColumnBatch.from_batch(batch, list(key.fields.values())).iterate_rows(names)
    )


def _split_key(key: Key, row: Mapping[str, Any]) -> list[bytes]:
    """Return the bytes of each part of a row's key; none if the row cannot be encoded."""
    ends = [0]
    try:
        row_key = key.encode(row, salt=0)
        for count in range(1, len(key.parts)):
            front = Key(key.terms[:count], key.declared_fields, key.parts[:count], key.dictionary)
            ends.append(_measure_front(front, row))
    except RowError:
        return []
    ends.append(len(row_key))
    return [row_key[start:stop] for start, stop in pairwise(ends)]


def _measure_front(front: Key, row: Mapping[str, Any]) -> int:
    """Return how many bytes the first parts of a row's key have."""
    if front.part_sequence.framing.max_bytes == 0:
        return 0
    try:
        return len(front.encode(row, salt=0))
    except RowError:
        return 0
