"""Open, create and drop tables: the engine's table and its catalog entry together."""

from __future__ import annotations

from contextlib import ExitStack, closing, suppress
from typing import TYPE_CHECKING

from rowkey.catalog import CATALOG_TABLE, check_max_stale, find_catalog_url, open_catalog
from rowkey.design import Design
from rowkey.engines import get_time_ms, open_engine
from rowkey.errors import Conflict, CorruptionError, InvalidArgument, NotSupported, Unavailable
from rowkey.messages import format_value
from rowkey.open_file_limit import explain_shortage
from rowkey.table.table_location import TableLocation, build_missing_error

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rowkey.catalog import Catalog
    from rowkey.engines import Engine
    from rowkey.table.table import Table


@explain_shortage
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
    """Open the table of a design for reading and writing.

    Args:
        design: the design, or the name of an existing table, whose design is read from the catalog.
        url: the URL of its engine: `rocks:PATH` (a directory; one process at a time), `memory:`,
            `hbase://zk1,zk2:2181/hbase` or `hbase+master://m1:16000,m2:16000`.
        create: whether a missing table is created, pre-split as designed.
        splits: the row keys its regions begin with, where the design leaves them to a sample.
        sync: whether every write is on disk before the call returns; otherwise it survives the
            death of the process, not of the machine.
        clock: milliseconds since 1970, for timestamps and times to live; this machine's if None.
        max_stale: seconds that the table may be used while its catalog does not answer; then every
            read and write fails until it does. A table that is created now has this for all its
            clients, 60 s if None; for an existing table it is this client's, at most the table's.
        catalog: the URL of the table's catalog, if that does not lie with the engine and no design
            declares it. A catalog that only the table's attributes name is not opened.

    Raises:
        CorruptionError: the table is damaged, or has an entry and is gone; none is created.
        CatalogMismatch: the design is not the one the table was created with.
        DesignRefused: rows could not be read back, or boundaries need a sample.
        InvalidArgument: the table is missing and not to be created, or the URL is of no engine.
        Unavailable: the engine cannot be opened.

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
        check_max_stale(max_stale)
    clock = clock or get_time_ms
    makes = create and not isinstance(design, str)
    with ExitStack() as stack:
        engine = stack.enter_context(open_engine(url, create=makes, sync=sync, clock=clock))
        place = stack.enter_context(TableLocation(engine, design, url, max_stale, catalog))
        if isinstance(design, str):
            table = place.open_by_name(clock)
        else:
            design.key.check_decodable()
            if not place.is_made:
                place.create_table_once(design, splits, clock, may_create=create)
            table = place.open_by_design(design, clock)
        stack.pop_all()
        return table


@explain_shortage
def create_table(
    design: Design,
    url: str,
    *,
    splits: Sequence[bytes] | None = None,
    sync: bool = False,
    clock: Callable[[], int] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Table:
    """Create the table of a design, pre-split; arguments as for `rowkey.open`.

    Args:
        design: the design.
        url: where it lives.
        splits: the row keys its regions begin with, where the design leaves them to a sample.
        sync: whether every write is on disk before the call returns.
        clock: milliseconds since 1970; this machine's if None.
        progress: called with how many regions are open, and of how many, where that takes time.

    Raises:
        InvalidArgument: the table exists already.
        Unavailable: the engine cannot be opened.
    """
    check_arguments(design, url, splits)
    clock = clock or get_time_ms
    with ExitStack() as stack:
        engine = stack.enter_context(open_engine(url, sync=sync, clock=clock))
        design.key.check_decodable()
        place = stack.enter_context(TableLocation(engine, design, url))
        place.require_new()
        place.create_table(design, splits, clock, may_create=True, progress=progress)
        table = place.open_by_design(design, clock)
        stack.pop_all()
        return table


@explain_shortage
def drop_table(table: Design | str, url: str, *, catalog: str | None = None) -> None:
    """Drop a table, its rows and its catalog entry; the table may be damaged.

    Args:
        table: its design or its name. The attributes of a damaged table cannot name the catalog
            that its design declares: by its name alone only the engine's own catalog forgets it.
        url: where it lives.
        catalog: as for `rowkey.open`.

    Raises:
        InvalidArgument: there is no such table.
        Unavailable: the engine cannot be opened, or the table's directory holds other files.
    """
    name = table if isinstance(table, str) else table.table
    with open_engine(url, create=False) as engine:
        if not engine.has_table(name):
            raise build_missing_error(url, name, engine)
        if name == CATALOG_TABLE:
            what = f"the table {name} is the catalog, which stores the designs of all other tables"
            remedy = "Drop the other tables first, then this one in HBase's shell."
            raise InvalidArgument(url, what, "another table", remedy)
        with closing(_open_dropped_catalog(engine, table, url, catalog)) as memory:
            entry, is_damaged = None, False
            try:
                entry = memory.read(name)
            except CorruptionError:
                is_damaged = True
            engine.drop_table(name)
            # A client that has created such a table again meanwhile keeps its entry.
            if entry is not None or is_damaged:
                with suppress(Conflict):
                    memory.remove(name, None if entry is None else entry.version)


def _open_dropped_catalog(
    engine: Engine, table: Design | str, url: str, catalog_url: str | None
) -> Catalog:
    """Open the catalog from which a dropped table is removed, even if the table is damaged."""
    name = table if isinstance(table, str) else table.table
    try:
        attributes = engine.open_table(name).families_and_attributes[1]
        declared = None if isinstance(table, str) else table.declaration.catalog
        found_url = find_catalog_url(name, attributes, engine, declared, catalog_url)
        return open_catalog(found_url, engine, url)
    except (CorruptionError, NotSupported, Unavailable):
        own_catalog = open_catalog(engine.catalog_url, engine, url)
        if isinstance(table, str) or own_catalog.read(name) is not None:
            return own_catalog
        own_catalog.close()
        return open_catalog(table.declaration.catalog or engine.catalog_url, engine, url)


def check_arguments(design: object, url: object, splits: object) -> None:
    """Raise unless a design, a URL and splits have the right types.

    Raises:
        InvalidArgument: one has another type.
    """
    if not isinstance(design, Design | str):
        what = f"{format_value(design)} is not a design"
        raise InvalidArgument("design", what, "a Design or a table's name")
    if not isinstance(url, str):
        raise InvalidArgument("url", f"{format_value(url)} is not a URL", "text such as rocks:PATH")
    is_list = splits is None or (
        isinstance(splits, list | tuple) and all(isinstance(one, bytes) for one in splits)
    )
    if not is_list:
        what = f"{format_value(splits)} is not a list of row keys"
        raise InvalidArgument("splits", what, "a list of bytes, ascending")
