"""How a table is opened, made and dropped: the engine's table and the catalog's memory together."""

from __future__ import annotations

from contextlib import ExitStack, closing, suppress
from typing import TYPE_CHECKING

from rowkey.catalog import CATALOG_TABLE, check_stale, find_catalog_url, open_catalog
from rowkey.design import Design
from rowkey.engines import now_ms, open_engine
from rowkey.errors import Conflict, CorruptionError, Refused, Unsupported, shown
from rowkey.open_file_limit import explains_shortage
from rowkey.table.place import Place, missing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rowkey.catalog import Catalog
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
    catalog: str | None = None,
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
        catalog: the URL of the catalog that remembers the table, where that is not next to it and
            no design declares it. What the table says of it itself is not followed elsewhere.

    Raises:
        CorruptionError: the table is damaged, or remembered and not there; none is made.
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
    check_arguments(design, url, splits)
    if max_stale is not None:
        check_stale(max_stale)
    clock = clock or now_ms
    makes = create and not isinstance(design, str)
    with ExitStack() as held:
        engine = held.enter_context(open_engine(url, create=makes, sync=sync, clock=clock))
        place = held.enter_context(Place(engine, design, url, max_stale, catalog))
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
    check_arguments(design, url, splits)
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
def drop_table(table: Design | str, url: str, *, catalog: str | None = None) -> None:
    """Remove a table, its rows, and what is remembered of it; it may be damaged.

    Args:
        table: its design or its name. A damaged table does not tell the catalog that its design
            declares: by its name alone only the catalog of its place forgets it then.
        url: where it lives.
        catalog: as for `rowkey.open`.

    Raises:
        Refused: there is no such table.
        Unsupported: the engine cannot be opened, or the table's directory holds other files.
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
        with closing(_catalog_of_dropped(engine, table, url, catalog)) as memory:
            entry, is_damaged = None, False
            try:
                entry = memory.read(name)
            except CorruptionError:
                is_damaged = True
            engine.drop(name)
            # Who has made such a table anew meanwhile keeps what is remembered of that.
            if entry is not None or is_damaged:
                with suppress(Conflict):
                    memory.remove(name, None if entry is None else entry.version)


def _catalog_of_dropped(
    engine: Engine, table: Design | str, url: str, named: str | None
) -> Catalog:
    """The catalog that is to forget a table; a damaged one cannot tell it."""
    name = table if isinstance(table, str) else table.table
    try:
        words = engine.table(name).described[1]
        declared = None if isinstance(table, str) else table.declaration.catalog
        return open_catalog(find_catalog_url(name, words, engine, declared, named), engine, url)
    except (CorruptionError, Unsupported):
        beside = open_catalog(engine.catalog_url, engine, url)
        if isinstance(table, str) or beside.read(name) is not None:
            return beside
        beside.close()
        return open_catalog(table.declaration.catalog or engine.catalog_url, engine, url)


def check_arguments(design: object, url: object, splits: object) -> None:
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
