"""The catalog `table`."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from rowkey.catalog.contract import CATALOG_TABLE, Catalog, check_removed, check_version
from rowkey.catalog.document import entry_of, text_of
from rowkey.cells import LATEST, Cell, Family, RowCells
from rowkey.engines import Ask, Check, Span, TableSpec, open_engine
from rowkey.errors import Refused, Unsupported

if TYPE_CHECKING:
    from rowkey.catalog.entry import Entry
    from rowkey.engines import Engine, Store

FAMILY = "d"
DOCUMENT, VERSION, NOTE = b"document", b"version", b"note."


class Table(Catalog):
    """One row a table in the table `rowkey.catalog` of an engine: `table:URL`.

    In a design, `catalog = "table"` means the engine that has the table itself: whoever reaches
    that reaches it. A row holds the JSON document of an entry and its version, by which an entry is
    replaced only if nobody was faster. The table is made with the first entry.

    Args:
        engine: where the table lives.
        url: the engine's, for messages.
        is_own: whether the engine is closed with the catalog.
    """

    name = "table"

    def __init__(self, engine: Engine, url: str, *, is_own: bool = True) -> None:
        self._engine, self._url, self._is_own = engine, url, is_own
        self._store: Store | None = None
        self._lock = Lock()

    @classmethod
    def open(cls, where: str) -> Table:
        if not where:
            raise Unsupported("table:", "no engine is named", "table:URL")
        try:
            return cls(open_engine(where), where)
        except Refused as refusal:
            raise Unsupported(f"table:{where}", str(refusal)) from refusal

    @classmethod
    def beside(cls, engine: Engine, url: str) -> Table:
        return cls(engine, url, is_own=False)

    def read(self, table: str) -> Entry | None:
        found = self._found(table)
        return None if found is None else entry_of(found, table, f"{self._url}, {CATALOG_TABLE}")

    def write(self, table: str, entry: Entry, expected: int | None) -> int:
        version = (expected or 0) + 1
        cells = [
            Cell(FAMILY, DOCUMENT, LATEST, text_of(entry, table, version).encode()),
            Cell(FAMILY, VERSION, LATEST, b"%d" % version),
        ]
        held = None if expected is None else b"%d" % expected
        store = self._opened() or self._made()
        if not store.check_and_mutate(table.encode(), Check(FAMILY, VERSION, "=", held), cells):
            found = self.read(table)
            check_version(table, None if found is None else found.version, expected)
            # It was changed twice meanwhile, and is again what it was.
            check_version(table, None, expected or version)
        return version

    def remove(self, table: str, expected: int | None = None) -> None:
        store = self._opened()
        cells = [] if store is None else store.get([table.encode()])[0].cells
        if store is None or not cells:
            return
        # Empty, not deleted: a delete would hide an entry written in the same millisecond.
        empty = [Cell(FAMILY, cell.qualifier, LATEST) for cell in cells]
        if expected is None:
            store.mutate([RowCells(table.encode(), empty)])
            return
        seen = Check(FAMILY, VERSION, "=", b"%d" % expected)
        if not store.check_and_mutate(table.encode(), seen, empty):
            found = self.read(table)
            check_removed(table, None if found is None else found.version, expected)

    def notes(self, table: str) -> dict[str, str]:
        store = self._opened()
        cells = [] if store is None else store.get([table.encode()])[0].cells
        return {
            cell.qualifier.removeprefix(NOTE).decode(): cell.value.decode()
            for cell in cells
            if cell.qualifier.startswith(NOTE) and cell.value
        }

    def note(self, table: str, word: str, text: str | None) -> None:
        store = self._opened() or self._made()
        cell = Cell(FAMILY, NOTE + word.encode(), LATEST, (text or "").encode())
        store.mutate([RowCells(table.encode(), [cell])])

    def tables(self) -> list[str]:
        store = self._opened()
        if store is None:
            return []
        with store.scan([Span()], Ask({FAMILY: (DOCUMENT,)}))[0] as cursor:
            return [row.row.decode() for row in cursor if row.cells[0].value]

    def close(self) -> None:
        if self._is_own:
            self._engine.close()

    def _found(self, table: str) -> bytes | None:
        """The document of a table, if there is one."""
        store = self._opened()
        cells = [] if store is None else store.get([table.encode()])[0].cells
        return next((cell.value for cell in cells if cell.qualifier == DOCUMENT), None) or None

    def _opened(self) -> Store | None:
        """The catalog's own table, if it was made."""
        with self._lock:
            if self._store is None and self._engine.has(CATALOG_TABLE):
                self._store = self._engine.table(CATALOG_TABLE)
            return self._store

    def _made(self) -> Store:
        """The catalog's own table, made now; somebody else may be faster."""
        with self._lock:
            if self._store is None:
                try:
                    self._store = self._engine.create(TableSpec(CATALOG_TABLE, (Family(FAMILY),)))
                except Refused:
                    self._store = self._engine.table(CATALOG_TABLE)
            return self._store
