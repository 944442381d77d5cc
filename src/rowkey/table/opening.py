"""How a table is opened, made and dropped: the engine's table and the catalog's memory together."""

from __future__ import annotations

import secrets
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

from rowkey.catalog import (
    GENERATION,
    CatalogDictionary,
    Entry,
    open_catalog,
    remember,
    standing,
)
from rowkey.design import Design
from rowkey.engines import TableSpec, now_ms, open_engine
from rowkey.errors import DesignRefused, DriftError, Mistake, Refused, Unsupported, shown
from rowkey.regions import to_binary
from rowkey.table.stamps import Stamps
from rowkey.table.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Self

    from rowkey.catalog import Catalog
    from rowkey.engines import Engine, Store


def open_table(
    design: Design | str,
    url: str,
    *,
    create: bool = True,
    splits: Sequence[bytes] | None = None,
    sync: bool = False,
    clock: Callable[[], int] | None = None,
) -> Table:
    """The table of a design, to be written and read.

    Args:
        design: the design, or the name of a table that exists: then the catalog gives its design.
        url: where it lives: `rocks:PATH` (a directory; one process at a time), `memory:`,
            `hbase://zk1,zk2:2181/hbase` or `hbase+master://m1:16000,m2:16000`.
        create: whether a table that is missing is made, pre-split as designed.
        splits: the row keys its regions begin with, where the design leaves them to a sample.
        sync: whether every write is on disk before the call returns; otherwise it survives the
            death of the process, not of the machine.
        clock: milliseconds since 1970, for timestamps and times to live; this machine's if None.

    Raises:
        DriftError: the design is not the one the table was made with.
        DesignRefused: rows could not be read back, or boundaries need a sample.
        Refused: the table is missing and not to be made, or no engine has such a URL.
        Unsupported: the engine cannot be opened.

    >>> import rowkey
    >>> design = rowkey.Design("logs", "[bucket(host, 4)][host][ts]",
    ...     fields={"host": "text", "ts": "timestamp_ms"}, splits="per_bucket")
    >>> with rowkey.open(design, "memory:") as logs:
    ...     logs.put({"host": "web-1", "ts": 1})
    ...     logs.scan("host = ?", "web-1").first()
    {'host': 'web-1', 'ts': 1}
    """
    _check_given(design, url, splits)
    clock = clock or now_ms
    makes = create and not isinstance(design, str)
    with ExitStack() as held:
        engine = held.enter_context(open_engine(url, create=makes, sync=sync, clock=clock))
        place = held.enter_context(_Place(engine, design, url))
        if isinstance(design, str):
            table = place.remembered(clock)
        else:
            design.key.require_decodable()
            if design.table not in engine.tables():
                place.make(design, splits, clock, may_create=create)
            table = place.opened(design, clock)
        held.pop_all()
        return table


