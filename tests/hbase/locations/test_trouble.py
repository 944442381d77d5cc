"""The region locator when hbase:meta or the registry fails."""

from __future__ import annotations

from threading import Barrier, Event, Thread
from typing import TYPE_CHECKING

import pytest

from hbase.locations.test_locations import build_deadline, build_meta, open_locations
from rowkey.hbase.errors import MalformedAnswer, TableNotFound
from rowkey.hbase.locations import RegionLocation
from rowkey.hbase.registry import RegistryUnavailable
from rowkey.hbase.wire.frames import Response

if TYPE_CHECKING:
    from rowkey.hbase.settings import Deadline
    from rowkey.hbase.wire.names import ServerName


def test_a_shared_lookup_times_out_only_for_the_thread_with_the_shorter_deadline() -> None:
    """In a shared lookup the thread with the shorter deadline fails, and others go on."""
    fake = build_meta()
    calls: list[float] = []

    def meta(deadline: Deadline) -> ServerName:
        calls.append(deadline.get_remaining_s())
        if len(calls) < 3:
            Event().wait(deadline.get_remaining_s())
            raise RegistryUnavailable("hbase://zk", "where hbase:meta is", [])
        return fake.server

    fake.get_meta_server = meta  # type: ignore[method-assign]
    locations = open_locations(fake, call_timeout_s=0.1)
    barrier, found = Barrier(8), list[RegionLocation | BaseException]()

    def find(table: str) -> None:
        barrier.wait()
        try:
            found.append(locations.locate_region(table, b"x", build_deadline()))
        except BaseException as error:  # noqa: BLE001 - told below
            found.append(error)

    tables = ["s", "t", "t2", "ns:t", "t-", "t.x", "s", "t"]
    threads = [Thread(target=find, args=(table,)) for table in tables]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(tables) == sorted(one.table for one in found if isinstance(one, RegionLocation))
    assert max(calls) <= 0.1


def test_a_malformed_lookup_answer_is_retried_a_few_times() -> None:
    """A malformed answer is retried a few times and then raised."""
    fake = build_meta()
    bad = Response(0, None, b"\xff", b"")
    fake.failures = [bad, bad]  # type: ignore[list-item]
    assert "t" == open_locations(fake).locate_region("t", b"x", build_deadline()).table
    fake = build_meta()
    fake.failures = [bad] * 99  # type: ignore[list-item]
    with pytest.raises(MalformedAnswer, match=r"hbase:meta: .*end within"):
        open_locations(fake).locate_region("t", b"x", build_deadline())


def test_a_dropped_table_leaves_no_regions_in_the_cache() -> None:
    """Cached and stale regions of a table are removed when the table is missing."""
    fake = build_meta()
    locations = open_locations(fake)
    for number in range(20):
        name = f"t{number}x"
        fake.create(name)
        locations.forget_region(locations.locate_region(name, b"x", build_deadline()))
        fake.entries = [one for one in fake.entries if one.table != name]
        del fake.states[name]
        with pytest.raises(TableNotFound):
            locations.locate_region(name, b"x", build_deadline())
    state = locations.dump_state()
    assert ({}, {}) == (state["cached_regions"], state["stale_regions"])
