"""The catalog `table`: rows in a table of an engine."""

from __future__ import annotations

from threading import Lock

from rowkey.catalog.catalog_entry import CatalogEntry
from rowkey.catalog.contract import CATALOG_TABLE, Catalog, check_removal, check_version
from rowkey.catalog.entry_document import format_entry, parse_entry
from rowkey.cells import LATEST, Cell, Family, RowCells
from rowkey.engines import (
    CellCondition,
    CellSelection,
    Engine,
    ScanRange,
    Store,
    TableSpec,
    open_engine,
)
from rowkey.errors import Conflict, CorruptionError, InvalidArgument

FAMILY = "d"
DOCUMENT_QUALIFIER, VERSION_QUALIFIER, NOTE_PREFIX = b"document", b"version", b"note."


class TableCatalog(Catalog):
    """One row a table in the table `rowkey.catalog` of an engine: `table:URL`.

    In a design, `catalog = "table"` means the engine that has the table itself, so that all clients
    of the table reach it. A row has the JSON document of an entry and its version, by which an
    entry is replaced only if no other client was faster. The table is created with the first entry.

    Args:
        url: the engine's, for messages.
        is_engine_owned: whether the engine is closed with the catalog.
    """

    name = "table"

    def __init__(self, engine: Engine, url: str, *, is_engine_owned: bool = True) -> None:
        self._engine, self._url, self._is_engine_owned = engine, url, is_engine_owned
        self._store: Store | None = None
        self._lock = Lock()

    @classmethod
    def open(cls, location: str) -> TableCatalog:
        """Open the catalog in a table of the engine at a URL; closing it closes the engine too."""
        if not location:
            raise InvalidArgument("catalog", "the URL 'table:' names no engine", "table:URL")
        try:
            return cls(open_engine(location), location)
        except InvalidArgument as refusal:
            raise InvalidArgument(f"table:{location}", str(refusal)) from refusal

    @classmethod
    def open_on_engine(cls, engine: Engine, url: str) -> TableCatalog:
        """Open the catalog in a table of an open engine, which stays open afterwards."""
        return cls(engine, url, is_engine_owned=False)

    def read(self, table: str) -> CatalogEntry | None:
        store = self._open_store()
        cells = [] if store is None else store.get([table.encode()])[0].cells
        values = {cell.qualifier: cell.value for cell in cells}
        if not values.get(DOCUMENT_QUALIFIER):
            return None
        where = f"{self._url}, {CATALOG_TABLE}"
        entry = parse_entry(values[DOCUMENT_QUALIFIER], table, where)
        stored = values.get(VERSION_QUALIFIER, b"")
        if stored != b"%d" % entry.version:
            what = f"the entry of table {table!r} has version {entry.version}"
            allowed = f"version {stored.decode(errors='replace')}, as its column `version` says"
            remedy = "Restore this catalog entry from a backup, or drop the table."
            raise CorruptionError(where, what, allowed, remedy)
        return entry

    def write(self, table: str, entry: CatalogEntry, expected_version: int | None) -> int:
        version = (expected_version or 0) + 1
        cells = [
            Cell(FAMILY, DOCUMENT_QUALIFIER, LATEST, format_entry(entry, table, version).encode()),
            Cell(FAMILY, VERSION_QUALIFIER, LATEST, b"%d" % version),
        ]
        expected = None if expected_version is None else b"%d" % expected_version
        store = self._open_store() or self._create_store()
        if not store.check_and_mutate(
            table.encode(), CellCondition(FAMILY, VERSION_QUALIFIER, "=", expected), cells
        ):
            stored = self.read(table)
            check_version(table, None if stored is None else stored.version, expected_version)
            what = "its catalog entry was changed and changed back during the write"
            raise Conflict(
                f"table {table}", what, remedy="Read the entry again, then repeat the change."
            )
        return version

    def remove(self, table: str, expected_version: int | None = None) -> None:
        store = self._open_store()
        cells = [] if store is None else store.get([table.encode()])[0].cells
        if store is None or not cells:
            return
        # Empty, not deleted: a delete would hide an entry written in the same millisecond.
        empty = [Cell(FAMILY, cell.qualifier, LATEST) for cell in cells]
        if expected_version is None:
            store.mutate([RowCells(table.encode(), empty)])
            return
        expected = CellCondition(FAMILY, VERSION_QUALIFIER, "=", b"%d" % expected_version)
        if not store.check_and_mutate(table.encode(), expected, empty):
            stored = self.read(table)
            check_removal(table, None if stored is None else stored.version, expected_version)

    def read_notes(self, table: str) -> dict[str, str]:
        store = self._open_store()
        cells = [] if store is None else store.get([table.encode()])[0].cells
        return {
            cell.qualifier.removeprefix(NOTE_PREFIX).decode(): cell.value.decode()
            for cell in cells
            if cell.qualifier.startswith(NOTE_PREFIX) and cell.value
        }

    def write_note(self, table: str, note_name: str, text: str | None) -> None:
        store = self._open_store() or self._create_store()
        cell = Cell(FAMILY, NOTE_PREFIX + note_name.encode(), LATEST, (text or "").encode())
        store.mutate([RowCells(table.encode(), [cell])])

    def list_tables(self) -> list[str]:
        store = self._open_store()
        if store is None:
            return []
        with store.scan([ScanRange()], CellSelection({FAMILY: (DOCUMENT_QUALIFIER,)}))[0] as cursor:
            return [row.row.decode() for row in cursor if row.cells[0].value]

    def close(self) -> None:
        """Close the engine, if it was opened by the catalog."""
        if self._is_engine_owned:
            self._engine.close()

    def _open_store(self) -> Store | None:
        """Return the catalog's own table, or None if it was not created yet."""
        with self._lock:
            if self._store is None and self._engine.has_table(CATALOG_TABLE):
                self._store = self._engine.open_table(CATALOG_TABLE)
            return self._store

    def _create_store(self) -> Store:
        """Create and return the catalog's own table, or open that of a faster client."""
        with self._lock:
            if self._store is None:
                try:
                    self._store = self._engine.create_table(
                        TableSpec(CATALOG_TABLE, (Family(FAMILY),))
                    )
                except InvalidArgument:
                    self._store = self._engine.open_table(CATALOG_TABLE)
            return self._store
