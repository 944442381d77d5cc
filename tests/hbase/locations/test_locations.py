"""The region locator on a scripted hbase:meta."""

from __future__ import annotations

from collections.abc import Callable
from threading import Barrier, Event, Thread
from time import monotonic
from typing import Any

import pytest

from hbase.locations.fake_meta import META_SERVER, SERVERS, FakeMeta, MetaEntry
from rowkey.hbase.errors import (
    AccessDenied,
    ClientClosed,
    ConnectionLost,
    NotServingRegion,
    OperationTimedOut,
    TableNotEnabled,
    TableNotFound,
    UnknownHost,
)
from rowkey.hbase.locations import RegionLocation, RegionLocator
from rowkey.hbase.settings import Deadline, Settings

SPLITS = [b"\x00", b",", b"a,b", b"m", b"m" * 32_000, b"\xff\xff"]
LOST_CONNECTION = ConnectionLost("rs0:16020", "it hung up")


def build_deadline() -> Deadline:
    """Return a deadline that no working test reaches."""
    return Deadline.from_now(60)


def open_locations(fake: FakeMeta, **settings: Any) -> RegionLocator:
    """Return locations on a fake meta, with short pauses."""
    limits = {"retry_pause_s": 0.002, "max_retry_pause_s": 0.01, **settings}
    double: Any = fake
    return RegionLocator(double, double, Settings(**limits))


def parse_region(entry: MetaEntry) -> RegionLocation:
    """Return the region of a row of meta."""
    assert entry.server is not None
    return RegionLocation(
        entry.table, entry.name, entry.start, entry.stop, entry.server, entry.seqnum
    )


def build_meta(splits: list[bytes] | None = None) -> FakeMeta:
    """Return a meta with the table t and tables with similar names."""
    fake = FakeMeta()
    for table in ("s", "t", "t2", "ns:t", "t-", "t.x"):
        fake.create(table, SPLITS if splits is None else splits)
    return fake


@pytest.mark.parametrize(
    "row",
    [b"", b"\x00", b"\x00\x00", b"+", b",", b",,", b"a,b", b"a,b,", b"l\xff", b"m" * 32_000,
     b"m" * 32_767, b"n", b"\xff" * 32_767],
)  # fmt: skip
@pytest.mark.parametrize("table", ["t", "t2", "ns:t"])
def test_a_first_lookup_returns_the_region_of_any_row_key(table: str, row: bytes) -> None:
    fake = build_meta()
    assert parse_region(fake.truth(table, row)) == open_locations(fake).locate_region(
        table, row, build_deadline()
    )


def test_the_default_namespace_may_be_named_explicitly() -> None:
    """The table `default:t` is the table `t`."""
    fake = build_meta()
    assert "t" == open_locations(fake).locate_region("default:t", b"x", build_deadline()).table


def test_a_cached_region_needs_no_lookup() -> None:
    """One lookup caches the region and those after it."""
    fake = build_meta()
    locations = open_locations(fake)
    locations.locate_region("t", b"", build_deadline())
    before = fake.scans
    for row in SPLITS:
        locations.locate_region("t", row, build_deadline())
    assert before == fake.scans


def test_ten_regions_are_prefetched() -> None:
    """A lookup reads at most ten regions after the one it needs."""
    fake = build_meta([b"%04d" % number for number in range(100)])
    locations = open_locations(fake)
    locations.locate_region("t", b"0005x", build_deadline())
    assert {"t": 13} == locations.dump_state()["cached_regions"]


@pytest.mark.parametrize("row", [b"", b"\x00", b"\x00\x00", b"m", b"m\x00", b"\xff" * 9])
def test_a_reversed_scan_locates_the_region_below_its_start(row: bytes) -> None:
    """A reversed scan finds the region of the greatest keys below its start, cached or not."""
    fake = build_meta()
    living = fake.living("t")
    want = [one for one in living if not row or one.start < row]
    if not row.strip(b"\x00") and len(row) == 1:
        want = living[:1]
    locations = open_locations(fake)
    cold = locations.locate_region_before("t", row, build_deadline())
    assert (parse_region(want[-1]),) * 2 == (
        cold,
        locations.locate_region_before("t", row, build_deadline()),
    )


