"""How a table is opened, made and dropped: the engine's table and the catalog's memory together."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from rowkey.catalog import CatalogDictionary, Entry, open_catalog, remember, standing
from rowkey.engines import TableSpec, now_ms, open_engine
from rowkey.errors import DesignRefused, DriftError, Mistake, Refused, Unsupported
from rowkey.regions import to_binary
from rowkey.table.stamps import Stamps
from rowkey.table.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rowkey.catalog import Catalog
    from rowkey.design import Design
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
        url: where it lives: `rocks:PATH` (a directory; one process at a time), `memory:`.
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
    clock = clock or now_ms
    engine = open_engine(url, sync=sync, clock=clock)
    try:
        place = _Place(engine, design, url)
        if isinstance(design, str):
            return place.remembered(clock)
        _refuse_unreadable(design)
        if design.table not in engine.tables():
            place.make(design, splits, clock, may_create=create)
        return place.opened(design, clock)
    except BaseException:
        engine.close()
        raise


def create_table(
    design: Design,
    url: str,
    *,
    splits: Sequence[bytes] | None = None,
    sync: bool = False,
    clock: Callable[[], int] | None = None,
) -> Table:
    """Make the table of a design, pre-split; arguments as for `rowkey.open`.

    Raises:
        Refused: there is such a table already.
        Unsupported: the engine cannot be opened.
    """
    with open_engine(url) as engine:
        if design.table in engine.tables():
            raise Refused(url, f"there is a table {design.table} already", "another name")
    return open_table(design, url, splits=splits, sync=sync, clock=clock)


def drop_table(name: str, url: str) -> None:
    """Remove a table, its rows, and what is remembered of it.

    Raises:
        Refused: there is no such table.
        Unsupported: the engine cannot be opened.
    """
    with open_engine(url) as engine:
        if name not in engine.tables():
            raise _missing(url, name, engine)
        catalog = open_catalog(engine.catalog_url)
        engine.drop(name)
        catalog.remove(name)


def _missing(url: str, name: str, engine: Engine) -> Refused:
    """The error of a table that is asked for by its name and is not there."""
    there = ", ".join(engine.tables())
    remedy = "" if there else "It holds none: make one by rowkey create."
    return Refused(url, f"there is no table {name}", there, remedy)


class _Place:
    """An engine, and the catalog that remembers its tables."""

    def __init__(self, engine: Engine, design: Design | str, url: str) -> None:
        self.engine, self.url = engine, url
        named = None if isinstance(design, str) else design.declaration.catalog
        self.name = design if isinstance(design, str) else design.table
        self.catalog: Catalog = open_catalog(named or engine.catalog_url)

    def make(
        self,
        design: Design,
        splits: Sequence[bytes] | None,
        clock: Callable[[], int],
        *,
        may_create: bool,
    ) -> None:
        """Create the engine's table and remember its design; compare what was made.

        The catalog is written first: a table that nobody remembers could not be read.
        """
        if not may_create:
            remedy = "Create it first: rowkey create."
            raise Refused(self.url, f"there is no table {design.table}", remedy=remedy)
        keys = _boundaries(design) if splits is None else tuple(splits)
        entry = self.catalog.read(design.table)
        version = None if entry is None else entry.version
        self.catalog.write(design.table, Entry.of(design, keys, clock()), version)
        spec = TableSpec(design.table, tuple(design.families.values()), keys)
        _compare_made(spec, self.engine.create(spec))

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
        return self._in_use(standing(design, entry.design), clock)

    def _entry(self) -> Entry:
        """What the catalog remembers of a table that the engine has."""
        entry = self.catalog.read(self.name)
        if entry is None:
            what = f"the catalog does not know {self.name}, but the engine has it"
            raise Unsupported(self.url, what, remedy="Drop the table, or restore its catalog.")
        return entry

    def _in_use(self, design: Design, clock: Callable[[], int]) -> Table:
        dictionary = CatalogDictionary(self.catalog, design.table, design.fields)
        used = design.in_use(dictionary, secrets.randbits(63))
        return Table(used, self.engine, self.engine.table(design.table), Stamps(clock))


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


def _refuse_unreadable(design: Design) -> None:
    """Refuse a key that no row can be read back from.

    Raises:
        DesignRefused: the parts of its keys cannot be told apart.
    """
    design.key.require_decodable()


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
        shown = ", ".join(to_binary(split) for split in asked.splits[:3])
        found.append(Mistake("splits", "regions begin elsewhere", shown))
    if found:
        raise DriftError(asked.name, found)
