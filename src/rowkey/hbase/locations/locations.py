"""Where each row is: known regions first, then hbase:meta, for as long as a region is opening."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

from rowkey import forks
from rowkey.hbase.errors import HBaseError, TableNotEnabled, TableNotFound
from rowkey.hbase.locations.cache import NOTHING, RegionMap
from rowkey.hbase.locations.flights import Flights
from rowkey.hbase.locations.meta import META, Meta
from rowkey.hbase.locations.waiting import Waiting
from rowkey.hbase.wire.names import short_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rowkey.hbase.connection import Servers
    from rowkey.hbase.locations.region import Region
    from rowkey.hbase.locations.rows import MetaRow
    from rowkey.hbase.registry import Registry
    from rowkey.hbase.settings import Deadline, Settings
    from rowkey.hbase.wire.names import Server

ENABLED, ENABLING = 0, 3
"""Source: HBase.proto, TableState.State."""


NAME_BYTES_MOST = 511
"""Of a table's name: two directories of the file system and a colon. Source: NAME_MAX, 255."""


class Locations:
    """The regions of every table that was asked for, until somebody says that they are elsewhere.

    Threads may share one. What is forgotten is still doubted only: while hbase:meta itself cannot
    be asked, the last known place is given again, since a lost connection is not a lost region.

    Args:
        registry: tells where hbase:meta is, and learns which servers there are.
        servers: the connections.
        settings: pauses and budgets.
    """

    def __init__(self, registry: Registry, servers: Servers, settings: Settings) -> None:
        self._registry, self._settings = registry, settings
        self._meta = Meta(registry, servers, settings)
        self._is_closed = False
        self.reset_in_child()
        forks.register(self)
        self._known: dict[str, RegionMap] = {}
        self._doubted: dict[str, RegionMap] = {}
        self._flights: Flights[list[MetaRow]] = Flights(META)

    def reset_in_child(self) -> None:
        """In a forked child: have fresh locks; what is known stays true."""
        self._lock = Lock()
        self._closing = Event()
        if self._is_closed:
            self._closing.set()

    def locate(self, table: str, row: bytes, deadline: Deadline) -> Region:
        """The region that holds a row.

        Raises:
            TableNotFound: hbase:meta has no such table.
            TableNotEnabled: the table is disabled.
            OutOfTime: its region was not open in time, or nobody told.

        Cost: 0.5 µs if it is known, else 1 ms to 3 ms.
        """
        known = self._known.get(table)
        if known is not None:  # as RegionMap.holding, without the call
            at = bisect_right(known.starts, row)
            if at:
                region = known.regions[at - 1]
                stop = region.stop
                if not stop or row < stop:
                    return region
        return self._find(short_table(table), row, deadline, below=False)

    def locate_before(self, table: str, row: bytes, deadline: Deadline) -> Region:
        """The region that holds the greatest keys below a row; the last one for b"".

        Raises:
            TableNotFound: as `locate`; so are all others.
        """
        known = _look(self._known, table, row, below=True)
        return known or self._find(short_table(table), row, deadline, below=True)

    def _find(self, table: str, row: bytes, deadline: Deadline, *, below: bool) -> Region:
        waiting = Waiting(table, self._settings, deadline, self._closing)
        _require_name(table)
        while True:
            known = _look(self._known, table, row, below=below)
            if known is not None:
                return known
            try:
                found, why = self._asked(table, row, deadline, below=below)
            except HBaseError as error:
                if not error.retriable:
                    raise
                doubted = _look(self._doubted, table, row, below=below)
                if doubted is not None:
                    return doubted
                waiting.pause(f"nobody told where row {row!r} is", error)
                continue
            if found is not None:
                return found
            if why:
                waiting.pause(why)

    def _asked(
        self, table: str, row: bytes, deadline: Deadline, *, below: bool
    ) -> tuple[Region | None, str]:
        """The region as hbase:meta has it, or why there is none.

        Another thread may have asked for a neighbour: then there is neither, and it is asked again.
        """
        if table == META:
            return self._meta.region(deadline), ""
        gap = self._known.get(table, NOTHING).gap(row)
        mine = False

        def ask() -> list[MetaRow]:
            nonlocal mine
            mine = True
            rows = self._meta.below if below else self._meta.around
            return self._checked(table, rows(table, row, deadline), row, deadline, below=below)

        rows = self._flights.share((table, below, gap), ask, deadline)
        one = _that_holds(rows, row, below=below)
        if one is not None:
            state = one.state if one.server else f"{one.state} on no server"
            return one.region, f"the region of row {row!r} is {state}, not OPEN"
        return None, f"no region holds row {row!r}" if mine else ""

    def _checked(
        self, table: str, rows: list[MetaRow], row: bytes, deadline: Deadline, *, below: bool
    ) -> list[MetaRow]:
        """Take note of an answer; where the wanted region is not open, ask whether it will be."""
        self._learn(rows)
        one = _that_holds(rows, row, below=below)
        if one is None or one.region is None:
            self._require_enabled(table, deadline)
        return rows

    def _learn(self, rows: Iterable[MetaRow]) -> None:
        """Take note of the regions that can be asked."""
        regions = [region for region in (row.region for row in rows) if region is not None]
        with self._lock:
            for region in regions:
                self._put(region)
        self._registry.learn([region.server for region in regions])

    def _put(self, region: Region) -> None:
        table = region.table
        self._known[table] = self._known.get(table, NOTHING).with_region(region)
        doubted = self._doubted.get(table)
        if doubted is not None:
            _keep(self._doubted, table, doubted.without(region.start, region.stop))

    def _require_enabled(self, table: str, deadline: Deadline) -> None:
        """Refuse to wait for a table that nobody will open.

        Raises:
            TableNotFound: there is none of that name.
            TableNotEnabled: it is disabled, or is just being so.
        """
        state = self._meta.table_state(table, deadline)
        if state is None:
            self.forget_table(table)
            raise TableNotFound(table, "there is no such table")
        if state not in {ENABLED, ENABLING}:
            raise TableNotEnabled(table, "the table is disabled")

    def regions(self, table: str, deadline: Deadline) -> list[Region]:
        """All regions of a table in the order of their keys, fresh from hbase:meta.

        They join without a gap. One that is opening, or is just being split, is waited for.

        Raises:
            TableNotFound: hbase:meta has no such table.
            TableNotEnabled: it is disabled.
            OutOfTime: not all were open in time, or they leave a gap or overlap.

        Cost: 1 ms and 2 ms more for each 100 regions; fills the cache.
        """
        table = short_table(table)
        if table == META:
            return [self._find(META, b"", deadline, below=False)]
        waiting = Waiting(table, self._settings, deadline, self._closing)
        _require_name(table)
        while True:
            try:
                rows = self._meta.listing(table, deadline)
                problem = _incomplete(rows)
                if not problem:
                    return self._listed(table, rows)
                self._require_enabled(table, deadline)
            except HBaseError as error:
                if not error.retriable:
                    raise
                waiting.pause("nobody told its regions", error)
            else:
                waiting.pause(problem)

    def _listed(self, table: str, rows: Sequence[MetaRow]) -> list[Region]:
        found = [region for region in (row.region for row in rows) if region is not None]
        with self._lock:
            self._known[table] = RegionMap(found)
            self._doubted.pop(table, None)
        self._registry.learn({region.server for region in found})
        return found

    def forget(self, region: Region) -> None:
        """Look a region up the next time, unless it was looked up meanwhile."""
        if region.table == META:
            self._meta.forget(region)
            return
        with self._lock:
            known = self._known.get(region.table, NOTHING).holding(region.start)
            if known == region:
                self._doubt(region.table, [known])

    def forget_server(self, address: tuple[str, int]) -> None:
        """Look up all regions of a server the next time.

        Cost: O(n) of all regions known.
        """
        self._meta.forget_server(address)
        with self._lock:
            for table, known in list(self._known.items()):
                lost = [one for one in known.regions if one.server.address == address]
                if lost:
                    self._doubt(table, lost)

    def _doubt(self, table: str, regions: Sequence[Region]) -> None:
        """Hold known regions as doubted ones; what is doubted overlaps nothing that is known."""
        gone = {id(region) for region in regions}
        known = self._known[table]
        kept = RegionMap(one for one in known.regions if id(one) not in gone)
        _keep(self._known, table, kept)
        self._doubted[table] = self._doubted.get(table, NOTHING).joined(regions)

    def forget_table(self, table: str) -> None:
        """Know nothing of a table any more, not even in doubt."""
        with self._lock:
            self._known.pop(short_table(table), None)
            self._doubted.pop(short_table(table), None)

    def moved(self, region: Region, server: Server, seqnum: int) -> None:
        """Take a server's word for where a region went, unless a later opening is known."""
        with self._lock:
            self._put(replace(region, server=server, seqnum=seqnum))
        self._registry.learn([server])

    def close(self) -> None:
        """Let nobody wait any more; never waits."""
        self._is_closed = True
        self._closing.set()

    def dump(self) -> dict[str, Any]:
        """What is known, for people: regions by table, lookups asked, and answers shared."""
        meta = self._meta.known
        return {
            "meta": str(meta.server) if meta else None,
            "known": {table: len(some.regions) for table, some in list(self._known.items())},
            "doubted": {table: len(some.regions) for table, some in list(self._doubted.items())},
            "asked": self._flights.asked,
            "shared": self._flights.shared,
        }


