"""Damage to tables and catalogs, and what was done about it, as lines and as JSON documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.errors import counted
from rowkey.regions import to_binary
from rowkey.render.documents import FORMAT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rowkey.engines import Examination, Repair, Rows, Saved

_RANGES = 20
"""Stretches of rows that are printed; a document lists them all."""

_FOUND = {
    "tables[].table": "name of the table",
    "tables[].sound": "whether nothing of it is damaged or gone",
    "tables[].problems[].file": "the file that is damaged or gone",
    "tables[].problems[].problem": "what is wrong with it",
    "tables[].problems[].remedy": "what to do about it",
    "tables[].lost_rows[]": "first and last row, both included, in hexadecimal, of each stretch "
    "whose rows lack cells; null for the beginning or the end of the table",
    "tables[].repairable": "whether `rowkey repair` mends it where it lies",
    "tables[].readable": "whether anything of it can be read",
    "tables[].cells": "cells that were read",
    "tables[].files": "files that were read",
    "tables[].bytes": "bytes of the files of sorted pairs",
    "tables[].notes[]": "what is wrong, but takes nothing away, or is not known",
}

VERIFY = {
    "format": "version of this document",
    "url": "the place that was read",
    **_FOUND,
}

REPAIR = {
    **VERIFY,
    "tables[].repaired": "whether it was mended where it lies",
    "tables[].log": "the log that was cut, or null",
    "tables[].offset": "the byte from which on it was cut, or null",
    "tables[].bytes_cut": "bytes that were set aside, or null",
    "tables[].changes_lost": "changes of single cells that were acknowledged and are gone; null if "
    "that is not known, or nothing was mended",
    "tables[].batches_kept": "batches of changes that the table holds, from the first on; or null",
    "tables[].saved_into": "the new place that it was saved into, or null",
    "tables[].cells_saved": "cells that were saved there, or null",
    "tables[].cells_left_out": "cells that can be read, of rows that lack others; or null",
    "tables[].rows_not_saved[]": "as lost_rows: stretches of rows that are not in the new place",
    "tables[].save_notes[]": "what is uncertain about what was saved",
    "catalog": "with a DESIGN, in place of the tables: what its catalog has lost, or null",
    "catalog.table": "name of the table",
    "catalog.catalog": "the catalog",
    "catalog.what": "what it does not know, or knows of a table that is not there",
    "catalog.broken": "why that cannot be mended, or null",
    "catalog.mended": "whether it was",
    "catalog.words": "what it is to know: generation, counts and hash of the design; null where it "
    "is to forget the table, or cannot be mended",
}


def verify_document(url: str, found: Iterable[Examination]) -> dict[str, Any]:
    """Return what was found, as `rowkey verify -f json` prints it."""
    return {"format": FORMAT, "url": url, "tables": [_describe_table(one) for one in found]}


def repair_document(
    url: str,
    found: Iterable[Examination],
    repairs: Iterable[Repair] = (),
    saved: Iterable[Saved] = (),
    into: str | None = None,
) -> dict[str, Any]:
    """Return what was found and done, as `rowkey repair -f json` prints it.

    Args:
        url: the place.
        found: what was found, a table each.
        repairs: what was mended there.
        saved: what was saved elsewhere.
        into: where that is.
    """
    repaired = {one.table: one for one in repairs}
    kept = {one.table: one for one in saved}
    tables = []
    for one in found:
        repair, save = repaired.get(one.table), kept.get(one.table)
        tables.append({
            **_describe_table(one),
            "repaired": repair is not None,
            "log": None if repair is None else repair.log or None,
            "offset": repair.offset if repair is not None and repair.log else None,
            "bytes_cut": None if repair is None else repair.bytes_cut,
            "changes_lost": None if repair is None else repair.changes_lost,
            "batches_kept": None if repair is None else repair.batches,
            "saved_into": None if save is None else into,
            "cells_saved": None if save is None else save.cells,
            "cells_left_out": None if save is None else save.cells_left_out,
            "rows_not_saved": [] if save is None else _describe_rows(save.lost_rows),
            "save_notes": [] if save is None else list(save.notes),
        })  # fmt: skip
    return {"format": FORMAT, "url": url, "tables": tables, "catalog": None}


def _describe_table(found: Examination) -> dict[str, Any]:
    return {
        "table": found.table,
        "sound": found.is_sound,
        "problems": [
            {
                "file": one.mistake.path,
                "problem": one.mistake.what,
                "remedy": one.mistake.remedy or None,
            }
            for one in found.problems
        ],
        "lost_rows": _describe_rows(found.lost_rows),
        "repairable": bool(found.problems) and not found.needs_saving,
        "readable": found.is_readable,
        "cells": found.cells,
        "files": found.files,
        "bytes": found.size_bytes,
        "notes": found.notes,
    }


def _describe_rows(stretches: Iterable[Rows]) -> list[list[str | None]]:
    return [[None if row is None else row.hex() for row in rows] for rows in stretches]


def examination_lines(found: Examination) -> Iterator[str]:
    """Yield what was found in a table as lines for people."""
    read = f"{counted(found.cells, 'cell')} in {counted(found.files, 'file')} read"
    yield f"{found.table}: {'sound' if found.is_sound else 'damaged'}; {read}"
    for problem in found.problems:
        yield f"  {problem}"
    yield from _lost_lines(found.lost_rows)
    for note in found.notes:
        yield f"  note: {note}"


def _lost_lines(lost: Sequence[Rows]) -> Iterator[str]:
    for first, last in lost[:_RANGES]:
        begin = "the first" if first is None else to_binary(first)
        end = "the last" if last is None else to_binary(last)
        yield f"  lost: rows from {begin} to {end}, both included"
    if len(lost) > _RANGES:
        yield f"  and {counted(len(lost) - _RANGES, 'stretch')} more; -f json lists them all"


def repair_line(repair: Repair) -> str:
    """Return what was mended where a table lies, as a line for people."""
    kept = f"{repair.batches:,} batches of changes are kept"
    if repair.changes_lost is None:
        lost = "how many changes are lost is not known"
    else:
        lost = f"{counted(repair.changes_lost, 'acknowledged change')} lost"
    if not repair.log:
        return f"{repair.table}: repaired; {kept}, {lost}"
    return (
        f"{repair.table}: {repair.log} was cut at byte {repair.offset:,}; {kept}, {lost}; "
        f"{counted(repair.bytes_cut, 'byte')} moved to cut/"
    )


def saved_lines(saved: Saved, into: str) -> Iterator[str]:
    """Yield what was saved of a table as lines for people."""
    yield f"{saved.table}: {counted(saved.cells, 'cell')} saved into {into}"
    if saved.cells_left_out:
        left = counted(saved.cells_left_out, "readable cell")
        yield f"  {left} of rows that lack others left out; --keep-incomplete saves them too"
    yield from _lost_lines(saved.lost_rows)
    for note in saved.notes:
        yield f"  note: {note}"


def lapse_document(url: str, found: Any) -> dict[str, Any]:
    """Return what a catalog has lost, as `rowkey repair DESIGN -f json` prints it.

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
