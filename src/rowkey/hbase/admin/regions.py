"""List, split, merge, move, flush and compact the regions of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import choice
from typing import TypeVar

from rowkey.cells import MAX_ROW_BYTES, compute_max_split_bytes
from rowkey.errors import InvalidArgument
from rowkey.hbase.admin.argument_checks import ArgumentChecks
from rowkey.hbase.admin.procedures import ProcedureRunner, poll_with_backoff
from rowkey.hbase.locations import RegionLocation
from rowkey.hbase.requests.cluster import GetClusterStatus, StatusOption
from rowkey.hbase.requests.regions import (
    CompactionState,
    CompactRegion,
    FlushRegion,
    GetRegionInfo,
    MergeRegions,
    MoveRegion,
    RegionInfo,
    SplitRegion,
)
from rowkey.hbase.settings import Deadline
from rowkey.hbase.wire.names import ServerName

T = TypeVar("T")

_MAX_NAMES_SHOWN = 5  # regions or servers that a message names


class RegionAdmin(ProcedureRunner):
    """List and change regions; `wait_s` is the number of seconds to wait for all of it."""

    def list_regions(self, name: str, *, wait_s: float | None = None) -> list[RegionLocation]:
        """Return the regions of a table in key order, each with its current server.

        Raises:
            TableNotFound: there is no such table.
            TableNotEnabled: it is disabled, so its regions have no server.
            OperationTimedOut: a region was not open on any server.
        """
        ArgumentChecks().check_name(name).check_seconds(wait_s).raise_mistakes()
        return self._caller.locator.list_regions(name, self._build_deadline(wait_s))

    def split_region(
        self, name: str, split_key: bytes, *, wait_s: float | None = None
    ) -> tuple[RegionLocation, RegionLocation]:
        """Split the region that holds a row key; return when both halves are open.

        Args:
            name: the table.
            split_key: the first row key of the second half.
            wait_s: seconds to wait.

        Raises:
            InvalidArgument: a region starts at this key already, or the key is too long; nothing
                was sent.
            DoNotRetryIO: splits are switched off, or the region still refers to files of an
                earlier split: compact it first.
        """
        checks = ArgumentChecks().check_name(name)
        max_bytes = MAX_ROW_BYTES if checks.has_mistake("name") else compute_max_split_bytes(name)
        checks.check_row_key("split_key", split_key, max_bytes)
        checks.check_seconds(wait_s).raise_mistakes()
        deadline = self._build_deadline(wait_s)
        region = _find_region(self._caller.locator.list_regions(name, deadline), split_key)
        if region.start == split_key:
            raise InvalidArgument(
                "split_key",
                f"a region starts at {split_key!r} already",
                "a row key inside a region",
            )
        info = RegionInfo.from_name(region.name, region.stop)

        def find_halves(
            regions: Sequence[RegionLocation],
        ) -> tuple[RegionLocation, RegionLocation] | None:
            second = _find_region(regions, split_key)
            if second.start != split_key:
                return None
            return regions[regions.index(second) - 1], second

        def is_split() -> bool:
            return find_halves(self._caller.locator.list_regions(name, deadline)) is not None

        self._run_procedure(name, SplitRegion(info, split_key), deadline, is_split)
        self._caller.locator.forget_table(name)
        return self._wait_for_regions(
            name, f"the region that starts at {split_key!r} is not open yet", find_halves, deadline
        )

    def merge_regions(
        self, name: str, first: bytes, second: bytes, *, wait_s: float | None = None
    ) -> RegionLocation:
        """Merge two adjacent regions and return the merged region.

        Args:
            name: the table.
            first: a row key in one of the regions.
            second: a row key in the other region.
            wait_s: seconds to wait.

        Raises:
            InvalidArgument: the regions are the same or not adjacent; nothing was sent.
            MergeRegion: a region still refers to files of an earlier split: compact it first.
            DoNotRetryIO: merges are switched off.
        """
        checks = ArgumentChecks().check_name(name).check_row_key("first", first, MAX_ROW_BYTES)
        checks.check_row_key("second", second, MAX_ROW_BYTES)
        checks.check_seconds(wait_s).raise_mistakes()
        deadline = self._build_deadline(wait_s)
        regions = self._caller.locator.list_regions(name, deadline)
        left, right = sorted(
            (_find_region(regions, first), _find_region(regions, second)), key=lambda one: one.start
        )
        if left == right:
            what = f"{second!r} is in the same region as {first!r}"
            raise InvalidArgument("second", what, "a row key in the next region")
        if left.stop != right.start:
            what = (
                f"the regions are not neighbors: {left.stop!r} to {right.start!r} is between them"
            )
            raise InvalidArgument("second", what, "a row key in the next region")

        def find_merged(regions: Sequence[RegionLocation]) -> RegionLocation | None:
            region = _find_region(regions, left.start)
            is_whole = (region.start, region.stop) == (left.start, right.stop)
            return region if is_whole else None

        def is_merged() -> bool:
            return find_merged(self._caller.locator.list_regions(name, deadline)) is not None

        self._run_procedure(name, MergeRegions(left.name, right.name), deadline, is_merged)
        self._caller.locator.forget_table(name)
        return self._wait_for_regions(
            name, "the merged region is not open yet", find_merged, deadline
        )

    def move_region(
        self,
        region: RegionLocation,
        server: ServerName | None = None,
        *,
        wait_s: float | None = None,
    ) -> RegionLocation:
        """Move a region to another server; return when it is open there.

        Args:
            server: the target, with or without its start code; None for any other live server.
            wait_s: seconds to wait.

        Returns:
            The region at its new location.

        Raises:
            InvalidArgument: the server is not live, or there is no other one; nothing was sent.
            UnknownRegion: the region does not exist any more.
        """
        checks = ArgumentChecks().check_type("region", region, RegionLocation, "region")
        checks.check_seconds(wait_s)
        if server is not None:
            checks.check_type("server", server, ServerName, "server")
        checks.raise_mistakes()
        deadline = self._build_deadline(wait_s)
        # If HBase chose the target, a repeated request would move the region again.
        target = (
            self._choose_other_server(region, deadline)
            if server is None
            else self._find_live_server(server, deadline)
        )
        self._caller.call_master(MoveRegion(region.name, target), deadline)
        self._caller.locator.forget_region(region)

        def find_moved(regions: Sequence[RegionLocation]) -> RegionLocation | None:
            """Return the region if it is open on its new server, else None."""
            same = [one for one in regions if one.name == region.name]
            return next((one for one in same if server is None or one.server == target), None)

        where = "another server" if server is None else target
        what = f"the region {region.name!r} is not open on {where} yet"
        return self._wait_for_regions(region.table, what, find_moved, deadline)

    def _find_live_server(self, server: ServerName, deadline: Deadline) -> ServerName:
        """Return the live server with this name, or raise; the start code may be missing."""
        live = self._list_live_servers(deadline)
        for one in live:
            if one == server or (not server.start_code and one.address == server.address):
                return one
        allowed = f"one of {', '.join(map(str, live[:_MAX_NAMES_SHOWN]))}" if live else ""
        raise InvalidArgument("server", f"{server} is not a live region server", allowed)

    def _list_live_servers(self, deadline: Deadline) -> tuple[ServerName, ...]:
        """Return the live region servers, as the master reports them."""
        request = GetClusterStatus((StatusOption.SERVERS,))
        return self._caller.call_master(request, deadline).servers

    def _choose_other_server(self, region: RegionLocation, deadline: Deadline) -> ServerName:
        """Return a random live server other than the region's current one.

        Raises:
            InvalidArgument: there is no other live server.
        """
        locations = self._caller.locator
        locations.forget_region(locations.locate_region(region.table, region.start, deadline))
        current = locations.locate_region(region.table, region.start, deadline)  # from hbase:meta
        source = current.server if current.name == region.name else region.server
        candidates = [
            one for one in self._list_live_servers(deadline) if one.address != source.address
        ]
        if not candidates:
            what = f"{source}, which has the region, is the only live region server"
            raise InvalidArgument("server", what, remedy="Start another region server first.")
        return choice(candidates)  # noqa: S311 - spreads regions, guards nothing

    def _wait_for_regions(
        self,
        name: str,
        what: str,
        find: Callable[[Sequence[RegionLocation]], T | None],
        deadline: Deadline,
    ) -> T:
        """Poll the regions of a table until `find` returns something, and return that."""
        for _ in poll_with_backoff(name, what, deadline):
            result = find(self._caller.locator.list_regions(name, deadline))
            if result is not None:
                return result
        raise AssertionError("poll_with_backoff raises at the deadline")

    def flush_table(self, name: str, *, wait_s: float | None = None) -> None:
        """Flush the memstores of a table to files; return when that is done.

        Raises:
            TableNotFound: there is no such table.
            TableNotEnabled: it is disabled.
        """
        ArgumentChecks().check_name(name).check_seconds(wait_s).raise_mistakes()
        deadline = self._build_deadline(wait_s)
        for region in self._caller.locator.list_regions(name, deadline):
            self._caller.call_row(name, region.start, FlushRegion(), deadline)

    def compact_table(
        self, name: str, *, major: bool = True, wait: bool = True, wait_s: float | None = None
    ) -> None:
        """Compact the files of a table.

        Args:
            major: whether all files are merged, which removes deleted cells.
            wait: whether to wait until no region is compacting any more.
            wait_s: seconds to wait.

        Raises:
            TableNotFound: there is no such table.
            TableNotEnabled: it is disabled.
            OperationTimedOut: a region is still compacting.
        """
        ArgumentChecks().check_name(name).check_bool("major", major).check_bool(
            "wait", wait
        ).check_seconds(wait_s).raise_mistakes()
        deadline = self._build_deadline(wait_s)
        regions = self._caller.locator.list_regions(name, deadline)
        for region in regions:
            self._caller.call_row(name, region.start, CompactRegion(major), deadline)
        compacting = regions if wait else []
        for _ in poll_with_backoff(name, "regions of the table are still compacting", deadline):
            compacting = [region for region in compacting if self._is_compacting(region, deadline)]
            if not compacting:
                return

    def is_compacting(self, name: str, *, wait_s: float | None = None) -> bool:
        """Return whether a region of a table is compacting its files.

        Args:
            wait_s: seconds to wait for the answers.

        Raises:
            TableNotFound: there is no such table.
        """
        ArgumentChecks().check_name(name).check_seconds(wait_s).raise_mistakes()
        deadline = self._build_deadline(wait_s)
        regions = self._caller.locator.list_regions(name, deadline)
        return any(self._is_compacting(region, deadline) for region in regions)

    def _is_compacting(self, region: RegionLocation, deadline: Deadline) -> bool:
        state = self._caller.call_row(region.table, region.start, GetRegionInfo(), deadline)
        return state is not CompactionState.NONE


def _find_region(regions: Sequence[RegionLocation], row: bytes) -> RegionLocation:
    """Return the region that holds a row key: the last one that starts at or before it."""
    return [region for region in regions if region.start <= row][-1]
