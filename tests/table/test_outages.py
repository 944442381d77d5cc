"""A table whose catalog is a ZooKeeper that is lost: writes go on for a while, then none, then all.

A client that cannot reach ZooKeeper writes until its lease ends. After that every write is refused,
so that a client that changes the buckets knows when no other client uses the old ones.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
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
from table.clients import list_misplaced_rows

if TYPE_CHECKING:
    from catalog.zookeepers import ZooKeeper
    from rowkey.table import Table

FIELDS: dict[str, Any] = {"host": "text", "ts": "timestamp_ms"}
STALE_S, PATIENT_S = 2.0, 15.0
BACK_S = 10.0
"""Within that time all is as before once an outage is over."""
BUSY_S = 30.0
"""How long the table is tried to be created before the outage."""
PAUSE_S = 0.001
"""Between two puts: 1,000 in a second at most."""
OUTAGES = ("killed", "paused", "held")


@pytest.fixture
def zookeeper_route(zookeeper: ZooKeeper) -> Iterator[ZooKeeperLink]:
    """A route to ZooKeeper that can be interrupted."""
    with link_zookeeper(zookeeper) as way:
        yield way


def create_table(way: ZooKeeperLink, tmp_path: Path, stale_s: float) -> Table:
    """Create a table whose ZooKeeper catalog is reached through the link."""
    url = way.url(f"/rowkey/{token_hex(4)}", "500ms")
    design = rowkey.Design(
        "logs", "[bucket(host, ts, 16)][host][ts]", fields=FIELDS, splits="per_bucket", catalog=url
    )
    until = time.monotonic() + BUSY_S
    while True:
        try:
            return rowkey.open(design, f"memory:{tmp_path}", max_stale=stale_s)
        except Unavailable:  # half a second may be too short on a busy machine
            if time.monotonic() > until:
                raise


class PuttingClient:
    """Puts rows one after the other, and separates accepted from refused rows."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.done: list[dict[str, Any]] = []
        self.refused = 0
        self.oldest_s = 0.0
        """How old what was known has been at most, when a row was taken."""
        self.early: list[float] = []
        """How old the lease was where a put was refused before its end."""

    def put(self) -> bool:
        """Put the next row; return whether the row was accepted."""
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
        """Put rows for some seconds."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.put()

    def until_taken(self) -> None:
        """Put rows until one is accepted again, within a timeout."""
        until = time.monotonic() + BACK_S
        while not self.put():
            assert time.monotonic() < until


def put_through_outage(
    putting: PuttingClient, outage: AbstractContextManager[None], seconds: float
) -> None:
    """Put rows before, during and after an outage."""
    putting.during(0.5)
    with outage:
        putting.during(seconds)
    putting.until_taken()
    putting.during(0.5)


def check_accepted_rows(putting: PuttingClient) -> None:
    """Check that exactly the accepted rows are stored, where a live generation puts them."""
    table = putting.table
    assert putting.done == table.get_many(putting.done)
    assert putting.done == sorted(table.scan(), key=lambda row: row["ts"])
    assert [] == list_misplaced_rows(table)


OUTAGE_PARAMETERS = [
    OUTAGES[0],
    *(pytest.param(kind, marks=pytest.mark.long) for kind in OUTAGES[1:]),
]


@pytest.mark.parametrize("kind", OUTAGE_PARAMETERS)
def test_no_write_fails_in_an_outage_shorter_than_the_lease(
    zookeeper_route: ZooKeeperLink, tmp_path: Path, kind: str
) -> None:
    with create_table(zookeeper_route, tmp_path, PATIENT_S) as table:
        putting = PuttingClient(table)
        put_through_outage(putting, zookeeper_route.outage(kind), 5.0)
        assert 0 == putting.refused
        assert putting.oldest_s > PATIENT_S / REFRESH_DIVISOR  # it asked in vain, and went on
        check_accepted_rows(putting)


@pytest.mark.parametrize(
    ("kind", "seconds"),
    [
        ("killed", 3.0),
        *(pytest.param(kind, 5.0, marks=pytest.mark.long) for kind in OUTAGES[1:]),
        pytest.param("held", 60.0, marks=pytest.mark.long),
    ],
)
def test_writes_are_refused_when_an_outage_outlasts_the_lease(
    zookeeper_route: ZooKeeperLink, tmp_path: Path, kind: str, seconds: float
) -> None:
    """Writes are accepted until the lease ends, refused after that, and accepted again."""
    with create_table(zookeeper_route, tmp_path, STALE_S) as table:
        putting = PuttingClient(table)
        put_through_outage(putting, zookeeper_route.outage(kind), seconds)
        assert putting.refused > 0
        assert [] == putting.early
        check_accepted_rows(putting)


@contextmanager
def open_second_client(
    far: Table, place: str, zookeeper: ZooKeeper, way: ZooKeeperLink
) -> Iterator[Table]:
    """Open the table as another client, with its own route to ZooKeeper."""
    url = far.design.declaration.catalog
    assert url is not None
    with (
        closing(open_catalog(url.replace(way.wire.hosts, f"{HOST}:{zookeeper.port}"))) as catalog,
        rowkey.open("logs", place, catalog=url) as near,
    ):
        near.catalog = near.lease.catalog = catalog
        yield near


RUNS = [0, *(pytest.param(run, marks=pytest.mark.long) for run in range(5, 50, 5))]


@pytest.mark.parametrize("run", RUNS)
def test_a_disconnected_client_is_fenced_after_its_lease(
    zookeeper: ZooKeeper, zookeeper_route: ZooKeeperLink, tmp_path: Path, run: int
) -> None:
    """A disconnected client writes old buckets, then nothing, and new buckets at the end."""
    with (
        create_table(zookeeper_route, tmp_path, STALE_S) as far,
        open_second_client(far, f"memory:{tmp_path}", zookeeper, zookeeper_route) as near,
    ):
        putting = PuttingClient(far)
        putting.during(0.1 + 0.02 * run)
        with zookeeper_route.outage("held"):
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
            assert [] == list_misplaced_rows(table)
