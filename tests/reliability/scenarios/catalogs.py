"""Catalogs in a table and in ZooKeeper, and the notes of a catalog."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar

from catalog.zookeepers import ZooKeeper
from reliability.scenarios.contract import ReadAsStored, Scenario, StoredObject
from reliability.scenarios.embedded_table import EmbeddedTable, OpenTable, fork, write_table
from rowkey.catalog import CATALOG_TABLE, open_catalog
from rowkey.catalog.stores.table import DOCUMENT_QUALIFIER, FAMILY
from rowkey.cells import LATEST, Cell, RowCells
from rowkey.engines import open_engine
from rowkey.zookeeper import ZnodeChange, ZooKeeperSession

ROOTS = {"own": "/matrix", "other": "/matrix-of-another"}
NODE = "/tables/t"
READ_S = 20.0


class StoredEntry(EmbeddedTable):
    """A table whose catalog entry is a file of the place that `open` puts into the catalog."""

    states: ClassVar[tuple[str, ...]] = ("closed",)
    calls: ClassVar[tuple[str, ...]] = (
        "get",
        "scan",
        "put",
        "increment",
        "check and put",
        "open again",
    )
    recoveries: ClassVar[tuple[str, ...]] = ()
    extra_calls: ClassVar[tuple[str, ...]] = ()
    can_repair = False

    def get_catalog(self, text: str) -> str:
        """Return the URL of the catalog of the table with some values."""
        raise NotImplementedError

    def build(self, folder: Path) -> None:
        """Write two tables, and store the entry of each as a file."""
        for text, name in (("own", "closed"), ("other", "closed.other")):
            catalog = self.get_catalog(text)
            fork(lambda: write_table(folder / name, text, catalog=catalog))  # noqa: B023
        for place in sorted(folder.glob("closed*"), reverse=True):
            text = "other" if "other" in place.name else "own"
            fork(lambda: self._store_entry(place, text))  # noqa: B023 - it runs at once

    def _store_entry(self, place: Path, text: str) -> None:
        """Store the entry as a file; that of a place of now is written once more before."""
        with open_engine(f"rocks:{place}") as engine:
            if "." not in place.name:
                url = self.get_catalog(text)
                with closing(open_catalog(url, engine, f"rocks:{place}")) as catalog:
                    entry = catalog.read("t")
                    assert entry is not None
                    catalog.write("t", entry, entry.version)
            (place / "entry").write_bytes(self.read_document(engine, text))

    def open(self, place: Path) -> OpenTable:
        """Put the entry of the place into the catalog, and open the table."""
        file = place / "entry"
        with open_engine(f"rocks:{place}") as engine:
            self.write_document(engine, file.read_bytes() if file.is_file() else b"")
        return OpenTable(place, self.get_rows(), catalog=self.get_catalog("own"))

    def read_document(self, engine: Any, text: str) -> bytes:
        """Return the stored entry."""
        raise NotImplementedError

    def write_document(self, engine: Any, document: bytes) -> None:
        """Replace the stored entry; an empty one is removed."""
        raise NotImplementedError

    def list_names(self, place: Path, path: Path) -> list[str]:
        """Return the texts of which an error has at least one."""
        return [str(place), "table t", CATALOG_TABLE, NODE]


class EntryInTable(StoredEntry):
    """A catalog entry in the table `rowkey.catalog` of the same engine."""

    def get_catalog(self, text: str) -> str:
        """Return the catalog in a table of the engine."""
        del text
        return "table"

    def read_document(self, engine: Any, text: str) -> bytes:
        """Return the stored entry."""
        del text
        (row,) = engine.open_table(CATALOG_TABLE).get([b"t"])
        cells = {cell.qualifier: cell.value for cell in row.cells}
        return bytes(cells[DOCUMENT_QUALIFIER])

    def write_document(self, engine: Any, document: bytes) -> None:
        """Replace the stored entry."""
        cell = Cell(FAMILY, DOCUMENT_QUALIFIER, LATEST, document)
        engine.open_table(CATALOG_TABLE).mutate([RowCells(b"t", [cell])])


class EntryInZooKeeper(StoredEntry):
    """A catalog entry in a znode."""

    server: ClassVar[ZooKeeper]

    @classmethod
    def start_server(cls) -> AbstractContextManager[object]:
        """Start a ZooKeeper."""
        cls.server = ZooKeeper()
        return cls.server

    def get_catalog(self, text: str) -> str:
        """Return the catalog in the znode."""
        return self.server.url(ROOTS[text])

    def read_document(self, engine: Any, text: str) -> bytes:
        """Return the content of the znode."""
        del engine
        with self._open_session() as session:
            (node,) = session.read_znodes((ROOTS[text] + NODE,), monotonic() + READ_S)
            assert node is not None
            return node.data

    def write_document(self, engine: Any, document: bytes) -> None:
        """Replace the content of the znode."""
        del engine
        path = ROOTS["own"] + NODE
        with self._open_session() as session:
            (node,) = session.read_znodes((path,), monotonic() + READ_S)
            if not document:
                steps = [] if node is None else [ZnodeChange("delete", path)]
            else:
                steps = [ZnodeChange("create" if node is None else "set", path, document)]
            if steps:
                session.change_znodes(steps, monotonic() + READ_S)

    @contextmanager
    def _open_session(self) -> Iterator[ZooKeeperSession]:
        session = ZooKeeperSession.acquire(self.server.hosts)
        try:
            yield session
        finally:
            session.release()


class Notes(Scenario):
    """The notes of a table in a catalog of files, such as how far a load has come."""

    calls: ClassVar[tuple[str, ...]] = ("read", "write", "read again")

    def build(self, folder: Path) -> None:
        """Write the notes of a table, earlier ones, and those of another table."""
        for name, table, row in (
            ("closed.earlier", "t", 1),
            ("closed", "t", 2),
            ("closed.other", "u", 9),
        ):
            with closing(open_catalog(f"file:{folder / name}")) as catalog:
                catalog.write_note(table, "load", json.dumps({"row": row}))
                catalog.write_note(table, "move.history", json.dumps({"steps": [row] * 40}))
            (folder / name / f"{table}.notes").rename(folder / name / "t.notes")

    def open(self, place: Path) -> Any:
        """Open the catalog."""
        return open_catalog(f"file:{place}")

    def run(self, session: Any, call: str) -> str:
        """Read or write a note."""
        if call == "write":
            session.write_note("t", "new", "text")
            return ""
        notes = session.read_notes("t")
        if not notes:
            return ""  # a load begins again
        found = json.loads(notes.get("load", "{}")).get("row")
        if found == 1:
            raise ReadAsStored
        if call == "read again" and notes.get("new") != "text":
            return "the new note is missing"
        return "" if found in (2, None) else f"row {found} instead of row 2"

    def check(self, place: Path, call: str, *, is_acknowledged: bool) -> str:
        """Read the notes."""
        with closing(self.open(place)) as catalog:
            notes = catalog.read_notes("t")
        if json.loads(notes["load"]) != {"row": 2}:
            return f"the notes are {notes}"
        if call == "write" and is_acknowledged and notes.get("new") != "text":
            return "the new note is missing"
        return ""


_SERVER = (
    "no-file",
    "read-error",
    "write-error",
    "no-space",
    "sync-error",
    "rename-error",
    "crash",
)
OBJECTS = (
    StoredObject(
        "catalog-table", "catalog entry in a table", EntryInTable, ("entry",),
        ("rowkey.catalog/*",), ("no-file",), weight=0.5,
    ),
    StoredObject(
        "catalog-zookeeper", "catalog entry in ZooKeeper", EntryInZooKeeper, ("entry",), (),
        _SERVER,
        "Outages of ZooKeeper are tried by other tests.",
    ),
    StoredObject(
        "catalog-notes", "notes in a catalog of files", Notes, ("t.notes",),
        ("t.notes", "catalog.new"), (),
        "With earlier notes a load goes on at an earlier row, and puts the rows after it again.",
    ),
)  # fmt: skip
