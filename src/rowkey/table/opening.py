"""How a table is opened, made and dropped: the engine's table and the catalog's memory together."""

from __future__ import annotations

from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rowkey.catalog import CATALOG_TABLE, COUNTS, check_stale, lapse, open_catalog
from rowkey.descriptors import explains_shortage
from rowkey.design import Design
from rowkey.engines import now_ms, open_engine
from rowkey.errors import Conflict, Refused, Unsupported, shown
from rowkey.table.place import CATALOG, Place, missing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rowkey.catalog import Catalog, Entry
    from rowkey.engines import Engine
    from rowkey.table.table import Table


@explains_shortage
def open_table(
    design: Design | str,
    url: str,
    *,
    create: bool = True,
    splits: Sequence[bytes] | None = None,
    sync: bool = False,
    clock: Callable[[], int] | None = None,
    max_stale: float | None = None,
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
        max_stale: seconds that the table may be used while its catalog does not answer; then
            everything is refused until it does. A table that is made now has this for all who open
            it, 60 s if None; of another one it is this client's, no longer than the table's.

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
    if max_stale is not None:
        check_stale(max_stale)
    clock = clock or now_ms
    makes = create and not isinstance(design, str)
    with ExitStack() as held:
        engine = held.enter_context(open_engine(url, create=makes, sync=sync, clock=clock))
        place = held.enter_context(Place(engine, design, url, max_stale))
        if isinstance(design, str):
            table = place.remembered(clock)
        else:
            design.key.require_decodable()
            if not place.is_made:
                place.make_once(design, splits, clock, may_create=create)
            table = place.opened(design, clock)
        held.pop_all()
        return table


@explains_shortage
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
        place = held.enter_context(Place(engine, design, url))
        place.require_new()
        place.make(design, splits, clock, may_create=True, progress=progress)
        table = place.opened(design, clock)
        held.pop_all()
        return table


@explains_shortage
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
        if not engine.has(name):
            raise missing(url, name, engine)
        if name == CATALOG_TABLE:
            what = f"{name} remembers the designs of all other tables"
            raise Refused(
                url, what, "another table", "Drop those first, then this by HBase's shell."
            )
        with closing(_catalog_of_dropped(engine, table, url)) as catalog:
            entry = catalog.read(name)
            engine.drop(name)
            # Who has made such a table anew meanwhile keeps what is remembered of that.
            with suppress(Conflict):
                catalog.remove(name, None if entry is None else entry.version)


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
    _check_given(design, url, None)
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


def _catalog_of_dropped(engine: Engine, table: Design | str, url: str) -> Catalog:
    """The catalog that is to forget a table; a damaged one cannot tell it."""
    name = table if isinstance(table, str) else table.table
    try:
        kept = engine.table(name).described[1].get(CATALOG)
    except Unsupported:
        beside = open_catalog(engine.catalog_url, engine, url)
        if isinstance(table, str) or beside.read(name) is not None:
            return beside
        beside.close()
        kept = table.declaration.catalog
    return open_catalog(kept or engine.catalog_url, engine, url)


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
