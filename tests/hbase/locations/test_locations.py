"""Locations against an hbase:meta that the test writes."""

from __future__ import annotations

from threading import Barrier, Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest

from hbase.locations.fake_meta import META_SERVER, SERVERS, Entry, FakeMeta
from rowkey.errors import Refused
from rowkey.hbase.errors import (
    AccessDenied,
    ConnectionLost,
    NotServingRegion,
    OutOfTime,
    TableNotEnabled,
    TableNotFound,
    UnknownHost,
)
from rowkey.hbase.locations import Locations, Region
from rowkey.hbase.settings import Deadline, Settings

if TYPE_CHECKING:
    from collections.abc import Callable

SPLITS = [b"\x00", b",", b"a,b", b"m", b"m" * 32_000, b"\xff\xff"]
LOST = ConnectionLost("rs0:16020", "it hung up")


def soon() -> Deadline:
    """A deadline that a test that works never reaches."""
    return Deadline.after(60)


def opened(fake: FakeMeta, **settings: Any) -> Locations:
    """Locations on a fake, with short pauses."""
    limits = {"pause_s": 0.002, "pause_most_s": 0.01, **settings}
    double: Any = fake
    return Locations(double, double, Settings(**limits))


def region_of(entry: Entry) -> Region:
    """The region that a row of meta tells of."""
    assert entry.server is not None
    return Region(entry.table, entry.name, entry.start, entry.stop, entry.server, entry.seqnum)


def one_table(splits: list[bytes] | None = None) -> FakeMeta:
    """A meta with the table t, and neighbours whose names begin alike."""
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
def test_a_row_is_located(table: str, row: bytes) -> None:
    """A cold lookup gives the region that holds the row, whatever bytes are in it."""
    fake = one_table()
    assert region_of(fake.truth(table, row)) == opened(fake).locate(table, row, soon())


def test_the_default_namespace_may_be_named() -> None:
    """The table `default:t` is the table `t`."""
    fake = one_table()
    assert "t" == opened(fake).locate("default:t", b"x", soon()).table


def test_a_known_region_is_not_asked_for() -> None:
    """One lookup brings the region and those behind it."""
    fake = one_table()
    locations = opened(fake)
    locations.locate("t", b"", soon())
    before = fake.scans
    for row in SPLITS:
        locations.locate("t", row, soon())
    assert before == fake.scans


def test_ten_regions_behind_are_read_ahead() -> None:
    """No more than ten, so that a table of thousands is not read for one row."""
    fake = one_table([b"%04d" % number for number in range(100)])
    locations = opened(fake)
    locations.locate("t", b"0005x", soon())
    assert {"t": 13} == locations.dump()["known"]


@pytest.mark.parametrize("row", [b"", b"\x00", b"\x00\x00", b"m", b"m\x00", b"\xff" * 9])
def test_the_region_below_a_row_is_located(row: bytes) -> None:
    """A scan that goes down finds the region of the greatest keys below its start, cold or warm."""
    fake = one_table()
    living = fake.living("t")
    want = [one for one in living if not row or one.start < row]
    if not row.strip(b"\x00") and len(row) == 1:
        want = living[:1]
    locations = opened(fake)
    cold = locations.locate_before("t", row, soon())
    assert (region_of(want[-1]),) * 2 == (cold, locations.locate_before("t", row, soon()))


def test_a_region_that_opens_is_waited_for() -> None:
    """While its state is OPENING its server, perhaps a dead one, is not given."""
    fake = one_table([])
    fake.swap(fake.truth("t", b""), state="OPENING")
    locations = opened(fake)

    def open_it() -> None:
        while fake.scans < 6:
            Event().wait(0.001)
        with fake.lock:
            fake.swap(fake.truth("t", b""), state="OPEN", server=SERVERS[2])

    opener = Thread(target=open_it)
    opener.start()
    found = locations.locate("t", b"k", soon())
    opener.join()
    assert SERVERS[2] == found.server


def test_what_is_waited_for_is_told() -> None:
    """The error after the deadline names the row, the state, and how often it was tried."""
    fake = one_table([])
    fake.swap(fake.truth("t", b""), state="OPENING")
    with pytest.raises(OutOfTime, match=r"t: the region of row b'k' is OPENING, not OPEN \(\d+ at"):
        opened(fake).locate("t", b"k", Deadline.after(0.05))


def test_an_unknown_table_is_not_waited_for() -> None:
    """No row in meta, no state of the table: there is none, though others begin alike."""
    with pytest.raises(TableNotFound, match="t1: there is no such table"):
        opened(one_table()).locate("t1", b"k", soon())


