"""The storage that packed cells save, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rowkey.workload import PackingSavings

PACKING_FIELDS = {
    "packing": "null where no fields are packed",
    "packing.cells[].cell": "family and qualifier of a packed cell",
    "packing.cells[].fields[]": "the fields in it",
    "packing.events": "events of the sample that were measured; 0 where widths were taken",
    "packing.bytes": "mean bytes of an event's cells before encoding and compression",
    "packing.bytes_alone": "the same with a cell for each of the fields",
    "packing.saved": "share of the bytes that packing saves",
}


def build_packing_document(packing: PackingSavings | None) -> dict[str, Any] | None:
    """Return the bytes that packed cells save; None if the design packs none."""
    if packing is None:
        return None
    cells = packing.cells.items()
    return {
        "cells": [{"cell": cell, "fields": list(fields)} for cell, fields in cells],
        "events": packing.events,
        "bytes": packing.packed_bytes,
        "bytes_alone": packing.unpacked_bytes,
        "saved": packing.saved_share,
    }


def format_packing(packing: PackingSavings | None) -> Iterator[str]:
    """Yield lines about the bytes that packed cells save, if the design packs any."""
    if packing is None:
        return
    yield from (f"packed into {cell}: {', '.join(names)}" for cell, names in packing.cells.items())
    about = "" if packing.events else "about "
    basis = (
        f"measured on {packing.events:,} {'event' if packing.events == 1 else 'events'}"
        if packing.events
        else "estimated from field widths, because no sample has the fields"
    )
    verb, share = (
        ("saves", packing.saved_share)
        if packing.saved_share >= 0
        else ("costs", -packing.saved_share)
    )
    yield (
        f"an event's cells take {about}{packing.packed_bytes:.1f} bytes; with a cell for each "
        f"field they would take {packing.unpacked_bytes:.1f}: packing {verb} {share:.0%}, {basis}"
    )
