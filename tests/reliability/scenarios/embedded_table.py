"""Tables of the embedded engine: the files of RocksDB, of rowkey and of the catalog."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import rowkey
from reliability.scenarios.contract import REFUSED, Scenario, StoredObject
from rowkey.catalog import open_catalog
from rowkey.engines.rocksdb_files.descriptor import (
    STATE_CREATING,
    read_descriptor,
    write_descriptor,
)
from rowkey.engines.rocksdb_salvage.examination import is_lost
from rowkey.errors import CorruptionError, RowkeyError
from rowkey.table import drop_table, repair_catalog, repair_tables, save_tables, verify_tables

if TYPE_CHECKING:
    from reliability.scenarios.contract import FailingCalls
    from rowkey.engines import Examination, SalvageResult

Row = dict[str, Any]
Allowed = dict[int, list[Row | None]]
"""By id, the states that a row may have; None is no row."""

DESIGN = rowkey.Design(
    "t",
    "[bucket(id, 4)][id]",
    fields={"id": "u32", "v": "text", "n": {"type": "i64", "nullable": True}},
    families={"d": {"block_size": 2_048}},
    splits="per_bucket",
)
FIRST_MS = 1_700_000_000_000
COUNTER_ID, CONDITION_ID, NEW_ID = 57, 58, 500
"""The rows that are incremented, put on a condition, and put."""
AMOUNT = 3
"""What increments add."""


def make_row(number: int, text: str = "value") -> Row:
    """Return the row of a number."""
    return {
        "id": number,
        "v": f"{text} {number:06} " + "x" * (number % 23),
        "n": number % 5 or None,
    }


def list_steps(text: str = "own") -> Iterator[tuple[str, Any]]:
    """Yield the steps of a table's history: each changes a row or files, or copies the place.

    Args:
        text: the values of the table begin with it.
    """

    def put(numbers: Iterable[int], word: str = "value") -> Iterator[tuple[str, Any]]:
        return (("put", make_row(number, f"{text} {word}")) for number in numbers)

    def delete(numbers: Iterable[int]) -> Iterator[tuple[str, Any]]:
        return (("delete", number) for number in numbers)

    yield from put(range(80))
    yield "flush", None
    yield from put(range(40, 44), "older")
    yield "copy", "earlier"
    yield "open again", None  # CURRENT names another MANIFEST then
    yield from put(range(10), "second")
    yield from delete(range(10, 15))
    yield "compact", None
    yield from put(range(80, 100))
    yield from delete(range(15, 18))
    yield from put(range(20, 25), "second")
    yield "flush", None
    yield from put(range(25, 28), "third")
    yield "copy", "earlier-2"
    yield from put(range(100, 120))
    yield from put(range(5), "third")
    yield from delete(range(30, 34))
    yield "increment", COUNTER_ID
    yield "increment", COUNTER_ID


def write_table(place: Path, text: str, *, is_killed: bool = False, **options: Any) -> None:
    """Create a table, take all steps, and copy the place where a step says so.

    Args:
        place: where the engine is.
        text: the values of the table begin with it.
        is_killed: whether the process is killed at the end.
        options: of `rowkey.open`.
    """
    ticks = count(FIRST_MS)
    options["clock"] = lambda: next(ticks)
    table = rowkey.open(DESIGN, f"rocks:{place}", **options)
    for step, what in list_steps(text):
        match step:
            case "put":
                table.put(what)
            case "delete":
                table.delete(id=what)
            case "increment":
                table.increment({"id": what}, n=AMOUNT)
            case "copy":
                into = place.with_name(f"{place.name}.{what}")
                shutil.copytree(place, into, copy_function=copy_if_present)
            case "open again":
                table.close()
                table = rowkey.open(DESIGN, f"rocks:{place}", **options)
            case _:
                getattr(table, step)()
    if is_killed:
        os.kill(os.getpid(), signal.SIGKILL)
    table.close()


def copy_if_present(source: str, target: str) -> None:
    """Copy a file, unless RocksDB has removed it since the folder was listed."""
    with suppress(FileNotFoundError):
        shutil.copyfile(source, target)


@cache
def compute_states() -> Allowed:
    """Return the states that each row has had since the last flush, by id, the newest last."""
    states: Allowed = {}
    for step, what in list_steps():
        number = what["id"] if step == "put" else what
        if step == "flush":
            states = {number: [row] for number, (*_, row) in states.items() if row is not None}
        elif step in ("put", "delete", "increment"):
            before = states.setdefault(number, [None])
            new = what if step == "put" else None
            if step == "increment":
                last = before[-1] or {}
                new = {**last, "n": last["n"] + AMOUNT}
            before.append(new)
    return states


@cache
def compute_rows() -> Allowed:
    """Return the one state that each row has at the end, by id."""
    return {number: [row] for number, (*_, row) in compute_states().items()}


def describe_difference(rows: Iterable[Row], allowed: Allowed) -> str:
    """Return how rows differ from those that are allowed; an empty text if they do not."""
    listed = list(rows)
    found = {row["id"]: row for row in listed}
    if len(found) < len(listed):
        return f"{len(listed) - len(found)} rows came twice"
    for number in found.keys() | allowed.keys():
        states = allowed.get(number, [None])
        if found.get(number) not in states:
            return f"row {number} is {found.get(number)}, expected one of {states}"[:300]
    return ""


class OpenTable:
    """A table of a place, and the states that its rows may have."""

    def __init__(self, place: Path, allowed: Allowed, **options: Any) -> None:
        self.place, self.allowed, self._options = place, dict(allowed), options
        self.table = rowkey.open(DESIGN, f"rocks:{place}", create=False, **options)

    def close(self) -> None:
        """Close the table."""
        self.table.close()

    def reopen(self) -> None:
        """Close the table and open it again."""
        self.table.close()
        self.table = rowkey.open(DESIGN, f"rocks:{self.place}", create=False, **self._options)

    def find_row(self, number: int) -> Row | None:
        """Return the row that was acknowledged."""
        return self.allowed.get(number, [None])[-1]

    def change(self, number: int, new: Row | None, call: Any) -> Any:
        """Change a row; a change that is refused may have happened or not.

        Args:
            number: of the row.
            new: what it is afterwards.
            call: changes it.
        """
        before = self.allowed.get(number, [None])
        self.allowed[number] = [*before, new]
        answer = call()
        self.allowed[number] = [new]
        return answer


def fork(run: Callable[[], object]) -> None:
    """Run a function in a process of its own, since one that has used RocksDB cannot fork."""
    process = os.fork()
    if process == 0:
        try:
            run()
        except BaseException:  # noqa: BLE001 - the parent fails
            os._exit(1)
        os._exit(0)
    status = os.waitpid(process, 0)[1]
    assert status in (0, signal.SIGKILL), status


class EmbeddedTable(Scenario):
    """A table that was closed, and one whose process was killed with changes in its log."""

    states: ClassVar[tuple[str, ...]] = ("closed", "killed")
    calls: ClassVar[tuple[str, ...]] = (
        "get", "scan", "count", "dump", "put", "increment", "check and put", "delete", "flush",
        "compact", "open again",
    )  # fmt: skip
    recoveries: ClassVar[tuple[str, ...]] = ("verify", "repair --into", "repair")
    extra_calls: ClassVar[tuple[str, ...]] = ("create",)
    can_repair = True

    def __init__(self) -> None:
        self._examined: dict[Path, list[Examination]] = {}
        """What was found in each place that was verified."""

    def get_rows(self) -> Allowed:
        """Return the rows that were acknowledged."""
        return compute_rows()

    def build(self, folder: Path) -> None:
        """Write the tables, each in a process of its own."""
        for state in self.states:
            for text, name in (("own", state), ("other", f"{state}.other")):
                fork(partial(write_table, folder / name, text, is_killed=state == "killed"))

    def open(self, place: Path) -> OpenTable:
        """Open the table."""
        return OpenTable(place, self.get_rows())

    def run(self, session: OpenTable, call: str) -> str:
        """Read or change rows, and compare the answer with what was acknowledged."""
        table, allowed = session.table, session.allowed
        numbers = sorted(number for number, (*_, row) in allowed.items() if row is not None)
        match call:
            case "get":
                found = table.get_many([{"id": number} for number in [*allowed, 9_999]])
                return describe_difference(filter(None, found), allowed)
            case "scan":
                return describe_difference(table.scan(), allowed)
            case "count":
                number = table.count()
                return "" if number == len(numbers) else f"{number} rows of {len(numbers)}"
            case "dump":
                batches = table.scan().batches(50)
                return describe_difference(
                    (row for batch in batches for row in batch.to_pylist()), allowed
                )
            case "flush" | "compact":
                getattr(table, call)()
                return ""
            case "open again":
                session.reopen()
                return describe_difference(session.table.scan(), session.allowed)
        return self._change_row(session, call)

    def _change_row(self, session: OpenTable, call: str) -> str:
        """Change a row, and return what is wrong with the answer."""
        table = session.table
        match call:
            case "put":
                new = make_row(NEW_ID, "new")
                session.change(NEW_ID, new, lambda: table.put(new))
            case "delete":
                session.change(60, None, lambda: table.delete(id=60))
            case "increment":
                row = session.find_row(COUNTER_ID) or make_row(COUNTER_ID)
                new = {**row, "n": row["n"] + AMOUNT}
                increment = partial(table.increment, {"id": COUNTER_ID}, n=AMOUNT)
                answer = session.change(COUNTER_ID, new, increment)["n"]
                return "" if answer == new["n"] else f"{answer} instead of {new['n']}"
            case "check and put":
                row = session.find_row(CONDITION_ID) or make_row(CONDITION_ID)
                new = {**row, "v": "new"}
                if table.check_and_put(new, n=None):
                    return "a value that is stored was taken for absent"
                put = partial(table.check_and_put, new, n=row["n"])
                if not session.change(CONDITION_ID, new, put):
                    return "a value that is stored was not found"
        return ""

    def try_call(self, place: Path, call: str, failing: FailingCalls) -> str:
        """Run a call with a fault in use; `create` makes the table anew."""
        if call != "create":
            return super().try_call(place, call, failing)
        drop_table(DESIGN, f"rocks:{place}")
        failing.start()
        with rowkey.open(DESIGN, f"rocks:{place}") as table:
            return describe_difference(table.scan(), {})

    def check(self, place: Path, call: str, *, is_acknowledged: bool) -> str:
        """Open the table, and compare its rows with the acknowledged ones."""
        if call == "create":
            with rowkey.open(DESIGN, f"rocks:{place}") as table:
                return describe_difference(table.scan(), {})
        rows = self.get_rows()
        row = rows.get(COUNTER_ID, [None])[-1] or make_row(COUNTER_ID)
        changes = {
            "put": (NEW_ID, make_row(NEW_ID, "new")),
            "delete": (60, None),
            "increment": (COUNTER_ID, {**row, "n": row["n"] + AMOUNT}),
            "check and put": (CONDITION_ID, {**make_row(CONDITION_ID, "own value"), "v": "new"}),
        }
        if call in changes:
            number, new = changes[call]
            old = [] if is_acknowledged else rows.get(number, [None])
            rows = {**rows, number: [*old, new]}
        with rowkey.open(DESIGN, f"rocks:{place}", create=False) as table:
            return describe_difference(table.scan(), rows)

    def recover(self, place: Path, call: str, verdicts: Mapping[str, str]) -> str:
        """Verify the table, repair it in place, or save its rows elsewhere."""
        url = f"rocks:{place}"
        if call == "verify" or place not in self._examined:  # as `rowkey repair` does, only once
            self._examined[place] = [one for one in verify_tables(url) if one.table == "t"]
        found = self._examined[place]
        if not found:
            return "no table was found" if self.get_rows() else ""
        (examination,) = found
        if call == "verify":
            if examination.problems:
                raise examination.problems[0]
            unsound = [name for name, verdict in verdicts.items() if verdict == REFUSED]
            return f"it is sound, and refused: {', '.join(unsound)}" if unsound else ""
        if not examination.problems:
            return ""
        if not examination.is_readable:
            raise examination.problems[0]
        if call == "repair --into":
            into = place.with_name(f"{place.name}-saved")
            shutil.rmtree(into, ignore_errors=True)
            (saved,) = save_tables(url, f"rocks:{into}", ["t"])
            return self.check_saved_rows(into, saved)
        if examination.needs_saving:
            raise examination.problems[0]
        (repaired,) = repair_tables(url, ["t"])
        is_told = repaired.lost_change_count != 0
        with rowkey.open(DESIGN, url, create=False) as table:
            return describe_difference(
                table.scan(), self.get_states() if is_told else self.get_rows()
            )

    def repair(self, place: Path) -> str:
        """Repair the table in place, or save its rows elsewhere if that is not possible."""
        try:
            return self.recover(place, "repair", {})
        except CorruptionError:
            return self.recover(place, "repair --into", {})

    def get_states(self) -> Allowed:
        """Return the states that rows may have where the repair says that changes were lost."""
        return compute_states()

    def check_saved_rows(self, into: Path, saved: SalvageResult) -> str:
        """Return what is wrong with saved rows: one that is missing must be reported as lost."""
        allowed = {
            number: [None, *states]
            if is_lost(DESIGN.key.encode({"id": number}), saved.lost_rows)
            else states
            for number, states in self.get_rows().items()
        }
        with rowkey.open(DESIGN, f"rocks:{into}", create=False) as table:
            return describe_difference(table.scan(), allowed)

    def list_names(self, place: Path, path: Path) -> list[str]:
        """Return the texts of which an error has at least one."""
        return [path.name, str(place), "table t", "table 't'"]


class InterruptedCreation(EmbeddedTable):
    """A table whose creation was interrupted before its descriptor said that it is ready."""

    states: ClassVar[tuple[str, ...]] = ("creating",)
    calls: ClassVar[tuple[str, ...]] = ("scan", "put", "open again")
    extra_calls: ClassVar[tuple[str, ...]] = ()

    def get_rows(self) -> Allowed:
        """Return no rows: none was acknowledged."""
        return {}

    def get_states(self) -> Allowed:
        """Return no rows: none was acknowledged."""
        return {}

    def build(self, folder: Path) -> None:
        """Create tables, and mark them as not complete."""
        for name in ("creating", "creating.other"):
            with rowkey.open(DESIGN, f"rocks:{folder / name}"):
                pass
            table = folder / name / "t"
            write_descriptor(table, replace(read_descriptor(table), state=STATE_CREATING))
            with closing(open_catalog(f"file:{folder / name / '.catalog'}")) as catalog:
                entry = catalog.read("t")
                assert entry is not None
                catalog.write("t", replace(entry, is_created=False), entry.version)

    def open(self, place: Path) -> OpenTable:
        """Create the table again."""
        with rowkey.open(DESIGN, f"rocks:{place}"):
            pass
        return super().open(place)

    def check(self, place: Path, call: str, *, is_acknowledged: bool) -> str:
        """Create the table again, if it is not there, and compare its rows."""
        self.open(place).close()
        return super().check(place, call, is_acknowledged=is_acknowledged)


class RebuiltMark(EmbeddedTable):
    """A table with rows, of which an earlier descriptor says that it is not complete."""

    def build(self, folder: Path) -> None:
        """Make earlier copies with the descriptor of that time."""
        super().build(folder)
        for state in self.states:
            for name in ("earlier", "earlier-2"):
                table = folder / f"{state}.{name}" / "t"
                write_descriptor(table, replace(read_descriptor(table), state=STATE_CREATING))


class CatalogOfTable(EmbeddedTable):
    """A table whose catalog is damaged, which is repaired from the table's attributes."""

    recoveries: ClassVar[tuple[str, ...]] = ("verify", "repair DESIGN")

    def repair(self, place: Path) -> str:
        """Rebuild the catalog entry."""
        return self.recover(place, "repair DESIGN", {})

    def build(self, folder: Path) -> None:
        """Write notes and several versions of the entry too."""
        super().build(folder)
        for copy in folder.iterdir():
            version = 2 if "earlier" in copy.name else 3
            catalog = open_catalog(f"file:{copy / '.catalog'}")
            entry = catalog.read("t")
            assert entry is not None
            for number in range(version):
                later = replace(entry, max_stale_s=60.0 + number)
                new = catalog.write("t", later, entry.version)
                entry = replace(later, version=new)
            catalog.write_note("t", "load", f"{copy.name} {version}")
            catalog.close()

    def recover(self, place: Path, call: str, verdicts: Mapping[str, str]) -> str:
        """Verify the table, or rebuild its catalog entry."""
        if call == "verify":
            return super().recover(place, call, verdicts)
        mismatch = repair_catalog(DESIGN, f"rocks:{place}", apply=True)
        if mismatch is not None and not mismatch.is_repaired:
            raise RowkeyError(str(mismatch))
        with rowkey.open(DESIGN, f"rocks:{place}", create=False) as table:
            return describe_difference(table.scan(), compute_rows())


