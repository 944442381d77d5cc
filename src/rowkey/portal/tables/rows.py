"""Rows of a stored table: pages of those that meet conditions, and the cells of one row."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import Any, TextIO
from urllib.parse import urlencode

from rowkey.array_libraries import pa
from rowkey.cells import Cell
from rowkey.errors import InvalidArgument, ReadError
from rowkey.json_objects import build_object
from rowkey.keys import Field
from rowkey.portal.links import build_path
from rowkey.portal.tables.bounded_reads import BoundedReader, ReadLimits
from rowkey.render import (
    FORMAT_VERSION,
    CsvEncoder,
    build_displayed_row,
    build_row_document,
    build_undeclared_document,
    build_undecodable_document,
)
from rowkey.rows import CellSlot, UndeclaredCells, format_column
from rowkey.table import Scan, Table, UndecodableRows

MAX_PAGE_ROWS = 1_000
"""The most rows of a page."""
MAX_EXPORTED_ROWS = 100_000
"""The most rows of an export, which is written to a temporary file before it is sent."""
MAX_SHOWN_CELLS = 500
"""Cells of a row that its page shows; the document has all."""
PAGE_LIMITS = ReadLimits(10.0, 64 << 20)
"""What a page of rows may read; then it shows what was found so far."""
EXPORT_LIMITS = ReadLimits(60.0, 256 << 20)
"""What an export may read; one that would need more is refused."""
MAX_SHOWN_KEYS = 4
"""Row keys that are shown of a row; under a salt it may be stored under many."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class RowQuery:
    """Which rows of a table are read.

    Args:
        where: conditions as in the reads of a design, such as `host = 'web-1' and ts > 5`.
        order: fields, each with `desc` if it descends.
        limit: the most rows of a page.
        resume: the token of the page before; empty for the first.
    """

    table: str
    where: str = ""
    order: str = ""
    limit: int = 50
    resume: str = ""

    @classmethod
    def parse(cls, table: str, query: Mapping[str, str]) -> RowQuery:
        """Return the rows that the query of a URL asks for.

        Raises:
            InvalidArgument: `limit` is not a number of rows.
        """
        limit = query.get("limit") or "50"
        is_number = limit.isascii() and limit.isdecimal() and len(limit) < 9
        if not is_number or not 1 <= int(limit) <= MAX_PAGE_ROWS:
            what = f"{limit[:40]!r} is not a number of rows"
            raise InvalidArgument("limit", what, f"1..{MAX_PAGE_ROWS}")
        return cls(
            table,
            query.get("where", "").strip(),
            query.get("order", "").strip(),
            int(limit),
            query.get("resume", ""),
        )

    def build_link(self, *steps: str, resume: str = "") -> str:
        """Return the path of a page of the same rows.

        Args:
            steps: the steps of its path below the table.
            resume: the token of the page before.
        """
        values: dict[str, Any] = {"where": self.where, "order": self.order, "limit": self.limit}
        given = {name: value for name, value in {**values, "resume": resume}.items() if value}
        return build_path("tables", self.table, *steps, query=urlencode(given))

    def build_scan(
        self, table: Table, limit: int, limits: ReadLimits, is_abandoned: Event | None = None
    ) -> Scan:
        """Return the scan of the rows, which stops at the limits.

        Args:
            limit: the most rows.
            limits: what it may read.
            is_abandoned: set once nobody waits for the rows any more.

        Raises:
            ReadError: with every mistake in the conditions and the order.
        """
        scan = table.scan(self.where, order=self.order, limit=limit, resume=self.resume or None)
        reader = BoundedReader(scan.reader, limits)
        abandoned = is_abandoned or Event()
        scan.reader = reader
        scan.should_stop = lambda: abandoned.is_set() or reader.is_at_limit
        return scan


