"""What is done about damage: tables read whole, mended or saved elsewhere, catalogs put right."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from rowkey.catalog import CATALOG_WORD, COUNTS, lapse, open_catalog, restored
from rowkey.engines import ENGINES, Examination, open_engine
from rowkey.errors import Conflict, CorruptionError, Refused, RowkeyError, Unsupported, shown
from rowkey.open_file_limit import explains_shortage
from rowkey.table.made import has_rows
from rowkey.table.opening import check_arguments
from rowkey.table.place import Place, build_lost_error, missing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rowkey.catalog import Entry
    from rowkey.design import Design
    from rowkey.engines import Engine, Repair, Saved

    Progress = Callable[[int, int], None]
    """Told how many cells are done, and of about how many."""


_NO_CODES = (
    "the table cannot be decoded without its catalog, which has the ids of `code`: "
    "put its entry from a copy into the new catalog"
)


@runtime_checkable
class Repairable(Protocol):
    """An engine whose tables can be read whole, and mended."""

    def examine(self, name: str, progress: Progress = ...) -> Examination:
        """Read every block of every file of a table."""

    def repair(self, name: str) -> Repair:
        """Mend a table where it lies."""

    def save_into(
        self, target: Engine, name: str, *, keep_incomplete: bool, progress: Progress
    ) -> Saved:
        """Save what can be read of a table into another place."""


@explains_shortage
def verify_tables(
    url: str, tables: Sequence[str] = (), progress: Progress | None = None
) -> Iterator[Examination]:
    """Read every block of every file of tables, and yield what is damaged; change nothing.

    Args:
        url: where the tables live, open in no process.
        tables: their names; all if there are none.
        progress: told how many cells of a table are read, and of about how many.

    Raises:
        Refused: there is no such place or table, or its files are not ours to read.
        Unsupported: another process has it open, or the disk cannot be read.
    """
    with open_engine(url, create=False) as engine:
        readable = _repairable(engine, url)
        lost = _find_lost_tables(engine, url)
        for name in tables or sorted({*engine.tables(), *lost}):
            if engine.has(name):
                yield readable.examine(name, progress or _ignore)
            elif name in lost:
                yield Examination(name, problems=[lost[name]], is_readable=False)
            else:
                raise missing(url, name, engine)


@explains_shortage
def repair_tables(url: str, tables: Sequence[str]) -> Iterator[Repair]:
    """Mend tables where they lie: their descriptors, and their logs up to the first damage.

    Args:
        url: where the tables live, open in no process.
        tables: their names.

    Raises:
        CorruptionError: one is damaged elsewhere; nothing of it was changed.
    """
    with open_engine(url, create=False) as engine:
        repairable = _repairable(engine, url)
        for name in tables:
            yield repairable.repair(name)


@explains_shortage
def save_tables(
    url: str,
    into: str,
    tables: Sequence[str],
    *,
    keep_incomplete: bool = False,
    progress: Progress | None = None,
) -> Iterator[Saved]:
    """Save what can be read of tables into tables of their names in a new place.

    Where they lie nothing is changed. What their catalog remembers is saved as well.

    Args:
        url: where the tables live, open in no process.
        into: the new place, of the same kind.
        tables: their names.
        keep_incomplete: whether rows are saved that lack cells, or may be older than they were.
        progress: told how many cells of a table are read or saved, and of about how many.

    Raises:
        CorruptionError: not even what a table is can be read.
        Refused: the new place has such a table, or is of another kind.
    """
    with open_engine(url, create=False) as engine:
        source = _repairable(engine, url)
        _require_kind(engine, into)
        with open_engine(into) as target:
            for name in tables:
                saved = source.save_into(
                    target, name, keep_incomplete=keep_incomplete, progress=progress or _ignore
                )
                notes = _save_entry(engine, target, into, name)
                yield replace(saved, notes=[*saved.notes, *notes])


def _find_lost_tables(engine: Engine, url: str) -> dict[str, CorruptionError]:
    """Return the error of each table that the catalog of a place remembers and that is gone."""
    scheme, _, where = engine.catalog_url.partition(":")
    if scheme == "file" and not Path(where).is_dir():
        return {}
    lost = {}
    with closing(open_catalog(engine.catalog_url, engine, url)) as catalog:
        for name in catalog.tables():
            if engine.has(name):
                continue
            try:
                entry = catalog.read(name)
            except CorruptionError as problem:
                lost[name] = problem
            else:
                if entry is not None and entry.is_made:
                    lost[name] = build_lost_error(url, engine.catalog_url, name, entry)
    return lost


def _ignore(done: int, total: int) -> None:
    """Report nothing."""


def _require_kind(engine: Engine, into: str) -> None:
    """Raise unless a URL is of the same kind as an engine.

    Raises:
        Refused: it is not.
    """
    scheme = into.partition(":")[0]
    if scheme != engine.scheme:
        raise Refused("into", f"{shown(into)} is of another kind", f"{engine.scheme}:PATH")


def _repairable(engine: Engine, url: str) -> Repairable:
    """Return an engine whose files are ours to read.

    Raises:
        Refused: it has none.
    """
    if isinstance(engine, Repairable):
        return engine
    able = " or ".join(f"{one.scheme}:PATH" for one in ENGINES.values() if hasattr(one, "repair"))
    what = "its files are not rowkey's to read or mend"
    raise Refused(url, what, able, "A cluster checks and mends its files itself.")


def _save_entry(engine: Engine, target: Engine, into: str, name: str) -> list[str]:
    """Have the catalog of a new place remember a saved table as the old one did.

    A table whose design declares another catalog is remembered there. Of one that its catalog has
    lost, what the table tells itself is remembered; but for one with rows whose key holds ids of
    `code`: without those that were given out, its rows would be read with other values.

    Returns:
        What went wrong with it, for people.
    """
    store = target.table(name)
    words = store.described[1]
    if CATALOG_WORD in words:
        return []
    entry, notes = None, []
    try:
        with closing(open_catalog(engine.catalog_url, engine)) as catalog:
            entry = catalog.read(name)
    except RowkeyError as problem:
        notes.append(f"its entry in the catalog cannot be read: {problem}")
    try:
        if entry is None:
            starts = [region.start for region in store.regions()][1:]
            entry = restored(name, words, starts)
        if _lacks_codes(entry) and has_rows(store):
            notes.append(_NO_CODES)
            return notes
    except RowkeyError as problem:
        notes.append(f"the new catalog knows nothing of it: {problem}")
        return notes
    try:
        with closing(open_catalog(target.catalog_url, target, into)) as catalog:
            catalog.write(name, entry, None)
    except Conflict as problem:
        notes.append(f"its entry in the new catalog was left as it is: {problem}")
    return notes


def _lacks_codes(entry: Entry) -> bool:
    """Return whether a key holds ids of `code`, and its entry has none."""
    return entry.design.key.is_coded and not (entry.codes and all(entry.codes.values()))


@dataclass(frozen=True, slots=True)
class Lapse:
    """A catalog that does not know of a table what it should.

    Args:
        table: the table's name.
        catalog: the catalog's URL.
        what: what it does not know, or knows of a table that is not there.
        entry: what it is to know; None if it is to forget the table, or cannot be mended.
        broken: why it cannot be mended; empty if it can.
        is_mended: whether it was.
    """

    table: str
    catalog: str
    what: str
    entry: Entry | None = None
    broken: str = ""
    is_mended: bool = False

    def __str__(self) -> str:
        """What is wrong and what would be done about it, or what was done."""
        return self._step if self.is_mended else f"{self.what}. {self._step}"

    @property
    def _step(self) -> str:
        if self.broken:
            return f"It cannot be put back: {self.broken}"
        if self.entry is None:
            return "forgotten" if self.is_mended else "To be forgotten, if no other place has it."
        *_, last = self.entry.generations
        told = f"{len(last.splits) + 1} regions, generation {last.number}"
        counts = self.entry.words.get(COUNTS)
        told += f", counts {counts}" if counts else ""
        return f"put back: {told}" if self.is_mended else f"To be put back: {told}."


@explains_shortage
def repair_catalog(design: Design, url: str, *, mend: bool = False) -> Lapse | None:
    """Look for what the catalog of a table has lost, and put it back as the table tells it.

    A table keeps its design, the number of its generation and its counts among its own words.
    With where its regions begin that is what the catalog had; but for the ids of `code`, so a
    table whose key has one is not mended once it has rows, and for when a number of buckets was
    announced, which is not known from then on. An entry without a table, as an
    interrupted create leaves it, is forgotten.

    Args:
        design: of the table; it is opened with it afterwards, as ever.
        url: where the table lives.
        mend: whether the catalog is changed; otherwise it is only looked at.

    Returns:
        What is wrong with it, mended or not; None if nothing is.

    Raises:
        Refused: there is no such table, and nothing is remembered of it.
        Unsupported: the engine or the catalog cannot be reached.
        Conflict: somebody else changed the catalog meanwhile.
    """
    check_arguments(design, url, None)
    with (
        open_engine(url, create=False) as engine,
        Place(engine, design, url) as place,
    ):
        entry = place.catalog.read(place.name)
        if not place.is_made and entry is None:
            raise missing(url, place.name, engine)
        found = _lapse(place, entry)
        if found is None or not mend or found.broken:
            return found
        version = None if entry is None else entry.version
        if found.entry is None:
            place.catalog.remove(place.name, version)
        else:
            place.catalog.write(place.name, found.entry, version)
        return replace(found, is_mended=True)


def _lapse(place: Place, entry: Entry | None) -> Lapse | None:
    """What is wrong with the entry of a table."""
    if not place.is_made:
        what = f"the catalog knows {place.name}, but the engine has no such table"
        return Lapse(place.name, place.where, what)
    what = lapse(place.name, entry, place.kept)
    if not what:
        return None
    try:
        return Lapse(place.name, place.where, what, place.told(entry))
    except Unsupported as problem:
        return Lapse(place.name, place.where, what, broken=str(problem))