@pytest.mark.parametrize("ask", [Locations.locate, Locations.locate_before])
def test_names_that_are_none_are_not_found(ask: Callable[..., Region]) -> None:
    """Commas and half characters in a table's name find no region of another table."""
    locations = opened(one_table())
    for name in ("t,a", "t,x", "t ", "\ud800", "", "t,,", "t" * 40_000):
        with pytest.raises(TableNotFound):
            ask(locations, name, b"k", soon())


def test_a_disabled_table_is_not_waited_for() -> None:
    """Its regions are CLOSED for good."""
    fake = one_table([])
    fake.swap(fake.truth("t", b""), state="CLOSED")
    fake.states["t"] = 1
    with pytest.raises(TableNotEnabled, match="t: the table is disabled"):
        opened(fake).locate("t", b"k", soon())


def test_a_table_without_rows_that_has_a_state_is_waited_for() -> None:
    """So it is while a table is truncated or made."""
    fake = FakeMeta(states={"t": 3})
    with pytest.raises(OutOfTime, match="no region holds row b'k'"):
        opened(fake).locate("t", b"k", Deadline.after(0.05))


def test_retired_parents_are_passed_over() -> None:
    """A parent that stands where its merged daughters no longer begin hides nobody."""
    fake = one_table([b"c"])
    fake.split("t", b"m")
    fake.merge("t", b"")
    fake.swap(fake.truth("t", b"d"), server=SERVERS[1])
    got = [opened(fake).locate("t", row, soon()) for row in (b"d", b"z")]
    assert [region_of(fake.truth("t", row)) for row in (b"d", b"z")] == got


def test_many_retired_parents_are_passed_over() -> None:
    """A lookup goes on below its first answer while that has only retired regions."""
    fake = FakeMeta()
    fake.create("t")
    old = [Entry("t", b"k", b"", number, split=True, state="SPLIT") for number in range(7)]
    fake.entries += old
    assert region_of(fake.truth("t", b"z")) == opened(fake).locate("t", b"z", soon())


@pytest.mark.parametrize("below", [False, True])
def test_heartbeats_are_no_answers(*, below: bool) -> None:
    """An empty answer that says there is more is asked again."""
    fake = one_table()
    fake.heartbeats = 4
    locations = opened(fake)
    ask = locations.locate_before if below else locations.locate
    assert fake.truth("t", b"n").name == ask("t", b"n", soon()).name


@pytest.mark.parametrize(("page", "partial"), [(1, False), (2, True), (7, True), (1000, False)])
def test_a_listing_follows_its_pages(page: int, *, partial: bool) -> None:
    """All regions come, whatever an answer holds, with heartbeats between and rows cut in two."""
    fake = one_table([b"%04d" % number for number in range(40)])
    fake.split("t", b"0007x")
    fake.page, fake.partial, fake.heartbeats = page, partial, 3
    locations = opened(fake)
    want = [region_of(one) for one in fake.living("t")]
    assert want == locations.regions("t", soon())
    scans = fake.scans
    assert want == [locations.locate("t", one.start, soon()) for one in want]
    assert scans == fake.scans


def test_a_listing_waits_until_all_join() -> None:
    """A hole, an overlap and a closed region are each told when they last."""
    for change, says in (
        ({"stop": b"a"}, "do not join at b'a': the next one starts at b'c'"),
        ({"stop": b"e"}, "do not join at b'e': the next one starts at b'c'"),
        ({"state": "OPENING"}, "1 of its 2 regions are not open; the one at b'' is OPENING"),
    ):
        fake = one_table([b"c"])
        fake.swap(fake.truth("t", b""), **change)
        with pytest.raises(OutOfTime, match=says):
            opened(fake).regions("t", Deadline.after(0.03))


def test_a_listing_of_nothing() -> None:
    """An unknown table and a disabled one are told at once."""
    fake = one_table([])
    fake.swap(fake.truth("t", b""), state="CLOSED")
    fake.states["t"] = 2
    for table, error in (("nope", TableNotFound), ("t", TableNotEnabled)):
        with pytest.raises(error):
            opened(fake).regions(table, soon())


def test_a_lost_meta_is_asked_for_anew() -> None:
    """The server of meta is dropped, the registry asked again, and the lookup goes on."""
    fake = one_table()
    fake.failures = [LOST, NotServingRegion("rs0:16020", "hbase:meta is not there")]
    opened(fake).locate("t", b"k", soon())
    assert (2, [META_SERVER.address]) == (fake.asked_where, fake.dropped)


def test_what_cannot_be_retried_is_raised() -> None:
    """A refusal of meta is no reason to wait."""
    fake = one_table()
    fake.failures = [AccessDenied("rs0:16020", "no")]
    with pytest.raises(AccessDenied):
        opened(fake).locate("t", b"k", soon())


def test_a_host_nobody_knows_is_tried_a_few_times() -> None:
    """A server of meta whose name cannot be resolved is named before the budget is spent."""
    fake = one_table()
    fake.failures = [UnknownHost("rs0:16020", "the name cannot be resolved")] * 50
    with pytest.raises(UnknownHost, match="rs0:16020: the name cannot be resolved"):
        opened(fake).locate("t", b"k", soon())


