"""Locations while hbase:meta, or whoever knows where it is, gives trouble."""

from __future__ import annotations

from threading import Barrier, Event, Thread
from typing import TYPE_CHECKING

import pytest

from hbase.locations.test_locations import one_table, opened, soon
from rowkey.hbase.errors import MalformedAnswer, TableNotFound
from rowkey.hbase.locations import Region
from rowkey.hbase.registry import NobodyKnows
from rowkey.hbase.wire.frames import Response

if TYPE_CHECKING:
    from rowkey.hbase.settings import Deadline
    from rowkey.hbase.wire.names import Server


def test_who_follows_a_hurried_lookup_of_meta_waits_on() -> None:
    """One asks the registry for all; that it does not tell in time is no end for the others."""
    fake = one_table()
    calls: list[float] = []

    def meta(deadline: Deadline) -> Server:
        calls.append(deadline.left())
        if len(calls) < 3:
            Event().wait(deadline.left())
            raise NobodyKnows("hbase://zk", "where hbase:meta is", [])
        return fake.server

    fake.meta = meta  # type: ignore[method-assign]
    locations = opened(fake, call_s=0.1)
    barrier, found = Barrier(8), list[Region | BaseException]()

    def find(table: str) -> None:
        barrier.wait()
        try:
            found.append(locations.locate(table, b"x", soon()))
        except BaseException as error:  # noqa: BLE001 - told below
            found.append(error)

    tables = ["s", "t", "t2", "ns:t", "t-", "t.x", "s", "t"]
    threads = [Thread(target=find, args=(table,)) for table in tables]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(tables) == sorted(one.table for one in found if isinstance(one, Region))
    assert max(calls) <= 0.1


def test_an_answer_that_cannot_be_read_is_asked_for_again() -> None:
    """A few times; then it is told as what it is, for it may be another thing's port."""
    fake = one_table()
    bad = Response(0, None, b"\xff", b"")
    fake.failures = [bad, bad]  # type: ignore[list-item]
    assert "t" == opened(fake).locate("t", b"x", soon()).table
    fake = one_table()
    fake.failures = [bad] * 99  # type: ignore[list-item]
    with pytest.raises(MalformedAnswer, match=r"hbase:meta: .*end within"):
        opened(fake).locate("t", b"x", soon())


def test_tables_that_come_and_go_leave_nothing_behind() -> None:
    """What is known of a table, and what is doubted, goes when there is no such table any more."""
    fake = one_table()
    locations = opened(fake)
    for number in range(20):
        name = f"t{number}x"
        fake.create(name)
        locations.forget(locations.locate(name, b"x", soon()))
        fake.entries = [one for one in fake.entries if one.table != name]
        del fake.states[name]
        with pytest.raises(TableNotFound):
            locations.locate(name, b"x", soon())
    assert ({}, {}) == (locations.dump()["known"], locations.dump()["doubted"])
