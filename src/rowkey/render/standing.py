"""What is told of tables that stand: what was counted in them, what a repair found and did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.render.documents import FORMAT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rowkey.design import Design
    from rowkey.engines import RegionCount


def count_document(design: Design, rows: int) -> dict[str, Any]:
    """How many rows were counted, as `rowkey count -f json` prints it."""
    return {"format": FORMAT, "table": design.table, "rows": rows}


def regions_document(design: Design, counts: Sequence[RegionCount]) -> dict[str, Any]:
    """The counters of all regions, with row keys in hexadecimal."""
    return {
        "format": FORMAT,
        "table": design.table,
        "regions": [
            {
                "start": one.start.hex(),
                "stop": one.stop.hex(),
                "writes": one.writes,
                "reads": one.reads,
            }
            for one in counts
        ],
    }


def regions_lines(design: Design, counts: Sequence[RegionCount]) -> Iterator[str]:
    """A line for each region: where it begins, decoded, and what it has counted."""
    yield f"{'writes':>14} {'reads':>14}  begins with"
    for one in counts:
        start = design.key.show(one.start) if one.start else "(the first row)"
        yield f"{one.writes:>14,} {one.reads:>14,}  {start}"
    writes, reads = (sum(getattr(one, what) for one in counts) for what in ("writes", "reads"))
    yield f"{writes:>14,} {reads:>14,}  in all"


REPAIR = {
    "format": "version of this document",
    "url": "the place that was looked at",
    "tables[].table": "name of the table",
    "tables[].damaged": "whether one of its logs is damaged",
    "tables[].log": "the first log that is",
    "tables[].at": "the byte at which the damage begins",
    "tables[].what": "what it is",
    "tables[].bytes_behind": "bytes of the logs from there on",
    "tables[].broken": "why the table does not open all the same, or null",
    "tables[].mended": "whether they were set aside, so that the table opens again",
    "tables[].batches_kept": "batches of changes that the table holds, from the first on",
    "tables[].changes_cut": "changes of single cells that were set aside, or more",
    "catalog": "with a DESIGN, in place of the tables: what its catalog has lost, or null",
    "catalog.table": "name of the table",
    "catalog.catalog": "the catalog",
    "catalog.what": "what it does not know, or knows of a table that is not there",
    "catalog.broken": "why that cannot be mended, or null",
    "catalog.mended": "whether it was",
    "catalog.words": "what it is to know: generation, counts and hash of the design; null where it "
    "is to forget the table, or cannot be mended",
}


def repair_document(url: str, found: Iterable[Any], done: Iterable[Any]) -> dict[str, Any]:
    """Damage, and what was done about it, as `rowkey repair -f json` prints it.

    Args:
        url: the place.
        found: what was examined, a table each.
        done: what was tried, of the tables that were damaged.
    """
    mended = {one.table: one for one in done}
    return {
        "format": FORMAT,
        "url": url,
        "tables": [_table(one, mended.get(one.table)) for one in found],
        "catalog": None,
    }


def _table(found: Any, mended: Any | None) -> dict[str, Any]:
    is_damaged = bool(found.log)
    return {
        "table": found.table.replace("@", ":"),
        "damaged": is_damaged,
        "log": found.log or None,
        "at": found.at if is_damaged else None,
        "what": found.what or None,
        "bytes_behind": found.bytes_behind,
        "broken": found.broken or (mended.broken if mended else "") or None,
        "mended": mended is not None and not mended.broken,
        "batches_kept": None if mended is None else mended.batches,
        "changes_cut": None if mended is None else mended.changes_cut,
    }


def lapse_document(url: str, found: Any) -> dict[str, Any]:
    """What a catalog has lost, as `rowkey repair DESIGN -f json` prints it.

    Args:
        url: the place.
        found: what is lost, mended or not; None if nothing is.
    """
    told = found and {
        "table": found.table,
        "catalog": found.catalog,
        "what": found.what,
        "broken": found.broken or None,
        "mended": found.is_mended,
        "words": None if found.entry is None else found.entry.words,
    }
    return {"format": FORMAT, "url": url, "tables": [], "catalog": told}
