"""A table whose catalog is a ZooKeeper that is lost: writes go on for a while, then none, then all.

What a client may write while it cannot ask is bounded by its lease. Beyond it every write is
refused, so that whoever changes the buckets meanwhile knows when nobody goes by the old ones.
"""

from __future__ import annotations

import time
from contextlib import closing, contextmanager
from secrets import token_hex
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from catalog.outages import ZooKeeperLink, link_zookeeper
from cluster.site import HOST
from rowkey.catalog import open_catalog
from rowkey.catalog.lease import REFRESH_DIVISOR
from rowkey.errors import Unavailable
from table.clients import misplaced

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from catalog.zookeepers import ZooKeeper
    from rowkey.table import Table

FIELDS: dict[str, Any] = {"host": "text", "ts": "timestamp_ms"}
STALE_S, PATIENT_S = 2.0, 15.0
BACK_S = 10.0
"""Within that time all is as before once an outage is over."""
PAUSE_S = 0.001
"""Between two puts: 1,000 in a second at most."""
OUTAGES = ("killed", "paused", "held")


@pytest.fixture
def way(zookeeper: ZooKeeper) -> Iterator[ZooKeeperLink]:
    """A way to ZooKeeper on which it can be lost."""
    with link_zookeeper(zookeeper) as way:
        yield way


def made(way: ZooKeeperLink, tmp_path: Path, stale_s: float) -> Table:
    """A table that is remembered at the end of the way."""
    url = way.url(f"/rowkey/{token_hex(4)}", "500ms")
    design = rowkey.Design(
        "logs", "[bucket(host, ts, 16)][host][ts]", fields=FIELDS, splits="per_bucket", catalog=url
    )
    return rowkey.open(design, f"memory:{tmp_path}", max_stale=stale_s)


class Putting:
    """Puts one row after the other; those that are refused are told apart."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.done: list[dict[str, Any]] = []
        self.refused = 0
        self.oldest_s = 0.0
        """How old what was known has been at most, when a row was taken."""
        self.early: list[float] = []
        """How old the lease was where a put was refused before its end."""

    def put(self) -> bool:
        """Put the next row; says whether it was taken."""
        row = {"host": f"h{len(self.done) % 7}", "ts": len(self.done)}
        time.sleep(PAUSE_S)
        try:
            self.table.put(row)
        except Unavailable:
            self.refused += 1
            if not self.table.lease.is_expired:
                self.early.append(self.table.lease.age_s)
            return False
        self.done.append(row)
        self.oldest_s = max(self.oldest_s, self.table.lease.age_s)
        return True

    def during(self, seconds: float) -> None:
        """Put for so long."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.put()

    def until_taken(self) -> None:
        """Put until one is taken again, as it must be soon."""
        until = time.monotonic() + BACK_S
        while not self.put():
            assert time.monotonic() < until


def through(putting: Putting, outage: AbstractContextManager[None], seconds: float) -> None:
    """Put before an outage, in it, and after it."""
    putting.during(0.5)
    with outage:
        putting.during(seconds)
    putting.until_taken()
    putting.during(0.5)


def hold_to_what_was_taken(putting: Putting) -> None:
    """Every row that was taken is there, where some live generation puts it, and no other."""
    table = putting.table
    assert putting.done == table.get_many(putting.done)
    assert putting.done == sorted(table.scan(), key=lambda row: row["ts"])
    assert [] == misplaced(table)


EACH = [OUTAGES[0], *(pytest.param(kind, marks=pytest.mark.long) for kind in OUTAGES[1:])]


@pytest.mark.parametrize("kind", EACH)
def test_no_write_fails_in_a_short_outage(way: ZooKeeperLink, tmp_path: Path, kind: str) -> None:
    """One that is over before the lease is costs nobody anything."""
    with made(way, tmp_path, PATIENT_S) as table:
        putting = Putting(table)
        through(putting, way.outage(kind), 5.0)
        assert 0 == putting.refused
        assert putting.oldest_s > PATIENT_S / REFRESH_DIVISOR  # it asked in vain, and went on
        hold_to_what_was_taken(putting)


@pytest.mark.parametrize(
    ("kind", "seconds"),
    [
        ("killed", 3.0),
        *(pytest.param(kind, 5.0, marks=pytest.mark.long) for kind in OUTAGES[1:]),
        *(pytest.param(kind, 30.0, marks=pytest.mark.long) for kind in OUTAGES),
        pytest.param("held", 120.0, marks=pytest.mark.long),
    ],
)
def test_a_long_outage_ends_in_refusals(
    way: ZooKeeperLink, tmp_path: Path, kind: str, seconds: float
) -> None:
    """Until its lease is over a client writes, then nothing, and all again once it can ask."""
    with made(way, tmp_path, STALE_S) as table:
        putting = Putting(table)
        through(putting, way.outage(kind), seconds)
        assert putting.refused > 0
        assert [] == putting.early
        hold_to_what_was_taken(putting)


@contextmanager
def beside(far: Table, place: str, zookeeper: ZooKeeper, way: ZooKeeperLink) -> Iterator[Table]:
    """Another client of a table, which reaches ZooKeeper by a way of its own."""
    url = far.design.declaration.catalog
    assert url is not None
    with (
        closing(open_catalog(url.replace(way.wire.hosts, f"{HOST}:{zookeeper.port}"))) as catalog,
        rowkey.open("logs", place, catalog=url) as near,
    ):
        near.catalog = near.lease.catalog = catalog
        yield near


RUNS = [0, *(pytest.param(run, marks=pytest.mark.long) for run in range(1, 50))]


@pytest.mark.parametrize("run", RUNS)
def test_a_client_that_is_cut_off_is_fenced(
    zookeeper: ZooKeeper, way: ZooKeeperLink, tmp_path: Path, run: int
) -> None:
    """While others change the buckets it writes the old ones, then none, and then the new ones."""
    with (
        made(way, tmp_path, STALE_S) as far,
        beside(far, f"memory:{tmp_path}", zookeeper, way) as near,
    ):
        putting = Putting(far)
        putting.during(0.1 + 0.02 * run)
        with way.outage("held"):
            setter = Thread(target=near.set_buckets, args=(32,))
            setter.start()
            while setter.is_alive():
                putting.put()
            setter.join()
            assert 32 == near.buckets.parts[0].count
            assert [] == putting.early
            taken = len(putting.done)
            others = [{"host": "near", "ts": n} for n in range(50)]
            for row in others:
                near.put(row)
            putting.during(0.2)
            assert (taken, True) == (len(putting.done), putting.refused > 0)
        putting.until_taken()
        putting.during(0.2)
        assert 32 == far.buckets.parts[0].count
        rows = sorted((*putting.done, *others), key=lambda row: (row["host"], row["ts"]))
        for table in (far, near):
            assert rows == list(table.scan(order="host, ts"))
            assert rows == table.get_many(rows)
            assert [] == misplaced(table)
