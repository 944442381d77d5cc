"""The parts of a key that have a bucket count, and which of them can get another count."""

from __future__ import annotations

from rowkey.catalog import find_part_counts
from rowkey.design import Design


def find_resizable_parts(design: Design) -> dict[int, int]:
    """Return the counts of the key parts whose count can be changed, by their index.

    >>> from rowkey.design import Design
    >>> fields = {"host": "text", "ts": "timestamp_ms"}
    >>> find_resizable_parts(Design("t", "[bucket(host, 16)][host][ts]", fields=fields))
    {0: 16}
    >>> find_resizable_parts(Design("t", "[bucket(host, 16)][ts]", fields=fields))
    {}
    """
    counts = find_part_counts(design)
    return {
        place: count
        for place, count in counts.items()
        if not find_distinguishing_fields(design, place)
    }


def list_counted_parts(design: Design) -> dict[int, str]:
    """Return the key parts that have a bucket count, as they are written, by their index."""
    return {place: str(design.key.terms[place]) for place in find_part_counts(design)}


def find_distinguishing_fields(design: Design, part_index: int) -> tuple[str, ...]:
    """Return the fields by which only this part of the key distinguishes rows.

    Under another count it would distinguish other rows: two would become one, or one two.

    Args:
        part_index: the index of a part that has a count, from 0.
    """
    part = design.key.parts[part_index]
    other_parts = {
        repr(other) for other in design.key.parts[:part_index] + design.key.parts[part_index + 1 :]
    }
    inputs = part.children
    is_of_bytes = getattr(part, "arguments", {}).get("over") == "rest"
    if is_of_bytes or (inputs and all(repr(one) in other_parts for one in inputs)):
        return ()
    prefix = design.layout.qualifier_prefix
    in_qualifier = {field.name for field in prefix.fields} if prefix is not None else set()
    lost = set(design.layout.lossy_key_fields) - in_qualifier
    return tuple(name for name in part.fields if name in lost)