def _keep(maps: dict[str, RegionMap], table: str, some: RegionMap) -> None:
    """Note the regions of a table; of one without any nothing is kept, as tables come and go."""
    if some.regions:
        maps[table] = some
    else:
        maps.pop(table, None)


def _require_name(table: str) -> None:
    """Refuse a name that no table can have; what else is no name, hbase:meta does not have.

    Raises:
        TableNotFound: it is empty, very long, or has half a character.
    """
    try:
        size = len(table.encode())
    except UnicodeEncodeError:
        size = 0
    if not 0 < size <= NAME_BYTES_MOST:
        raise TableNotFound(repr(table), "no table can be named so")


def _look(maps: dict[str, RegionMap], table: str, row: bytes, *, below: bool) -> Region | None:
    known = maps.get(table, NOTHING)
    return known.below(row) if below else known.holding(row)


def _that_holds(rows: Iterable[MetaRow], row: bytes, *, below: bool) -> MetaRow | None:
    """The one of some rows of hbase:meta that is about a row."""
    return next((one for one in rows if (one.holds_below if below else one.holds)(row)), None)


def _incomplete(rows: Sequence[MetaRow]) -> str:
    """Why a listing is not all of a table, open and in one piece; empty if it is."""
    if not rows:
        return "it has no regions"
    closed = [row for row in rows if row.region is None]
    if closed:
        first = closed[0]
        told = f"{len(closed)} of its {len(rows)} regions are not open"
        return f"{told}; the one at {first.start!r} is {first.state}"
    end = b""
    for place, row in enumerate(rows):
        if row.start != end or (place and not end):
            return f"its regions do not join at {end!r}: the next one starts at {row.start!r}"
        end = row.stop
    return f"no region holds the rows from {end!r} on" if end else ""
