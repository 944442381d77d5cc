"""Regions of a table: where they are, and what is done to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from rowkey.cells import ROW_BYTES_MOST, longest_split
from rowkey.errors import Refused, shown
from rowkey.hbase.admin.procedures import Procedures, waiting
from rowkey.hbase.requests.cluster_status import GetClusterStatus, Option
from rowkey.hbase.requests.compact_region import CompactRegion
from rowkey.hbase.requests.flush_region import FlushRegion
from rowkey.hbase.requests.merge_regions import MergeRegions
from rowkey.hbase.requests.move_region import MoveRegion
from rowkey.hbase.requests.region_info import Compacting, GetRegionInfo, RegionInfo
from rowkey.hbase.requests.split_region import SplitRegion

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rowkey.hbase.locations import Region
    from rowkey.hbase.settings import Deadline
    from rowkey.hbase.wire.names import Server

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
        _check_key("at", at, longest_split(name))
        deadline = self._deadline(wait_s)
        region = _holder(self._caller.locations.regions(name, deadline), at)
        if region.start == at:
            raise Refused("at", f"a region begins at {at!r} already", "a key within a region")
        info = RegionInfo.of_name(region.name, region.stop)
        self._run(name, SplitRegion(info, at), deadline)
        self._caller.locations.forget_table(name)

        def halves(regions: Sequence[Region]) -> tuple[Region, Region] | None:
            second = _holder(regions, at)
            if second.start != at:
                return None
            return regions[regions.index(second) - 1], second

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
        for path, row in (("first", first), ("second", second)):
            _check_key(path, row, ROW_BYTES_MOST)
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
        self._run(name, MergeRegions(left.name, right.name), deadline)
        self._caller.locations.forget_table(name)

        def merged(regions: Sequence[Region]) -> Region | None:
            found = _holder(regions, left.start)
            return found if found.start == left.start and found.stop == right.stop else None

        return self._awaited(name, "the merged region is not open", merged, deadline)

    def move(
        self, region: Region, server: Server | None = None, *, wait_s: float | None = None
    ) -> Region:
        """Moves a region to another server; returns when it is open there.

        Args:
            region: which.
            server: where to, with or without its start code; None leaves that to HBase.
            wait_s: seconds to wait.

        Returns:
            The region where it is now.

        Raises:
            Refused: there is no such server; nothing was sent.
            UnknownRegion: there is no such region any more.
        """
        deadline = self._deadline(wait_s)
        target = None if server is None else self._live(server, deadline)
        self._caller.on_master(MoveRegion(region.name, target), deadline)
        self._caller.locations.forget(region)

        def moved(regions: Sequence[Region]) -> Region | None:
            here = [one for one in regions if one.name == region.name]
            return next((one for one in here if target in (None, one.server)), None)

        what = f"{region.name!r} is not open on {target or 'any server'}"
        return self._awaited(region.table, what, moved, deadline)

    def _live(self, server: Server, deadline: Deadline) -> Server:
        """A live server by its name. HBase would move a region somewhere if it knows no such."""
        known = self._caller.on_master(GetClusterStatus((Option.SERVERS,)), deadline).servers
        for one in known:
            if one == server or (not server.start_code and one.address == server.address):
                return one
        raise Refused("server", f"{server} is not live", ", ".join(map(str, known[:_SHOWN])))

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


def _check_key(path: str, key: object, most: int) -> None:
    """Raise unless something is a key of at most so many bytes."""
    if not isinstance(key, bytes):
        raise Refused(path, f"{shown(key)} is no row key", "bytes")
    if len(key) > most:
        raise Refused(path, f"the key is {len(key):,} bytes long", f"1..{most:,}")


def _holder(regions: Sequence[Region], row: bytes) -> Region:
    """The region that holds a row key: the last one that does not begin behind it."""
    return [region for region in regions if region.start <= row][-1]