@dataclass(frozen=True, slots=True)
class RowPage:
    """A page of rows.

    Args:
        fields: the names of the fields, in the order of the design.
        rows: the values of each row as `rowkey scan -f json` prints them.
        displayed_rows: the same with times in ISO 8601.
        identities: of each row the fields that it is found by, as JSON.
        token: continues after the last row; empty if there may be no more.
        is_cut: whether there may be more rows that no token leads to.
        is_stopped: whether the time was over before all rows were looked at.
        undeclared: the undeclared cells that were met, of the companion if one serves the read;
            none are counted where several events share a row and the table has several families.
        undecodable: the rows that were met and left out because they cannot be decoded.
    """

    fields: Sequence[str]
    rows: Sequence[Mapping[str, Any]]
    displayed_rows: Sequence[Mapping[str, Any]]
    identities: Sequence[str]
    token: str
    is_cut: bool
    is_stopped: bool = False
    undeclared: UndeclaredCells = field(default_factory=UndeclaredCells)
    undecodable: UndecodableRows = field(default_factory=UndecodableRows)

    def build_document(self, table: str) -> dict[str, Any]:
        """Return the page for programs: `rows` as `rowkey scan -f json` prints them, and `next`.

        If it is `stopped`, some rows were not looked at: those that `next` leads to, or any if that
        is null. `undeclared` and `undecodable` are as in the document of `rowkey count`.
        """
        document = {"format": FORMAT_VERSION, "table": table, "rows": list(self.rows)}
        return {
            **document,
            "next": self.token or None,
            "stopped": self.is_stopped,
            "undeclared": build_undeclared_document(self.undeclared),
            "undecodable": build_undecodable_document(self.undecodable),
        }


def read_page(table: Table, query: RowQuery, is_abandoned: Event | None = None) -> RowPage:
    """Return a page of the rows of a table; what is found within `PAGE_LIMITS` if there are many.

    Args:
        is_abandoned: set once nobody waits for them any more.

    Raises:
        ReadError: with every mistake in the conditions and the order, or too much is to be read.
    """
    scan = query.build_scan(table, query.limit, PAGE_LIMITS, is_abandoned)
    scan.skips_undecodable = True
    families, _ = table.store.families_and_attributes
    # Else a row that many events share would be in memory as a whole.
    if len(families) == 1 or not scan.design.layout.has_shared_rows:
        scan.count_undeclared()
    fields, names = scan.design.fields, table.writer.identity_fields
    found = [{name: row.get(name) for name in fields} for row in scan]
    rows = [build_row_document(row) for row in found]
    is_full = len(rows) == query.limit
    # Of sorted rows, even the first may be among those that were not looked at.
    is_stopped = scan.was_stopped and (scan.needs_sort or not is_full)
    token = (scan.token or "") if is_full or is_stopped else ""
    return RowPage(
        fields=list(fields),
        rows=rows,
        displayed_rows=[build_displayed_row(row, fields) for row in found],
        identities=[json.dumps({name: row[name] for name in names}) for row in rows],
        token=token,
        is_cut=is_full and not token and not is_stopped,
        is_stopped=is_stopped,
        undeclared=scan.undeclared_cells,
        undecodable=scan.undecodable_rows,
    )


def write_csv(
    table: Table, query: RowQuery, out: TextIO, is_abandoned: Event | None = None
) -> None:
    """Write the rows as CSV for a spreadsheet, at most `MAX_EXPORTED_ROWS`.

    Args:
        is_abandoned: set once nobody waits for them any more.

    Raises:
        ReadError: with every mistake in the conditions and the order; or it takes too long.
        InvalidArgument: the only column has a null.
    """
    scan = query.build_scan(table, MAX_EXPORTED_ROWS, EXPORT_LIMITS, is_abandoned)
    fields = scan.design.fields
    text_columns = [
        name for name, field in fields.items() if field.type.build_arrow_type() == pa.string()
    ]
    encoder = CsvEncoder(list(fields), text_columns, guards_formulas=True, escapes_controls=False)
    rows = ({name: row.get(name) for name in fields} for row in scan)
    out.writelines(encoder.encode_lines(build_displayed_row(row, fields) for row in rows))
    if scan.was_stopped:
        what = (
            f"the rows are not found within {EXPORT_LIMITS.time_s:g} s and "
            f"{EXPORT_LIMITS.size_bytes:,} bytes"
        )
        remedy = "Use conditions that the row key begins with, or rowkey scan."
        raise ReadError("export of the rows", what, remedy=remedy)