def create_table(
    design: Design,
    url: str,
    *,
    splits: Sequence[bytes] | None = None,
    sync: bool = False,
    clock: Callable[[], int] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Table:
    """Make the table of a design, pre-split; arguments as for `rowkey.open`.

    Args:
        design: the design.
        url: where it lives.
        splits: the row keys its regions begin with, where the design leaves them to a sample.
        sync: whether every write is on disk before the call returns.
        clock: milliseconds since 1970; this machine's if None.
        progress: told how many regions are open, and of how many, where that takes its time.

    Raises:
        Refused: there is such a table already.
        Unsupported: the engine cannot be opened.
    """
    _check_given(design, url, splits)
    clock = clock or now_ms
    with ExitStack() as held:
        engine = held.enter_context(open_engine(url, sync=sync, clock=clock))
        design.key.require_decodable()
        place = held.enter_context(_Place(engine, design, url))
        place.require_new()
        place.make(design, splits, clock, may_create=True, progress=progress)
        table = place.opened(design, clock)
        held.pop_all()
        return table


def drop_table(table: Design | str, url: str) -> None:
    """Remove a table, its rows, and what is remembered of it; it may be damaged.

    Args:
        table: its design or its name. A damaged table does not tell the catalog that its design
            declares: by its name alone only the catalog of its place forgets it then.
        url: where it lives.

    Raises:
        Refused: there is no such table.
        Unsupported: the engine cannot be opened.
    """
    name = table if isinstance(table, str) else table.table
    with open_engine(url, create=False) as engine:
        if name not in engine.tables():
            raise _missing(url, name, engine)
        with closing(_catalog_of_dropped(engine, table)) as catalog:
            engine.drop(name)
            catalog.remove(name)


def _catalog_of_dropped(engine: Engine, table: Design | str) -> Catalog:
    """The catalog that is to forget a table; a damaged one cannot tell it."""
    name = table if isinstance(table, str) else table.table
    try:
        kept = engine.table(name).spec.attributes.get(CATALOG)
    except Unsupported:
        beside = open_catalog(engine.catalog_url)
        if isinstance(table, str) or beside.read(name) is not None:
            return beside
        beside.close()
        kept = table.declaration.catalog
    return open_catalog(kept or engine.catalog_url)


def _missing(url: str, name: str, engine: Engine) -> Refused:
    """The error of a table that is asked for by its name and is not there."""
    there = ", ".join(engine.tables())
    remedy = "" if there else "It holds none: make one by rowkey create."
    return Refused(url, f"there is no table {name}", there, remedy)


CATALOG = "rowkey.catalog"
"""The word among a table's attributes that names the catalog its design declared."""


class _Place:
    """An engine, and the catalog that remembers its tables."""

    def __init__(self, engine: Engine, design: Design | str, url: str) -> None:
        self.engine, self.url = engine, url
        self.name = design if isinstance(design, str) else design.table
        self.declared = None if isinstance(design, str) else design.declaration.catalog
        self.kept: Mapping[str, str] = {}
        if self.name in engine.tables():
            self.kept = engine.table(self.name).spec.attributes
        where = self.kept.get(CATALOG) or self.declared or engine.catalog_url
        self.catalog: Catalog = open_catalog(where)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.catalog.close()

    def require_new(self) -> None:
        """Refuse a table that is there."""
        if self.name in self.engine.tables():
            raise Refused(self.url, f"there is a table {self.name} already", "another name")

    def make(
        self,
        design: Design,
        splits: Sequence[bytes] | None,
        clock: Callable[[], int],
        *,
        may_create: bool,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Create the engine's table and remember its design; compare what was made.

        The catalog is written first: a table that nobody remembers could not be read.
        """
        if not may_create:
            remedy = "Create it first: rowkey create."
            raise Refused(self.url, f"there is no table {design.table}", remedy=remedy)
        keys = _boundaries(design) if splits is None else tuple(splits)
        before = self.catalog.read(design.table)
        if before is not None and self.declared is not None:
            # Of our own place it is what a crash has left; elsewhere it may be another table's.
            what = f"{self.declared} remembers a table {design.table} already"
            raise Refused("catalog", what, "another name, or a catalog of its own")
        entry = Entry.of(design, keys, clock())
        seen = None if before is None else before.version
        version = self.catalog.write(design.table, entry, seen)
        words = {} if self.declared is None else {CATALOG: self.declared}
        self.kept = {**words, **entry.words}
        spec = TableSpec(design.table, tuple(design.families.values()), keys, self.kept)
        try:
            made = self.engine.create(spec, progress)
        except Refused:
            if before is not None:  # of somebody who was making the table just then
                self.catalog.write(design.table, before, version)
            raise
        _compare_made(spec, made)

    def remembered(self, clock: Callable[[], int]) -> Table:
        """The table of a name, under the design that the catalog has."""
        if self.name not in self.engine.tables():
            raise _missing(self.url, self.name, self.engine)
        return self._in_use(self._entry().design, clock)

    def opened(self, design: Design, clock: Callable[[], int]) -> Table:
        """The table of a design, once the catalog has it with its safe changes.

        Raises:
            DriftError: there are others; nothing is changed.
        """
        self._entry()
        entry = remember(self.catalog, design, opened_ms=clock())
        words = {**self.kept, **entry.words}
        if words != self.kept:  # it has changed, or who changed it died before this
            self.engine.table(self.name).annotate(words)
        return self._in_use(standing(design, entry.design), clock)

    def _entry(self) -> Entry:
        """What the catalog remembers of a table that the engine has."""
        entry = self.catalog.read(self.name)
        if entry is None:
            what = f"the catalog does not know {self.name}, but the engine has it"
            raise Unsupported(self.url, what, remedy="Drop the table, or restore its catalog.")
        there, known = int(self.kept.get(GENERATION, "1")), entry.generations[-1].number
        if there > known:
            what = f"the catalog has generation {known} of {self.name}, the table itself {there}"
            raise Unsupported(self.url, what, remedy="The catalog is an old copy: restore it.")
        return entry

    def _in_use(self, design: Design, clock: Callable[[], int]) -> Table:
        dictionary = CatalogDictionary(self.catalog, design.table, design.fields)
        used = design.in_use(dictionary, secrets.randbits(63))
        store = self.engine.table(design.table)
        return Table(used, self.engine, store, Stamps(clock), self.catalog)


def _boundaries(design: Design) -> tuple[bytes, ...]:
    """The row keys at which regions begin, by the design alone.

    Raises:
        DesignRefused: they follow from a sample.
    """
    if design.cut.needs_sample or design.cut.needs_count:
        lacks = "a sample" if design.cut.needs_sample else "the number of regions"
        what = f"the boundaries need {lacks}"
        remedy = "Give splits=, or make the table by rowkey create --sample FILE."
        raise DesignRefused("splits", what, remedy=remedy)
    return design.cut.boundaries(design.key).splits


def _check_given(design: object, url: object, splits: object) -> None:
    """Refuse arguments that are none of the kind they must be.

    Raises:
        Refused: naming the first.
    """
    if not isinstance(design, Design | str):
        raise Refused("design", f"{shown(design)} is no design", "a Design or a table's name")
    if not isinstance(url, str):
        raise Refused("url", f"{shown(url)} is no place", "text such as rocks:PATH")
    listed = splits is None or (
        isinstance(splits, list | tuple) and all(isinstance(one, bytes) for one in splits)
    )
    if not listed:
        raise Refused("splits", f"{shown(splits)} are no row keys", "a list of bytes, ascending")


def _compare_made(asked: TableSpec, store: Store) -> None:
    """Compare a table that was made with what was asked for.

    Raises:
        DriftError: it is another.
    """
    made = store.spec
    found = [
        Mistake(f"families.{one.name}", "the engine made it otherwise", str(one))
        for one in asked.families
        if one not in made.families
    ]
    if tuple(region.start for region in store.regions())[1:] != asked.splits:
        said = ", ".join(to_binary(split) for split in asked.splits[:3])
        found.append(Mistake("splits", "regions begin elsewhere", said))
    if found:
        raise DriftError(asked.name, found)
