"""What packed cells save, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.workload import Packing

PACKING = {
    "packing": "null where no fields are packed",
    "packing.cells[].cell": "family and qualifier of a packed cell",
    "packing.cells[].fields[]": "the fields in it",
    "packing.events": "events of the sample that were measured; 0 where widths were taken",
    "packing.bytes": "mean bytes of an event's cells before encoding and compression",
    "packing.bytes_alone": "the same with a cell for each of the fields",
    "packing.saved": "share of the bytes that packing saves",
}


def packing_document(packing: Packing | None) -> dict[str, Any] | None:
    """What packed cells save; None where there are none."""
    if packing is None:
        return None
    cells = packing.cells.items()
    return {
        "cells": [{"cell": cell, "fields": list(fields)} for cell, fields in cells],
        "events": packing.events,
        "bytes": packing.packed,
        "bytes_alone": packing.alone,
        "saved": packing.saved,
    }


def packing_lines(packing: Packing | None) -> Iterator[str]:
    """What packed cells save, in two sentences or none."""
    if packing is None:
        return
    yield from (f"packed into {cell}: {', '.join(names)}" for cell, names in packing.cells.items())
    about = "" if packing.events else "about "
    basis = (
        f"measured on {packing.events:,} {'event' if packing.events == 1 else 'events'}"
        if packing.events
        else "by the widths of the fields, for there is no sample of them"
    )
    verb, share = ("saves", packing.saved) if packing.saved >= 0 else ("costs", -packing.saved)
    yield (
        f"an event's cells take {about}{packing.packed:.1f} bytes; with a cell for each field they "
        f"would take {packing.alone:.1f}: packing {verb} {share:.0%}, {basis}"
    )