_DESCRIPTOR = "t/descriptor.json"
_NEW_DESCRIPTOR = ".t.new"
OBJECTS = (
    StoredObject("sst", "SST", EmbeddedTable, ("t/*.sst",)),
    StoredObject("wal", "log (WAL)", EmbeddedTable, ("t/*.log",)),
    StoredObject("manifest", "MANIFEST", EmbeddedTable, ("t/MANIFEST-*",)),
    StoredObject("current", "CURRENT", EmbeddedTable, ("t/CURRENT",), ("t/CURRENT", "t/*.dbtmp")),
    StoredObject("options", "OPTIONS", EmbeddedTable, ("t/OPTIONS-*",)),
    StoredObject(
        "identity", "IDENTITY", EmbeddedTable, ("t/IDENTITY",), ("t/IDENTITY", "t/*.dbtmp")
    ),
    StoredObject(
        "descriptor", "descriptor", RebuiltMark, (_DESCRIPTOR,), (_DESCRIPTOR, _NEW_DESCRIPTOR)
    ),
    StoredObject(
        "marker",
        "mark of a table that is being created, in its descriptor",
        InterruptedCreation,
        (_DESCRIPTOR,),
        (_DESCRIPTOR, _NEW_DESCRIPTOR),
    ),
    StoredObject("high-water", "high-water mark", EmbeddedTable, ("t/high-water",)),
    StoredObject("settings", "settings of rocksdict", EmbeddedTable, ("t/rocksdict-config.json",)),
    StoredObject(
        "catalog-file",
        "catalog entry in a file",
        CatalogOfTable,
        (".catalog/t.json",),
        (".catalog/t.json", ".catalog/catalog.new"),
    ),
)