@dataclass(frozen=True, slots=True)
class StoredCell:
    """A cell of a row, decoded.

    Args:
        values: the values of its fields; None if it is no value of the design.
        is_declared: whether the design declares its column.
    """

    cell: Cell
    values: Mapping[str, Any] | None
    is_declared: bool

    @property
    def column(self) -> str:
        """The column, as HBase's shell writes it."""
        return format_column(self.cell.family, self.cell.qualifier)

    @property
    def type_name(self) -> str:
        """What the cell does: a put, or one of the deletes."""
        return self.cell.cell_type.name.lower().replace("_", " ")

    @property
    def time(self) -> str:
        """The timestamp in ISO 8601; milliseconds since 1970 if it is beyond the year 9999."""
        try:
            moment = _EPOCH + timedelta(milliseconds=self.cell.timestamp)
        except OverflowError:
            return str(self.cell.timestamp)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class RowHistory:
    """One row with its cells.

    Args:
        values: the values of its fields with times in ISO 8601; None if it is deleted or missing.
        cells: all its stored cells, also deletes and older versions.
        keys: the first row keys that it may be stored under, in hexadecimal.
    """

    values: Mapping[str, Any] | None
    cells: Sequence[StoredCell]
    keys: Sequence[str]

    def build_document(self, table: str) -> dict[str, Any]:
        """Return the row for programs."""
        cells = [
            {
                "column": one.column,
                "timestamp": one.cell.timestamp,
                "type": one.type_name,
                "values": None if one.values is None else dict(one.values),
                "bytes": one.cell.value.hex(),
            }
            for one in self.cells
        ]
        return {"format": FORMAT_VERSION, "table": table, "row": self.values, "cells": cells}


def parse_identity(text: str, fields: Mapping[str, Field]) -> dict[str, Any]:
    """Return the values that a row is found by, from the JSON of a link.

    Raises:
        ReadError: the text is no such JSON.
        RowError: a value does not fit its field.
    """
    try:
        values = json.loads(text, parse_float=str, object_pairs_hook=build_object)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict) or not values.keys() <= fields.keys():
        raise ReadError("row", "the link does not name a row", f"JSON with {', '.join(fields)}")
    return {
        name: fields[name].parse(value)
        if isinstance(value, str)
        else _normalize(fields[name], value)
        for name, value in values.items()
    }


def _normalize(field: Field, value: Any) -> Any:
    """Return a value of JSON as the field has it; null stays null."""
    return None if value is None else field.normalize(value)


def read_history(table: Table, text: str) -> RowHistory:
    """Return one row with all its cells, and the first `MAX_SHOWN_KEYS` of its row keys.

    Args:
        text: the fields that the row is found by, as JSON.

    Raises:
        ReadError: as for `parse_identity`.
        RowError: a value does not fit its field, or one is missing.
    """
    design, names = table.design, table.writer.identity_fields
    identity = parse_identity(text, {name: design.fields[name] for name in names})
    state = table.get_state()
    (cells,) = state.getter.get_cells([identity], raw=True)
    row = table.get(identity)
    slots = {(slot.family, slot.qualifier): slot for slot in design.layout.slots}
    keys = state.writer.encode_row_keys(identity)[:MAX_SHOWN_KEYS]
    return RowHistory(
        values=None if row is None else build_displayed_row(row, design.fields),
        cells=[
            StoredCell(one, _decode_cell(slot, one, design.fields), slot is not None)
            for one in cells
            for slot in (slots.get((one.family, one.qualifier)),)
        ],
        keys=[key.hex() for key in keys],
    )


def _decode_cell(
    slot: CellSlot | None, cell: Cell, fields: Mapping[str, Field]
) -> dict[str, Any] | None:
    """Return the values of the fields that a cell holds; None if they cannot be decoded."""
    if slot is None:
        return None
    values: dict[str, Any] = {}
    if cell.value:
        try:
            slot.compile_reader()(cell.value, values)
        except InvalidArgument:
            return None
    return build_displayed_row(values, {name: fields[name] for name in values})
