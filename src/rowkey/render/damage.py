"""Damage to tables and catalogs, and the results of repairs, as text and as JSON documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rowkey.messages import pluralize
from rowkey.regions import to_string_binary
from rowkey.render.documents import FORMAT_VERSION
from rowkey.render.undeclared_cells import (
    UNDECLARED_FIELDS,
    UNDECODABLE_FIELDS,
    build_undeclared_document,
    build_undecodable_document,
    format_undeclared_cells,
    format_undecodable_rows,
)

if TYPE_CHECKING:
    from rowkey.engines import RepairResult, RowInterval, SalvageResult
    from rowkey.table import VerifiedTable

_MAX_RANGES_PRINTED = 20
"""Ranges of rows that are printed; a JSON document lists all."""

_EXAMINATION_FIELDS = {
    "tables[].table": "name of the table",
    "tables[].sound": "whether it can be opened, read and written",
    "tables[].problems[].file": "the file that is damaged or gone",
    "tables[].problems[].problem": "what is wrong with it",
    "tables[].problems[].remedy": "what to do about it",
    "tables[].lost_rows[][]": "first and last row, both included, in hexadecimal, of each stretch "
    "whose rows lack cells or may be older than they were; null for the beginning or the end of "
    "the table",
    "tables[].repairable": "whether `rowkey repair` can repair it in place",
    "tables[].readable": "whether anything of it can be read",
    "tables[].cells": "cells that were read",
    "tables[].files": "files that were read",
    "tables[].bytes": "bytes of the files of sorted pairs",
    "tables[].notes[]": "what is wrong, but takes nothing away, or is not known",
    "tables[].undeclared": "cells that the design of the table does not declare, as stored; null "
    "if the table is damaged or has no design",
    **{
        f"tables[].{path}": meaning
        for path, meaning in (UNDECLARED_FIELDS | UNDECODABLE_FIELDS).items()
    },
}

VERIFY_FIELDS = {
    "format": "version of this document",
    "url": "the place that was read",
    **_EXAMINATION_FIELDS,
}

REPAIR_FIELDS = {
    **VERIFY_FIELDS,
    "tables[].repaired": "whether it was repaired in place",
    "tables[].log": "the log that was cut, or null",
    "tables[].offset": "the byte from which on it was cut, or null",
    "tables[].bytes_cut": "bytes that were set aside, or null",
    "tables[].changes_lost": "changes of single cells that were acknowledged and are gone; null if "
    "that is not known, or nothing was repaired",
    "tables[].batches_kept": "batches of changes that the table holds, from the first on; or null",
    "tables[].saved_into": "the new place that it was saved into, or null",
    "tables[].cells_saved": "cells that were saved there, or null",
    "tables[].cells_left_out": "cells that can be read, of rows that lack others or may be older; "
    "or null",
    "tables[].rows_not_saved[][]": "as lost_rows: stretches of rows that are not in the new place",
    "tables[].save_notes[]": "what is uncertain about what was saved",
    "catalog": "with a DESIGN, in place of the tables: what its catalog has lost, or null",
    "catalog.table": "name of the table",
    "catalog.catalog": "the catalog",
    "catalog.problem": "what it lacks, or the table it lists that does not exist",
    "catalog.obstacle": "why that cannot be repaired, or null",
    "catalog.repaired": "whether it was repaired",
    "catalog.attributes": "what it must hold: generation, counts and hash of the design; null if "
    "the entry must be removed, or cannot be repaired",
    "companions[]": "of a DESIGN with companions: how each differs from the table",
    "companions[].table": "name of the companion",
    "companions[].catalog": "what its catalog has lost, as `catalog`; or null",
    "companions[].checked": "rows of both tables that were compared; null if none",
    "companions[].written": "rows that it lacked, or had with other values; or null",
    "companions[].deleted": "rows that the table lacks; or null",
    "companions[].recent": "rows that differ and are left, because their write may go on; or null",
    "companions[].missing": "whether the table of the companion was missing; or null",
    "companions[].repaired": "whether the differences were repaired; or null",
    "companions[].undeclared": "its undeclared cells, as those of the table; or null",
    **{f"companions[].{path}": meaning for path, meaning in UNDECLARED_FIELDS.items()},
    "undeclared": "of a DESIGN with companions: cells in columns that it does not declare, which "
    "companions do not have; null if no rows were compared",
    **UNDECLARED_FIELDS,
}


def build_verify_document(url: str, examinations: Iterable[VerifiedTable]) -> dict[str, Any]:
    """Return the examined tables as `rowkey verify -f json` prints them."""
    return {
        "format": FORMAT_VERSION,
        "url": url,
        "tables": [_describe_table(examination) for examination in examinations],
    }


def build_repair_document(
    url: str,
    examinations: Iterable[VerifiedTable],
    repairs: Iterable[RepairResult] = (),
    saved_tables: Iterable[SalvageResult] = (),
    target_url: str | None = None,
) -> dict[str, Any]:
    """Return the examined and repaired tables as `rowkey repair -f json` prints them.

    Args:
        url: where the tables are stored.
        examinations: the results of examining them, one for each table.
        repairs: the results of repairing tables in place.
        saved_tables: the results of saving tables elsewhere.
        target_url: where they were saved.
    """
    repaired = {one.table: one for one in repairs}
    salvages = {one.table: one for one in saved_tables}
    tables = []
    for one in examinations:
        repair, save = repaired.get(one.table), salvages.get(one.table)
        tables.append({
            **_describe_table(one),
            "repaired": repair is not None,
            "log": None if repair is None else repair.log_name or None,
            "offset": repair.offset if repair is not None and repair.log_name else None,
            "bytes_cut": None if repair is None else repair.truncated_bytes,
            "changes_lost": None if repair is None else repair.lost_change_count,
            "batches_kept": None if repair is None else repair.batch_count,
            "saved_into": None if save is None else target_url,
            "cells_saved": None if save is None else save.cell_count,
            "cells_left_out": None if save is None else save.omitted_cell_count,
            "rows_not_saved": [] if save is None else _describe_rows(save.lost_rows),
            "save_notes": [] if save is None else list(save.notes),
        })  # fmt: skip
    return {"format": FORMAT_VERSION, "url": url, "tables": tables, "catalog": None}


def _describe_table(examination: VerifiedTable) -> dict[str, Any]:
    return {
        "table": examination.table,
        "sound": examination.is_sound,
        "problems": [
            {
                "file": problem.mistake.path,
                "problem": problem.mistake.problem,
                "remedy": problem.mistake.remedy or None,
            }
            for problem in examination.problems
        ],
        "lost_rows": _describe_rows(examination.lost_rows),
        "repairable": bool(examination.problems) and not examination.needs_saving,
        "readable": examination.is_readable,
        "cells": examination.cell_count,
        "files": examination.file_count,
        "bytes": examination.size_bytes,
        "notes": examination.notes,
        "undeclared": None
        if examination.undeclared is None
        else build_undeclared_document(examination.undeclared),
        "undecodable": build_undecodable_document(examination.undecodable_rows),
    }


def _describe_rows(row_ranges: Iterable[RowInterval]) -> list[list[str | None]]:
    """Return ranges of rows as hexadecimal first and last keys; None for an open end."""
    return [[None if row is None else row.hex() for row in rows] for rows in row_ranges]


def format_examination(examination: VerifiedTable) -> Iterator[str]:
    """Yield the lines that report what is damaged in a table."""
    read = (
        f"{pluralize(examination.cell_count, 'cell')} in "
        f"{pluralize(examination.file_count, 'file')} read"
    )
    unsound = "damaged" if examination.is_damaged else "cannot be used"
    yield f"{examination.table}: {'sound' if examination.is_sound else unsound}; {read}"
    for problem in examination.problems:
        yield f"  {problem}"
    yield from _format_lost_rows(examination.lost_rows)
    for note in examination.notes:
        yield f"  note: {note}"
    if examination.undeclared is not None:
        name, undeclared = examination.table, examination.undeclared
        for line in format_undeclared_cells(name, undeclared, "no other cell is stored there"):
            yield f"  {line}"
    for line in format_undecodable_rows(examination.undecodable_rows, "not decoded"):
        yield f"  {line}"


def _format_lost_rows(row_ranges: Sequence[RowInterval]) -> Iterator[str]:
    """Yield a line for each of the first ranges that lost cells, and how many ranges follow."""
    for first, last in row_ranges[:_MAX_RANGES_PRINTED]:
        if first is None and last is None:
            yield "  any row may lack cells, or be older than it was"
            continue
        begin = "the first" if first is None else to_string_binary(first)
        end = "the last" if last is None else to_string_binary(last)
        yield f"  cells lost: rows from {begin} to {end}, both included"
    if len(row_ranges) > _MAX_RANGES_PRINTED:
        yield (
            f"  and {pluralize(len(row_ranges) - _MAX_RANGES_PRINTED, 'range')} more; -f json "
            "lists them all"
        )


def format_repair(repair: RepairResult) -> str:
    """Return the line that reports the repair of a table in place."""
    kept_batches = f"{repair.batch_count:,} batches of changes are kept"
    if repair.lost_change_count is None:
        losses = "the number of lost changes is unknown"
    else:
        losses = f"{pluralize(repair.lost_change_count, 'acknowledged change')} lost"
    if not repair.log_name:
        return f"{repair.table}: repaired; {kept_batches}, {losses}"
    return (
        f"{repair.table}: {repair.log_name} was truncated at byte {repair.offset:,}; "
        f"{kept_batches}, {losses}; {pluralize(repair.truncated_bytes, 'byte')} moved to cut/"
    )


def format_saved_table(saved_table: SalvageResult, target_url: str) -> Iterator[str]:
    """Yield the lines that report which rows of a table were saved elsewhere."""
    yield (
        f"{saved_table.table}: {pluralize(saved_table.cell_count, 'cell')} saved into {target_url}"
    )
    if saved_table.omitted_cell_count:
        left = pluralize(saved_table.omitted_cell_count, "readable cell")
        what = "of rows that are incomplete or may be older than they were"
        yield f"  {left} {what} not saved; --keep-incomplete saves them too"
    yield from _format_lost_rows(saved_table.lost_rows)
    for note in saved_table.notes:
        yield f"  note: {note}"


def build_mismatch_document(url: str, mismatch: Any) -> dict[str, Any]:
    """Return how a catalog differs from a table, as `rowkey repair DESIGN -f json` does.

    Args:
        mismatch: what is lost, repaired or not; None if nothing is.
    """
    document = _describe_mismatch(mismatch)
    return {"format": FORMAT_VERSION, "url": url, "tables": [], "catalog": document}


def build_design_repair_document(
    url: str,
    mismatch: Any,
    companion_mismatches: Mapping[str, Any],
    repairs: Iterable[Any],
) -> dict[str, Any]:
    """Return how a design's catalog and companions differ, as `rowkey repair DESIGN -f json` does.

    Args:
        mismatch: what the catalog has lost of the main table; None if nothing.
        companion_mismatches: the same of each companion, by its name.
        repairs: how the rows of each companion differed; none if they were not compared.
    """
    document = build_mismatch_document(url, mismatch)
    results = {one.companion: one for one in repairs}
    names = dict.fromkeys([*companion_mismatches, *results])
    if names:
        summaries = [one.main_undeclared for one in results.values()]
        document["undeclared"] = build_undeclared_document(summaries[0]) if summaries else None
        document["companions"] = [
            {
                "table": name,
                "catalog": _describe_mismatch(companion_mismatches.get(name)),
                **_describe_companion(results.get(name)),
            }
            for name in names
        ]
    return document


def _describe_companion(repair: Any) -> dict[str, Any]:
    """Return how the rows of a companion differed; null for each if they were not compared."""
    names = {
        "checked": "checked",
        "written": "written",
        "deleted": "deleted",
        "recent": "recent",
        "missing": "is_missing",
        "repaired": "is_repaired",
    }
    return {
        **{
            name: None if repair is None else getattr(repair, attribute)
            for name, attribute in names.items()
        },
        "undeclared": None if repair is None else build_undeclared_document(repair.undeclared),
    }


def format_companion_repairs(main: str, repairs: Sequence[Any]) -> Iterator[str]:
    """Yield how the rows of each companion differed, and the undeclared cells of all tables.

    Args:
        main: the name of the main table.
        repairs: the results of its companions.
    """
    yield from map(_format_companion_repair, repairs)
    found = {one.companion: one.undeclared for one in repairs}
    if repairs:
        found = {main: repairs[0].main_undeclared, **found}
    for table, undeclared in found.items():
        yield from format_undeclared_cells(table, undeclared, "not compared")
    if any(one.cell_count for one in found.values()):
        yield "  such cells are neither compared nor changed; each table has its own"


def _format_companion_repair(repair: Any) -> str:
    """Return how the rows of a companion differed, as a line of text."""
    counts = (
        f"{repair.checked:,} checked, {repair.written:,} written, {repair.deleted:,} deleted"
        if repair.is_repaired
        else f"{repair.checked:,} checked, {repair.written:,} to write, "
        f"{repair.deleted:,} to delete"
    )
    if repair.recent:
        counts += f", {repair.recent:,} left, changed too lately; run the command again later"
    missing = "was missing or not yet filled; " if repair.is_missing else ""
    return f"{repair.companion}: {missing}rows: {counts}"


def _describe_mismatch(mismatch: Any) -> dict[str, Any] | None:
    """Return how a catalog differs from a table as a JSON object; None if it does not."""
    if mismatch is None:
        return None
    return {
        "table": mismatch.table,
        "catalog": mismatch.catalog_url,
        "problem": mismatch.problem,
        "obstacle": mismatch.obstacle or None,
        "repaired": mismatch.is_repaired,
        "attributes": None
        if mismatch.correct_entry is None
        else mismatch.correct_entry.table_attributes,
    }
