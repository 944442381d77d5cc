"""What a scan has found beyond the rows of the design, as text and as JSON documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rowkey.messages import pluralize
from rowkey.regions import to_string_binary
from rowkey.rows import UndeclaredCells, format_column

if TYPE_CHECKING:
    from rowkey.table import Scan, UndecodableRows

MAX_PRINTED_COLUMNS = 8
"""Columns that are printed; a JSON document has more."""

UNDECLARED_FIELDS = {
    "undeclared.cells": "cells in columns that the design does not declare, of rows that meet all "
    "conditions",
    "undeclared.rows": "rows that have such cells; of rows that hold several events, the events",
    "undeclared.undeclared_rows": "those of them that have no other cells: they are in no count of "
    "rows",
    "undeclared.columns[].column": "such a column in HBase's notation, such as `d:x`; the first "
    "hundred by name; where rows hold several events, without the event's part of the qualifier",
    "undeclared.columns[].cells": "cells in it",
    "undeclared.unlisted_cells": "cells in columns that are not listed",
    "undeclared.sample[].row_key": "the row key of one of the first cells",
    "undeclared.sample[].column": "its column in HBase's notation, with the whole qualifier",
    "undeclared.sample[].value": "its first 64 bytes, in hexadecimal",
}
UNDECODABLE_FIELDS = {
    "undecodable.rows": "rows whose key or values cannot be decoded; left out by "
    "--skip-undecodable",
    "undecodable.sample[].row_key": "the row key of one of the first of them",
    "undecodable.sample[].reason": "why it cannot be decoded",
}


def build_undeclared_document(undeclared: UndeclaredCells) -> dict[str, Any]:
    """Return a summary of undeclared cells as a JSON object."""
    return {
        "cells": undeclared.cell_count,
        "rows": undeclared.row_count,
        "undeclared_rows": undeclared.undeclared_row_count,
        "columns": [
            {"column": column, "cells": count} for column, count in undeclared.column_counts.items()
        ],
        "unlisted_cells": undeclared.unlisted_cell_count,
        "sample": [
            {
                "row_key": one.row_key.hex(),
                "column": format_column(one.cell.family, one.cell.qualifier),
                "value": one.cell.value.hex(),
            }
            for one in undeclared.samples
        ],
    }


def build_undecodable_document(undecodable: UndecodableRows) -> dict[str, Any]:
    """Return a summary of rows that were left out as a JSON object."""
    return {
        "rows": undecodable.row_count,
        "sample": [
            {"row_key": one.row_key.hex(), "reason": one.reason} for one in undecodable.samples
        ],
    }


def format_scan_notes(scan: Scan, *, outcome: str) -> Iterator[str]:
    """Yield sentences on what a scan has found beyond the rows of the design.

    Args:
        scan: a scan that was read.
        outcome: what happened to rows of undeclared cells alone, such as `not counted`.
    """
    yield from format_undeclared_cells(scan.design.table, scan.undeclared_cells, outcome)
    yield from format_undecodable_rows(scan.undecodable_rows)


def format_undecodable_rows(
    undecodable: UndecodableRows, outcome: str = "left out"
) -> Iterator[str]:
    """Yield sentences on rows that cannot be decoded; none if there are none.

    Args:
        outcome: what happened to them.
    """
    if not undecodable.row_count:
        return
    keys = ", ".join(to_string_binary(one.row_key) for one in undecodable.samples)
    keys += ", …" if undecodable.row_count > len(undecodable.samples) else ""
    rows = pluralize(undecodable.row_count, "row")
    yield f"{rows} {outcome}, because rowkey cannot decode their keys or values: {keys}"
    yield f"  {undecodable.samples[0].reason}"


def format_undeclared_cells(table: str, undeclared: UndeclaredCells, outcome: str) -> Iterator[str]:
    """Yield sentences on the undeclared cells of a table; none if it has none.

    Args:
        outcome: as for `format_scan_notes`.
    """
    if not undeclared.cell_count:
        return
    counts = list(undeclared.column_counts.items())
    columns = ", ".join(f"{count:,} in {name}" for name, count in counts[:MAX_PRINTED_COLUMNS])
    rest = undeclared.cell_count - sum(count for _, count in counts[:MAX_PRINTED_COLUMNS])
    columns += f", {rest:,} in others" if rest else ""
    yield (
        f"{table} has {pluralize(undeclared.cell_count, 'cell')} in columns that its design does "
        f"not declare, in {pluralize(undeclared.row_count, 'row')}: {columns}"
    )
    if count := undeclared.undeclared_row_count:
        yield f"  {pluralize(count, 'row')} with such cells only: {outcome}"
    sample = undeclared.samples[0]
    column = format_column(sample.cell.family, sample.cell.qualifier)
    yield (
        f"  such as {column} of row key {to_string_binary(sample.row_key)}; rowkey scan "
        "--undeclared shows them"
    )