def test_a_forgotten_region_is_given_again_while_meta_is_lost() -> None:
    """A connection that broke is no region that moved: without meta the last place is tried."""
    fake = one_table()
    locations = opened(fake)
    region = locations.locate("t", b"k", soon())
    locations.forget(region)
    fake.failures = [LOST] * 100
    assert region == locations.locate("t", b"k", soon())
    assert region == locations.locate_before("t", b"k", soon())
    fake.failures = []
    fake.move("t", b"k", SERVERS[2])
    assert SERVERS[2] == locations.locate("t", b"k", soon()).server
    assert {} == {t: n for t, n in locations.dump()["doubted"].items() if n}


def test_a_late_forget_forgets_nothing_new() -> None:
    """Who failed on an old location does not throw away the new one."""
    fake = one_table()
    locations = opened(fake)
    old = locations.locate("t", b"k", soon())
    fake.move("t", b"k", SERVERS[2])
    locations.forget(old)
    new = locations.locate("t", b"k", soon())
    locations.forget(old)
    scans = fake.scans
    assert new == locations.locate("t", b"k", soon())
    assert scans == fake.scans


def test_all_regions_of_a_server_are_forgotten() -> None:
    """Those of others stay, and so does hbase:meta unless it was there."""
    fake = one_table()
    locations = opened(fake)
    everything = locations.regions("t", soon()) + locations.regions("t2", soon())
    locations.forget_server(SERVERS[1].address)
    left = sum(one.server != SERVERS[1] for one in everything)
    assert left == sum(locations.dump()["known"].values())
    assert str(META_SERVER) == locations.dump()["meta"]
    locations.forget_server(META_SERVER.address)
    assert locations.dump()["meta"] is None


def test_a_hint_is_taken_unless_it_is_old() -> None:
    """A later opening replaces the known one; an earlier one does not."""
    locations = opened(one_table())
    region = locations.locate("t", b"k", soon())
    locations.moved(region, SERVERS[2], region.seqnum + 5)
    locations.moved(region, SERVERS[1], region.seqnum + 4)
    assert SERVERS[2] == locations.locate("t", b"k", soon()).server


def test_a_table_is_forgotten_altogether() -> None:
    """Dropped and made anew, its old regions are not even doubted."""
    fake = one_table()
    locations = opened(fake)
    locations.forget(locations.locate("t", b"k", soon()))
    locations.forget_table("default:t")
    assert ({}, {}) == (locations.dump()["known"], locations.dump()["doubted"])


def test_meta_itself_is_located() -> None:
    """The registry tells where hbase:meta is; forgotten, it is asked again."""
    fake = one_table()
    locations = opened(fake)
    region = locations.locate("hbase:meta", b"any", soon())
    assert [region] == locations.regions("hbase:meta", soon())
    assert (b"hbase:meta,,1", META_SERVER) == (region.name, region.server)
    locations.forget(region)
    locations.locate("hbase:meta", b"other", soon())
    assert 2 == fake.asked_where


def test_the_registry_learns_the_servers() -> None:
    """Whoever has a region can be asked where things are."""
    fake = one_table()
    opened(fake).regions("t", soon())
    assert set(SERVERS) == fake.learnt


def test_sixteen_threads_make_one_lookup() -> None:
    """Who misses the same region waits for the lookup on its way."""
    fake = one_table()
    locations = opened(fake)
    locations.locate("hbase:meta", b"", soon())
    ready, found = Barrier(16), []

    def ask() -> None:
        ready.wait()
        found.append(locations.locate("t", b"k", soon()))

    threads = [Thread(target=ask) for _ in range(16)]
    fake.lock.acquire()  # the first lookup stays on its way until all have missed
    for thread in threads:
        thread.start()
    while locations.dump()["shared"] < 15:
        Event().wait(0.001)
    fake.lock.release()
    for thread in threads:
        thread.join()
    assert (2, {region_of(fake.truth("t", b"k"))}) == (fake.scans, set(found))


def test_a_closed_client_waits_no_more() -> None:
    """Who waits for a region is told at once that the client was closed."""
    fake = one_table([])
    fake.swap(fake.truth("t", b""), state="OPENING")
    locations = opened(fake, pause_s=30, pause_most_s=60)
    errors: list[Exception] = []

    def ask() -> None:
        try:
            locations.locate("t", b"k", Deadline.after(300))
        except Refused as error:
            errors.append(error)

    began = monotonic()
    thread = Thread(target=ask)
    thread.start()
    while not fake.scans:
        Event().wait(0.001)
    locations.close()
    thread.join()
    assert (1, True) == (len(errors), monotonic() - began < 10)
