"""Locations of a real cluster, compared with the official client."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING

import pytest

from rowkey.hbase.connection import ServerConnections
from rowkey.hbase.errors import TableNotFound
from rowkey.hbase.locations import RegionLocator
from rowkey.hbase.registry import parse_url
from rowkey.hbase.settings import Deadline, Settings

if TYPE_CHECKING:
    from cluster import Cluster

TABLE = "r_odd_splits"
SPLITS = sorted(
    {b"\x00", b",", b"a,b", b"a,,b,", b"k" * 200, b"k" * 32_000, b"\xff\xff", b"t,,1", b":"}
    | {Random(7).randbytes(size) for size in range(2, 13)}
)  # fmt: skip
"""Twenty split keys, with separators of region names and a very long one."""

SETTINGS = Settings()


@pytest.fixture(scope="module")
def table(hbase_cluster: Cluster) -> Iterator[str]:
    """Yield the table, dropped at the end."""
    judge = hbase_cluster.judge
    if TABLE in judge.tables():
        judge.drop(TABLE)
    judge.create(TABLE, {"d": {}}, SPLITS)
    yield TABLE
    judge.drop(TABLE)


@pytest.fixture
def locations(hbase_cluster: Cluster) -> Iterator[RegionLocator]:
    """Return locations with an empty cache."""
    servers = ServerConnections(SETTINGS)
    registry = parse_url(f"hbase+master://{hbase_cluster.master}").open_registry(servers, SETTINGS)
    yield RegionLocator(registry, servers, SETTINGS)
    servers.close()


def build_deadline() -> Deadline:
    """Return a deadline that is long enough for a busy machine."""
    return Deadline.from_now(60)


def random_keys(count: int) -> Iterator[bytes]:
    """Return random keys, some at the splits or next to them."""
    chance = Random(11)
    for _ in range(count):
        split = chance.choice(SPLITS)
        near = (split, split + b"\x00", split[:-1], split[:-1] + b"\xff" * 9)
        yield chance.choice((*near, chance.randbytes(chance.randint(0, 9))))
    yield from (b"", b"\xff" * 32_767, b"k" * 32_767)


def test_every_row_of_a_real_table_is_located(
    hbase_cluster: Cluster, table: str, locations: RegionLocator
) -> None:
    """300 keys are looked up without cache, and so are the keys below them."""
    want = hbase_cluster.judge.regions(table)
    assert 21 == len(want)
    for key in random_keys(300):
        locations.forget_table(table)
        found = locations.locate_region(table, key, build_deadline())
        (true,) = [w for w in want if w.start <= key and (not w.stop or key < w.stop)]
        assert (true.start, true.stop, true.server) == (found.start, found.stop, str(found.server))
        locations.forget_table(table)
        below = [w for w in want if not key or w.start < key][-1]
        assert below.start == locations.locate_region_before(table, key, build_deadline()).start


def test_a_listing_of_regions_equals_that_of_the_official_client(
    hbase_cluster: Cluster, table: str, locations: RegionLocator
) -> None:
    """A listing has all regions in key order, as of the official client."""
    want = [(one.start, one.stop, one.server) for one in hbase_cluster.judge.regions(table)]
    found = locations.list_regions(table, build_deadline())
    assert want == [(one.start, one.stop, str(one.server)) for one in found]


def test_a_moved_region_and_a_split_one_are_found_again(
    hbase_cluster: Cluster, locations: RegionLocator
) -> None:
    """After an error a moved region and a split one are found at their new locations."""
    judge, name = hbase_cluster.judge, "r_moving"
    if name in judge.tables():
        judge.drop(name)
    judge.create(name, {"d": {}}, [b"m"])
    before = locations.locate_region(name, b"x", build_deadline())
    target = next(server for server in judge.status().live if server != str(before.server))
    judge.move(name, b"x", target)
    locations.forget_region(before)
    moved = locations.locate_region(name, b"x", build_deadline())
    assert (target, True) == (str(moved.server), moved.seqnum > before.seqnum)
    judge.split(name, b"t")
    locations.forget_region(moved)
    halves = [locations.locate_region(name, row, build_deadline()) for row in (b"n", b"x")]
    assert [(b"m", b"t"), (b"t", b"")] == [(one.start, one.stop) for one in halves]
    judge.drop(name)
    locations.forget_table(name)
    with pytest.raises(TableNotFound):
        locations.locate_region(name, b"x", build_deadline())