def test_a_lookup_waits_for_an_opening_region() -> None:
    """A lookup waits while a region's state is OPENING, and does not return its old server."""
    fake = build_meta([])
    fake.swap(fake.truth("t", b""), state="OPENING")
    locations = open_locations(fake)

    def open_it() -> None:
        while fake.scans < 6:
            Event().wait(0.001)
        with fake.lock:
            fake.swap(fake.truth("t", b""), state="OPEN", server=SERVERS[2])

    opener = Thread(target=open_it)
    opener.start()
    found = locations.locate_region("t", b"k", build_deadline())
    opener.join()
    assert SERVERS[2] == found.server


def test_the_timeout_names_the_row_and_the_state() -> None:
    """A timeout names the row, its region's state, and the number of attempts."""
    fake = build_meta([])
    fake.swap(fake.truth("t", b""), state="OPENING")
    with pytest.raises(
        OperationTimedOut, match=r"t: the region of row b'k' is OPENING, not OPEN \(\d+ at"
    ):
        open_locations(fake).locate_region("t", b"k", Deadline.from_now(0.05))


def test_an_unknown_table_fails_at_once() -> None:
    """A table without regions and state raises TableNotFound."""
    with pytest.raises(TableNotFound, match="t1: the table does not exist"):
        open_locations(build_meta()).locate_region("t1", b"k", build_deadline())


@pytest.mark.parametrize("ask", [RegionLocator.locate_region, RegionLocator.locate_region_before])
def test_invalid_table_names_are_not_found(ask: Callable[..., RegionLocation]) -> None:
    """Commas and lone surrogates do not find regions of another table."""
    locations = open_locations(build_meta())
    for name in ("t,a", "t,x", "t ", "\ud800", "", "t,,", "t" * 40_000):
        with pytest.raises(TableNotFound):
            ask(locations, name, b"k", build_deadline())


def test_a_disabled_table_fails_at_once() -> None:
    """A lookup in a disabled table fails at once, since its regions will not open."""
    fake = build_meta([])
    fake.swap(fake.truth("t", b""), state="CLOSED")
    fake.states["t"] = 1
    with pytest.raises(TableNotEnabled, match="t: the table is disabled"):
        open_locations(fake).locate_region("t", b"k", build_deadline())


def test_a_lookup_waits_for_a_table_without_regions() -> None:
    """A lookup waits for a table that has a state but no regions yet."""
    fake = FakeMeta(states={"t": 3})
    with pytest.raises(OperationTimedOut, match="no region holds row b'k'"):
        open_locations(fake).locate_region("t", b"k", Deadline.from_now(0.05))


def test_the_retired_parent_of_a_split_hides_no_region() -> None:
    """The parent of a split region does not hide regions that were merged since."""
    fake = build_meta([b"c"])
    fake.split("t", b"m")
    fake.merge("t", b"")
    fake.swap(fake.truth("t", b"d"), server=SERVERS[1])
    got = [open_locations(fake).locate_region("t", row, build_deadline()) for row in (b"d", b"z")]
    assert [parse_region(fake.truth("t", row)) for row in (b"d", b"z")] == got


def test_a_lookup_reads_on_past_many_retired_regions() -> None:
    """A lookup reads on while an answer has only retired regions."""
    fake = FakeMeta()
    fake.create("t")
    old = [MetaEntry("t", b"k", b"", number, split=True, state="SPLIT") for number in range(7)]
    fake.entries += old
    assert parse_region(fake.truth("t", b"z")) == open_locations(fake).locate_region(
        "t", b"z", build_deadline()
    )


@pytest.mark.parametrize("below", [False, True])
def test_a_heartbeat_does_not_end_a_lookup(*, below: bool) -> None:
    """A lookup goes on after an empty answer that says there is more."""
    fake = build_meta()
    fake.heartbeats = 4
    locations = open_locations(fake)
    ask = locations.locate_region_before if below else locations.locate_region
    assert fake.truth("t", b"n").name == ask("t", b"n", build_deadline()).name


