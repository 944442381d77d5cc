"""Regions of a table: where they are, and what is done to them."""

from __future__ import annotations

from random import choice
from typing import TYPE_CHECKING, TypeVar

from rowkey.cells import ROW_BYTES_MOST, longest_split
from rowkey.errors import Refused
from rowkey.hbase.admin.declared import Given
from rowkey.hbase.admin.procedures import Procedures, waiting
from rowkey.hbase.locations import Region
from rowkey.hbase.requests.cluster_status import GetClusterStatus, Option
from rowkey.hbase.requests.compact_region import CompactRegion
from rowkey.hbase.requests.flush_region import FlushRegion
from rowkey.hbase.requests.merge_regions import MergeRegions
from rowkey.hbase.requests.move_region import MoveRegion
from rowkey.hbase.requests.region_info import Compacting, GetRegionInfo, RegionInfo
from rowkey.hbase.requests.split_region import SplitRegion
from rowkey.hbase.wire.names import Server

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rowkey.hbase.settings import Deadline

T = TypeVar("T")

_SHOWN = 5  # regions or servers that a message names


class Regions(Procedures):
    """What is asked of regions, and done to them; `wait_s` is seconds to wait for all of it."""

    def regions(self, name: str, *, wait_s: float | None = None) -> list[Region]:
        """The regions of a table in the order of their keys, each with its server, as of now.

        Raises:
            TableNotFound: there is no such table.
            TableNotEnabled: it is disabled, so its regions are nowhere.
            OutOfTime: some region was open nowhere all the while.
        """
        Given().name(name).seconds(wait_s).refuse()
        return self._caller.locations.regions(name, self._deadline(wait_s))

    def split(self, name: str, at: bytes, *, wait_s: float | None = None) -> tuple[Region, Region]:
        """Divides the region that holds a row key; returns when both halves are open.

        Args:
            name: the table.
            at: the row key with which the second half begins.
            wait_s: seconds to wait.

        Raises:
            Refused: a region begins there already, or the key is too long; nothing was sent.
            DoNotRetryIO: splits are switched off, or the region is fresh from another split and
                holds references: compact it first.
        """
        given = Given().name(name)
        most = ROW_BYTES_MOST if given.has("name") else longest_split(name)
        given.key("at", at, most).seconds(wait_s).refuse()
        deadline = self._deadline(wait_s)
        region = _holder(self._caller.locations.regions(name, deadline), at)
        if region.start == at:
            raise Refused("at", f"a region begins at {at!r} already", "a key within a region")
        info = RegionInfo.of_name(region.name, region.stop)

        def halves(regions: Sequence[Region]) -> tuple[Region, Region] | None:
            second = _holder(regions, at)
            if second.start != at:
                return None
            return regions[regions.index(second) - 1], second

        def split() -> bool:
            return halves(self._caller.locations.regions(name, deadline)) is not None

        self._run(name, SplitRegion(info, at), deadline, split)
        self._caller.locations.forget_table(name)
        return self._awaited(name, f"the region at {at!r} is not open", halves, deadline)

    def merge(
        self, name: str, first: bytes, second: bytes, *, wait_s: float | None = None
    ) -> Region:
        """Makes one region of two that are adjacent.

        Args:
            name: the table.
            first: a row key in one of them.
            second: a row key in the other.
            wait_s: seconds to wait.

        Raises:
            Refused: they are the same, or not adjacent; nothing was sent.
            MergeRegion: one is fresh from a split and holds references: compact it first.
            DoNotRetryIO: merges are switched off.
        """
        given = Given().name(name).key("first", first, ROW_BYTES_MOST)
        given.key("second", second, ROW_BYTES_MOST).seconds(wait_s).refuse()
        deadline = self._deadline(wait_s)
        regions = self._caller.locations.regions(name, deadline)
        left, right = sorted(
            (_holder(regions, first), _holder(regions, second)), key=lambda one: one.start
        )
        if left == right:
            raise Refused("second", f"{second!r} is in the region of {first!r}", "the next region")
        if left.stop != right.start:
            what = f"a region lies between {left.stop!r} and {right.start!r}"
            raise Refused("second", what, "the next region")

        def merged(regions: Sequence[Region]) -> Region | None:
            found = _holder(regions, left.start)
            return found if found.start == left.start and found.stop == right.stop else None

        def is_merged() -> bool:
            return merged(self._caller.locations.regions(name, deadline)) is not None

        self._run(name, MergeRegions(left.name, right.name), deadline, is_merged)
        self._caller.locations.forget_table(name)
        return self._awaited(name, "the merged region is not open", merged, deadline)

    def move(
        self, region: Region, server: Server | None = None, *, wait_s: float | None = None
    ) -> Region:
        """Moves a region to another server; returns when it is open there.

        Args:
            region: which.
            server: where to, with or without its start code; None takes any live server that the
                region is not on.
            wait_s: seconds to wait.

        Returns:
            The region where it is now.

        Raises:
            Refused: there is no such server, or no other one; nothing was sent.
            UnknownRegion: there is no such region any more.
        """
        given = Given().kind("region", region, Region, "region").seconds(wait_s)
        if server is not None:
            given.kind("server", server, Server, "server")
        given.refuse()
        deadline = self._deadline(wait_s)
        # Left to HBase, a request that is repeated would move the region once more.
        target = self._other(region, deadline) if server is None else self._live(server, deadline)
        self._caller.on_master(MoveRegion(region.name, target), deadline)
        self._caller.locations.forget(region)

        def moved(regions: Sequence[Region]) -> Region | None:
            here = [one for one in regions if one.name == region.name]
            return next((one for one in here if server is None or one.server == target), None)

        what = f"{region.name!r} is not open on {'any server' if server is None else target}"
        return self._awaited(region.table, what, moved, deadline)

    def _live(self, server: Server, deadline: Deadline) -> Server:
        """A live server by its name. HBase would move a region somewhere if it knows no such."""
        known = self._caller.on_master(GetClusterStatus((Option.SERVERS,)), deadline).servers
        for one in known:
            if one == server or (not server.start_code and one.address == server.address):
                return one
        raise Refused("server", f"{server} is not live", ", ".join(map(str, known[:_SHOWN])))

    def _other(self, region: Region, deadline: Deadline) -> Server:
        """Some live server that a region is not on now, any as likely as the others."""
        locations = self._caller.locations
        locations.forget(locations.locate(region.table, region.start, deadline))
        now = locations.locate(region.table, region.start, deadline)  # of hbase:meta, not of old
        home = now.server if now.name == region.name else region.server
        known = self._caller.on_master(GetClusterStatus((Option.SERVERS,)), deadline).servers
        others = [one for one in known if one.address != home.address]
        if not others:
            raise Refused("server", f"no server but {home} is live", "another live server")
        return choice(others)  # noqa: S311 - spreads regions, guards nothing

    def _awaited(
        self, name: str, what: str, find: Callable[[Sequence[Region]], T | None], deadline: Deadline
    ) -> T:
        """What is found among a table's regions, as soon as it is."""
        for _ in waiting(name, what, deadline):
            found = find(self._caller.locations.regions(name, deadline))
            if found is not None:
                return found
        raise AssertionError("waiting ends by an error")

    def flush(self, name: str, *, wait_s: float | None = None) -> None:
        """Writes what a table has in memory to files; returns when that is done.

        Raises:
            TableNotFound: there is no such table.
            TableNotEnabled: it is disabled.
        """
        Given().name(name).seconds(wait_s).refuse()
        deadline = self._deadline(wait_s)
        for region in self._caller.locations.regions(name, deadline):
            self._caller.on_row(name, region.start, FlushRegion(), deadline)

    def compact(
        self, name: str, *, major: bool = True, wait: bool = True, wait_s: float | None = None
    ) -> None:
        """Merges the files of a table.

        Args:
            name: the table.
            major: whether all files are merged, which drops what is deleted.
            wait: whether to return only when no region is compacting any more.
            wait_s: seconds to wait.

        Raises:
            TableNotFound: there is no such table.
            TableNotEnabled: it is disabled.
            OutOfTime: some region was still compacting; the text names the first of them.
        """
        Given().name(name).truth("major", major).truth("wait", wait).seconds(wait_s).refuse()
        deadline = self._deadline(wait_s)
        regions = self._caller.locations.regions(name, deadline)
        for region in regions:
            self._caller.on_row(name, region.start, CompactRegion(major), deadline)
        left = regions if wait else []
        for _ in waiting(name, "its regions are still compacting", deadline):
            left = [region for region in left if self._is_compacting(region, deadline)]
            if not left:
                return

    def _is_compacting(self, region: Region, deadline: Deadline) -> bool:
        state = self._caller.on_row(region.table, region.start, GetRegionInfo(), deadline)
        return state is not Compacting.NONE


def _holder(regions: Sequence[Region], row: bytes) -> Region:
    """The region that holds a row key: the last one that does not begin behind it."""
    return [region for region in regions if region.start <= row][-1]
