"""Property: whatever happens to regions, a row is found in the region that holds it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from hbase.locations.fake_meta import SERVERS, FakeMeta
from rowkey.hbase.errors import ConnectionLost
from rowkey.hbase.locations import RegionLocator
from rowkey.hbase.locations.region_map import RegionMap
from rowkey.hbase.settings import Deadline, Settings

TABLES = st.sampled_from(["t", "t2", "ns:t"])
LONG = b"k" * 32_000
KEYS = st.one_of(
    st.lists(st.sampled_from([b"\x00", b",", b":", b"a", b"k", b"\xff"]), max_size=3).map(b"".join),
    st.sampled_from([LONG, LONG + b"a", LONG + b"\x00", b"k" * 31_999, LONG + b"k" * 767]),
)
"""Keys that collide often, with separators of region names, and very long ones."""

SPLIT_KEYS = KEYS.filter(lambda key: 0 < len(key) <= 32_001)
"""Split keys, shorter than a row key since a region's name is a row of meta."""

SERVER = st.sampled_from(SERVERS)
TRIES = 2
"""The attempts of a lookup: a wrong location is forgotten once and then right."""


class LocatorMachine(RuleBasedStateMachine):
    """Splits, merges and moves regions, of which clients learn by errors alone."""

    def __init__(self) -> None:
        super().__init__()
        self.fake = FakeMeta()
        double: Any = self.fake
        self.locations = RegionLocator(
            double, double, Settings(retry_pause_s=0.0, max_retry_pause_s=0.0)
        )

    @initialize(splits=st.sets(SPLIT_KEYS, max_size=4))
    def create(self, splits: set[bytes]) -> None:
        """Create tables with some regions."""
        for table in ("t", "t2", "ns:t"):
            self.fake.create(table, sorted(splits))

    @rule(table=TABLES, at=SPLIT_KEYS)
    def split(self, table: str, at: bytes) -> None:
        """Split a region."""
        self.fake.split(table, at)

    @rule(table=TABLES, row=KEYS)
    def merge(self, table: str, row: bytes) -> None:
        """Merge two regions."""
        self.fake.merge(table, row)

    @rule(table=TABLES, row=KEYS, server=SERVER)
    def move(self, table: str, row: bytes, server: Any) -> None:
        """Move a region without notifying clients."""
        self.fake.move(table, row, server)

    @rule(table=TABLES)
    def restore(self, table: str) -> None:
        """Restore one region from a snapshot, older than all others."""
        self.fake.entries = [one for one in self.fake.entries if one.table != table]
        self.fake.create(table)
        old = self.fake.truth(table, b"")
        self.fake.swap(old, id=1)

    @rule()
    def tidy(self) -> None:
        """Remove the rows of split parents, as the master does after a while."""
        self.fake.entries = [one for one in self.fake.entries if not one.split]

    @rule(table=TABLES, row=KEYS)
    def hint(self, table: str, row: bytes) -> None:
        """Tell the client where a region of a server went."""
        known = self.locations.locate_region(table, row, Deadline.from_now(60))
        for one in self.fake.living(table):
            if one.name == known.name and one.seqnum > known.seqnum and one.server:
                self.locations.record_move(known, one.server, one.seqnum)

    @rule(server=SERVER)
    def lose(self, server: Any) -> None:
        """Drop all connections to a server."""
        self.locations.forget_server(server.address)

    @rule(table=TABLES)
    def forget(self, table: str) -> None:
        """Forget a table."""
        self.locations.forget_table(table)

    @rule(table=TABLES, row=KEYS)
    def stumble(self, table: str, row: bytes) -> None:
        """Look up a row without meta; the answer may be old, but holds the row."""
        self.fake.failures = [ConnectionLost("rs0:16020", "it hung up")]
        found = self.locations.locate_region(table, row, Deadline.from_now(60))
        self.fake.failures = []
        assert (table, True) == (found.table, found.has_row(row))

    @rule(table=TABLES)
    def check_listing(self, table: str) -> None:
        """Check that a listing equals meta."""
        found = self.locations.list_regions(table, Deadline.from_now(60))
        assert [one.name for one in self.fake.living(table)] == [one.name for one in found]

    @rule(table=TABLES, row=KEYS)
    def check_location(self, table: str, row: bytes) -> None:
        """Check that a row is found in its region after one error at most."""
        want = self.fake.truth(table, row)
        tried = []
        for _ in range(TRIES):
            found = self.locations.locate_region(table, row, Deadline.from_now(60))
            assert (table, True) == (found.table, found.has_row(row))
            tried.append((found.name, found.server))
            if tried[-1] == (want.name, want.server):
                return
            self.locations.forget_region(found)
        assert tried[-1] == (want.name, want.server), f"expected {want}, tried {tried}"

    @rule(table=TABLES, row=KEYS)
    def check_location_below(self, table: str, row: bytes) -> None:
        """Check that the greatest keys below a row are found unless there are none."""
        below = [one for one in self.fake.living(table) if not row or one.start < row]
        tried = []
        for _ in range(TRIES if below else 0):
            found = self.locations.locate_region_before(table, row, Deadline.from_now(60))
            assert (table, True) == (found.table, found.has_keys_below(row))
            tried.append((found.name, found.server))
            if tried[-1] == (below[-1].name, below[-1].server):
                return
            self.locations.forget_region(found)
        assert tried[-1:] == [(one.name, one.server) for one in below[-1:]]

    @invariant()
    def check_no_overlap(self) -> None:
        """Check that neither known nor doubted regions overlap."""
        for table in ("t", "t2", "ns:t"):
            known = self.locations._region_maps.get(table, RegionMap())
            doubted = self.locations._stale_maps.get(table, RegionMap())
            both = sorted((*known.regions, *doubted.regions), key=lambda one: one.start)
            for one, other in pairwise(both):
                assert True is bool(one.stop and one.stop <= other.start)


TestLocator = LocatorMachine.TestCase
TestLocator.settings = settings(max_examples=max(settings().max_examples // 2, 1))