@pytest.mark.parametrize(("page", "partial"), [(1, False), (2, True), (7, True), (1000, False)])
def test_a_listing_of_regions_reads_all_pages(page: int, *, partial: bool) -> None:
    """A listing has all regions despite heartbeats and rows split between answers."""
    fake = build_meta([b"%04d" % number for number in range(40)])
    fake.split("t", b"0007x")
    fake.page, fake.partial, fake.heartbeats = page, partial, 3
    locations = open_locations(fake)
    want = [parse_region(one) for one in fake.living("t")]
    assert want == locations.list_regions("t", build_deadline())
    scans = fake.scans
    assert want == [locations.locate_region("t", one.start, build_deadline()) for one in want]
    assert scans == fake.scans


def test_a_listing_of_regions_waits_until_they_are_complete() -> None:
    """A listing waits for missing, overlapping or closed regions, and its error names them."""
    for change, says in (
        ({"stop": b"a"}, "gap or overlap at b'a': the next region starts at b'c'"),
        ({"stop": b"e"}, "gap or overlap at b'e': the next region starts at b'c'"),
        (
            {"state": "OPENING"},
            "the one that starts at b'' is OPENING",
        ),
    ):
        fake = build_meta([b"c"])
        fake.swap(fake.truth("t", b""), **change)
        with pytest.raises(OperationTimedOut, match=says):
            open_locations(fake).list_regions("t", Deadline.from_now(0.03))


def test_listing_the_regions_of_a_missing_table_raises_at_once() -> None:
    """An unknown table and a disabled one raise at once."""
    fake = build_meta([])
    fake.swap(fake.truth("t", b""), state="CLOSED")
    fake.states["t"] = 2
    for table, error in (("nope", TableNotFound), ("t", TableNotEnabled)):
        with pytest.raises(error):
            open_locations(fake).list_regions(table, build_deadline())


def test_a_lost_server_of_meta_is_looked_up_again() -> None:
    """If the server of meta is lost, the registry is asked again and the lookup succeeds."""
    fake = build_meta()
    fake.failures = [LOST_CONNECTION, NotServingRegion("rs0:16020", "hbase:meta is not there")]
    open_locations(fake).locate_region("t", b"k", build_deadline())
    assert (2, [META_SERVER.address]) == (fake.asked_where, fake.dropped)


def test_an_error_that_is_not_retriable_fails_a_lookup_at_once() -> None:
    """AccessDenied of hbase:meta fails at once."""
    fake = build_meta()
    fake.failures = [AccessDenied("rs0:16020", "no")]
    with pytest.raises(AccessDenied):
        open_locations(fake).locate_region("t", b"k", build_deadline())


def test_a_server_of_meta_without_address_is_tried_a_few_times() -> None:
    """A server of hbase:meta without address fails before the deadline."""
    fake = build_meta()
    fake.failures = [UnknownHost("rs0:16020", "the name cannot be resolved")] * 50
    with pytest.raises(UnknownHost, match="rs0:16020: the name cannot be resolved"):
        open_locations(fake).locate_region("t", b"k", build_deadline())


def test_a_stale_region_is_used_while_meta_is_lost() -> None:
    """Without hbase:meta, the last known location is returned."""
    fake = build_meta()
    locations = open_locations(fake)
    region = locations.locate_region("t", b"k", build_deadline())
    locations.forget_region(region)
    fake.failures = [LOST_CONNECTION] * 100
    assert region == locations.locate_region("t", b"k", build_deadline())
    assert region == locations.locate_region_before("t", b"k", build_deadline())
    fake.failures = []
    fake.move("t", b"k", SERVERS[2])
    assert SERVERS[2] == locations.locate_region("t", b"k", build_deadline()).server
    assert {} == {t: n for t, n in locations.dump_state()["stale_regions"].items() if n}


def test_a_late_error_of_an_old_location_does_not_drop_the_new_one() -> None:
    """A late error of an old location does not drop its replacement."""
    fake = build_meta()
    locations = open_locations(fake)
    old = locations.locate_region("t", b"k", build_deadline())
    fake.move("t", b"k", SERVERS[2])
    locations.forget_region(old)
    new = locations.locate_region("t", b"k", build_deadline())
    locations.forget_region(old)
    scans = fake.scans
    assert new == locations.locate_region("t", b"k", build_deadline())
    assert scans == fake.scans


