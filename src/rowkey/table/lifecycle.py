"""Open, create and drop tables: the engine's table and its catalog entry together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress

from rowkey.catalog import (
    CATALOG_TABLE,
    Catalog,
    CatalogEntry,
    check_max_stale,
    find_catalog_url,
    open_catalog,
)
from rowkey.design import Design
from rowkey.engines import Engine, get_time_ms, open_engine
from rowkey.errors import (
    Conflict,
    CorruptionError,
    InvalidArgument,
    InvalidDesign,
    NotSupported,
    Unavailable,
)
from rowkey.messages import format_value
from rowkey.open_file_limit import explain_shortage
from rowkey.progress import ReportProgress
from rowkey.table.client_wait import SHARED_STALE_S
from rowkey.table.companions.companion_opener import CompanionOpener
from rowkey.table.companions.companion_tables import TableWithCompanions
from rowkey.table.moves.moved_table import find_moving_table, find_used_table, remove_names_of
from rowkey.table.table import Table
from rowkey.table.table_location import TableLocation, build_missing_error, check_table_name


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
    engine: Engine | None = None,
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
        engine: the engine, if this process has it open already; it stays open when the table is
            closed. `sync` and `clock` are then those that it was opened with.

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
        is_borrowed = engine is not None
        if engine is None:
            engine = stack.enter_context(open_engine(url, create=makes, sync=sync, clock=clock))
        own_stale = _limit_stale_time(engine, max_stale, is_borrowed=is_borrowed)
        place = stack.enter_context(TableLocation(engine, design, url, max_stale, catalog))
        used = place.find_moved_table(design)
        if used is not design:
            place.catalog.close()  # the table closes only the catalog of its own location
            design, create = used, False
            # Both tables of a move have their entries in one catalog.
            location = TableLocation(engine, design, url, own_stale, place.catalog_url)
            place = stack.enter_context(location)
        if isinstance(design, str):
            place.max_stale_s = own_stale
            table = place.open_by_name(clock)
        else:
            design.key.check_decodable()
            companions = design.read_companions()
            if not place.is_made:
                if create and companions:
                    opener = CompanionOpener(stack, engine, design.table, url, max_stale, catalog)
                    opener.create_missing(companions, clock)
                place.create_table_once(design, splits, clock, may_create=create)
            place.max_stale_s = own_stale
            table = place.open_by_design(design, clock)
        if names := table.design.declaration.companions:
            opener = CompanionOpener(stack, engine, place.table_name, url, own_stale, catalog)
            found = opener.open_all(
                dict.fromkeys(names) if isinstance(design, str) else companions, clock
            )
            table = TableWithCompanions(table, found)
        _require_filled(table, url)
        table.owns_engine = not is_borrowed
        stack.pop_all()
        return table


def _limit_stale_time(
    engine: Engine, max_stale_s: float | None, *, is_borrowed: bool
) -> float | None:
    """Return the seconds that one client of a table goes on without its catalog.

    Args:
        max_stale_s: what was asked for; None for the time of the table.
        is_borrowed: whether other tables of the process may use the engine as well.
    """
    if not (is_borrowed and engine.is_exclusive):
        return max_stale_s
    return SHARED_STALE_S if max_stale_s is None else min(max_stale_s, SHARED_STALE_S)


def _require_filled(table: Table, url: str) -> None:
    """Raise if a table is a companion that lacks rows of its main table.

    Raises:
        Unavailable: it is.
    """
    if table.lease.last_entry.is_filling:
        table.lease.close()
        table.store.close()
        what = f"the table {table.design.table} has not been filled with the rows of its main table"
        main = table.lease.last_entry.companion_of
        remedy = f"Run rowkey repair DESIGN --on {url} --yes with the design file of {main}."
        raise Unavailable(url, what, remedy=remedy)


@explain_shortage
def create_table(
    design: Design,
    url: str,
    *,
    splits: Sequence[bytes] | None = None,
    companion_splits: Mapping[str, Sequence[bytes]] | None = None,
    sync: bool = False,
    clock: Callable[[], int] | None = None,
    progress: ReportProgress | None = None,
    engine: Engine | None = None,
) -> Table:
    """Create the table of a design, pre-split; arguments as for `rowkey.open`.

    Companions are created before it.

    Args:
        url: where it lives.
        splits: the row keys its regions begin with, where the design leaves them to a sample.
        companion_splits: the same of companions, by their names.
        sync: whether every write is on disk before the call returns.
        clock: milliseconds since 1970; this machine's if None.
        progress: called with how many regions are open, and of how many, where that takes time.
        engine: as for `rowkey.open`.

    Raises:
        InvalidArgument: the table exists already, or a companion that may have other rows.
        Unavailable: the engine cannot be opened.
    """
    check_arguments(design, url, splits)
    clock = clock or get_time_ms
    with ExitStack() as stack:
        is_borrowed = engine is not None
        if engine is None:
            engine = stack.enter_context(open_engine(url, sync=sync, clock=clock))
        design.key.check_decodable()
        companions = design.read_companions()
        place = stack.enter_context(TableLocation(engine, design, url))
        place.require_new()
        opener = CompanionOpener(stack, engine, design.table, url)
        opener.create_missing(companions, clock, splits=companion_splits)
        place.create_table(design, splits, clock, may_create=True, progress=progress)
        place.max_stale_s = _limit_stale_time(engine, None, is_borrowed=is_borrowed)
        table = place.open_by_design(design, clock)
        if companions:
            opener = CompanionOpener(stack, engine, design.table, url, place.max_stale_s)
            table = TableWithCompanions(table, opener.open_all(companions, clock))
        table.owns_engine = not is_borrowed
        stack.pop_all()
        return table


@explain_shortage
def drop_table(
    table: Design | str,
    url: str,
    *,
    catalog: str | None = None,
    confirm: Callable[[str], None] = lambda _: None,
) -> list[str]:
    """Drop a table, its rows and its catalog entry, then its companions; it may be damaged.

    Args:
        table: its design or its name. The attributes of a damaged table cannot name the catalog
            that its design declares: by its name alone only the engine's own catalog forgets it.
        url: where it lives.
        catalog: as for `rowkey.open`.
        confirm: called with the table's name before it is dropped, which is another one if its rows
            were moved; what it raises keeps the table.

    Returns:
        The names of the tables that were dropped.

    Raises:
        InvalidArgument: there is no such table; it is a companion of a table that exists; or its
            rows are being moved.
        Unavailable: the engine cannot be opened, or the table's directory holds other files.
    """
    check_arguments(table, url, None)
    name = table if isinstance(table, str) else table.table
    declared = {} if isinstance(table, str) else table.read_companions()
    with open_engine(url, create=False) as engine:
        used = _find_dropped_table(engine, table, url, catalog)
        if used != name:
            name = table = used
        left = [one for one in declared if engine.has_table(one)]
        if not engine.has_table(name) and not left:
            raise build_missing_error(url, name, engine)
        if name == CATALOG_TABLE:
            what = f"the table {name} is the catalog, which stores the designs of all other tables"
            remedy = "Drop the other tables; rowkey keeps their catalog, which is empty then."
            raise InvalidArgument(url, what, "another table", remedy)
        confirm(name)
        entry = _drop_one_table(engine, table, url, catalog) if engine.has_table(name) else None
        companions: dict[str, Design | str] = {}
        with suppress(InvalidDesign):  # of a later version of rowkey
            names = () if entry is None else entry.design.declaration.companions
            companions = dict(zip(names, names, strict=True))
        companions |= declared
        present = [one for one in companions if engine.has_table(one)]
        for one in present:
            _drop_one_table(engine, companions[one], url, catalog, companion_of=name)
        return [one for one in (name, *present) if not engine.has_table(one)]


def _drop_one_table(
    engine: Engine,
    table: Design | str,
    url: str,
    catalog_url: str | None,
    companion_of: str | None = None,
) -> CatalogEntry | None:
    """Drop a table that exists, and its catalog entry; return the entry, None if it is damaged.

    Args:
        table: its design or its name.
        url: the URL of the engine.
        catalog_url: as for `drop_table`.
        companion_of: the dropped main table, if only a companion of it is to be dropped: another
            table of that name is left. None to drop any table but a companion of a main table that
            exists.

    Raises:
        InvalidArgument: it is a companion of a table that exists.
    """
    name = table if isinstance(table, str) else table.table
    with closing(_open_dropped_catalog(engine, table, url, catalog_url)) as memory:
        entry, is_damaged = None, False
        try:
            entry = memory.read(name)
        except CorruptionError:
            is_damaged = True
        main = "" if entry is None else entry.companion_of
        if companion_of is not None and main != companion_of:
            return entry
        if companion_of is None and main and engine.has_table(main):
            what = f"the table {name} is a companion of {main}, which could not be used without it"
            raise InvalidArgument(url, what, remedy=f"Drop {main}, which drops its companions too.")
        engine.drop_table(name)
        # A client that has created such a table again meanwhile keeps its entry.
        if entry is not None or is_damaged:
            with suppress(Conflict):
                memory.remove(name, None if entry is None else entry.version)
            remove_names_of(memory, name)
        return entry


def _find_dropped_table(
    engine: Engine, table: Design | str, url: str, catalog_url: str | None
) -> str:
    """Return the name of the table to drop: that which a moved table's name stands for.

    Raises:
        InvalidArgument: rows of the table are being moved.
    """
    name = table if isinstance(table, str) else table.table
    with closing(_open_dropped_catalog(engine, table, url, catalog_url)) as memory:
        try:
            entry = memory.read(name)
            used = name if entry is None else find_used_table(memory, name, entry)
            used_entry = entry if used == name else memory.read(used)
        except (CorruptionError, Unavailable):
            return name
        if used_entry is not None and used_entry.move is not None:
            what = f"the rows of {used} are being moved to {used_entry.move.target}"
            remedy = "End the move first: rowkey move finish drops one of both tables."
            raise InvalidArgument(url, what, remedy=remedy)
        if not engine.has_table(used):
            return name if engine.has_table(name) else used
        if (source := find_moving_table(memory, used)) not in (None, used):
            what = (
                f"the move of {source} to {used} was interrupted before its end, so {source} may "
                f"be left, or companions that still belong to it"
            )
            remedy = f"End the move first: rowkey move finish {source}."
            raise InvalidArgument(url, what, remedy=remedy)
        return used


def _open_dropped_catalog(
    engine: Engine, table: Design | str, url: str, catalog_url: str | None
) -> Catalog:
    """Open the catalog from which a dropped table is removed, even if the table is damaged."""
    name = table if isinstance(table, str) else table.table
    try:
        attributes = (
            engine.open_table(name).families_and_attributes[1] if engine.has_table(name) else {}
        )
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
    """Raise unless a design or table name, a URL and splits have the right types.

    Raises:
        InvalidArgument: one has another type, or the name cannot be that of a table.
    """
    if not isinstance(design, Design | str):
        what = f"{format_value(design)} is not a design"
        raise InvalidArgument("design", what, "a Design or a table's name")
    if isinstance(design, str):
        check_table_name(design)
    if not isinstance(url, str):
        raise InvalidArgument("url", f"{format_value(url)} is not a URL", "text such as rocks:PATH")
    is_list = splits is None or (
        isinstance(splits, list | tuple) and all(isinstance(one, bytes) for one in splits)
    )
    if not is_list:
        what = f"{format_value(splits)} is not a list of row keys"
        raise InvalidArgument("splits", what, "a list of bytes, ascending")