def test_all_cached_regions_of_a_lost_server_are_dropped() -> None:
    """Regions of other servers stay cached, and so does hbase:meta."""
    fake = build_meta()
    locations = open_locations(fake)
    everything = locations.list_regions("t", build_deadline()) + locations.list_regions(
        "t2", build_deadline()
    )
    locations.forget_server(SERVERS[1].address)
    left = sum(one.server != SERVERS[1] for one in everything)
    assert left == sum(locations.dump_state()["cached_regions"].values())
    assert str(META_SERVER) == locations.dump_state()["meta"]
    locations.forget_server(META_SERVER.address)
    assert locations.dump_state()["meta"] is None


def test_a_newer_location_in_an_error_is_cached() -> None:
    """A newer location in an error is cached, and an earlier opening is ignored."""
    locations = open_locations(build_meta())
    region = locations.locate_region("t", b"k", build_deadline())
    locations.record_move(region, SERVERS[2], region.seqnum + 5)
    locations.record_move(region, SERVERS[1], region.seqnum + 4)
    assert SERVERS[2] == locations.locate_region("t", b"k", build_deadline()).server


def test_a_dropped_table_has_no_stale_regions() -> None:
    """A table that was dropped and created again keeps nothing of the old one."""
    fake = build_meta()
    locations = open_locations(fake)
    locations.forget_region(locations.locate_region("t", b"k", build_deadline()))
    locations.forget_table("default:t")
    state = locations.dump_state()
    assert ({}, {}) == (state["cached_regions"], state["stale_regions"])


def test_meta_is_located_by_the_registry() -> None:
    """The location of hbase:meta comes from the registry, again after it is forgotten."""
    fake = build_meta()
    locations = open_locations(fake)
    region = locations.locate_region("hbase:meta", b"any", build_deadline())
    assert [region] == locations.list_regions("hbase:meta", build_deadline())
    assert (b"hbase:meta,,1", META_SERVER) == (region.name, region.server)
    locations.forget_region(region)
    locations.locate_region("hbase:meta", b"other", build_deadline())
    assert 2 == fake.asked_where


def test_the_registry_gets_the_servers_of_all_regions_that_are_read() -> None:
    fake = build_meta()
    open_locations(fake).list_regions("t", build_deadline())
    assert set(SERVERS) == fake.learnt


def test_sixteen_threads_that_miss_a_region_share_one_lookup() -> None:
    """Threads that miss the same region share one lookup."""
    fake = build_meta()
    locations = open_locations(fake)
    locations.locate_region("hbase:meta", b"", build_deadline())
    ready, found = Barrier(16), []

    def ask() -> None:
        ready.wait()
        found.append(locations.locate_region("t", b"k", build_deadline()))

    threads = [Thread(target=ask) for _ in range(16)]
    fake.lock.acquire()  # the first lookup stays on its way until all have missed
    for thread in threads:
        thread.start()
    while locations.dump_state()["shared_lookups"] < 15:
        Event().wait(0.001)
    fake.lock.release()
    for thread in threads:
        thread.join()
    assert (2, {parse_region(fake.truth("t", b"k"))}) == (fake.scans, set(found))


def test_closing_the_client_ends_a_waiting_lookup() -> None:
    """A lookup that waits for a region raises ClientClosed at once."""
    fake = build_meta([])
    fake.swap(fake.truth("t", b""), state="OPENING")
    locations = open_locations(fake, retry_pause_s=30, max_retry_pause_s=60)
    errors: list[Exception] = []

    def ask() -> None:
        try:
            locations.locate_region("t", b"k", Deadline.from_now(300))
        except ClientClosed as error:
            errors.append(error)

    began = monotonic()
    thread = Thread(target=ask)
    thread.start()
    while not fake.scans:
        Event().wait(0.001)
    locations.close()
    thread.join()
    assert (1, True) == (len(errors), monotonic() - began < 10)
