"""The estimated size of a table agrees with rows and versions counted by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.design import Design
from rowkey.schema import RowCounts
from rowkey.workload import ARRIVAL_MODES, ArrivalMode

FIELDS: dict[str, Any] = {
    "user": {"type": "u32", "distinct": 50},
    "room": "u32",
    "ts": "timestamp_s",
    "day": "date",
    "kind": {"type": "choice", "of": ["a", "b", "c"]},
    "value": "u64",
}
CELL = 20 + 1 + 5 + 8
"""Bytes of the cell of `value` in family d, without its key: its own, family, qualifier, value."""
STAMP = 20 + 1 + 2 + 8
"""The same of `ts`, where the key does not hold it."""


def build_design(key: str, *, rate: str | None = "2/s", **family: Any) -> Design:
    """Build a design of users' events, with the fields of the key and a value."""
    names = [name for name in FIELDS if name in key or name in ("value", "ts")]
    writes = {"time": "ts"} | ({} if rate is None else {"rate": rate})
    fields = {name: FIELDS[name] for name in names}
    return Design("t", key, fields=fields, families={"d": family}, writes=writes)


def estimate_size(key: str, *, counts: RowCounts | None = None, **words: Any) -> int:
    """Return the bytes that the table will hold."""
    return build_design(key, **words).estimate_demand(counts=counts).size


BY_USER = 4 + CELL + 4 + STAMP
"""Bytes of an event under the key [user], which every cell repeats."""
BY_TIME = 12 + CELL
"""The same under the key [user][ts]."""


@pytest.mark.parametrize(
    ("key", "options", "expected"),
    [
        # 200 events in 100 s, each a row of its own: 50 users and 100 seconds would be 5,000.
        ("[user][ts]", {"ttl": "100s"}, 200 * BY_TIME),
        ("[desc(ts)][user]", {"ttl": "100s", "versions": 3}, 200 * BY_TIME),
        # 1,000 events of one second in 3 kinds: at most 3 rows a second, each written 333 times.
        ("[kind][ts]", {"ttl": "100s", "rate": "1000/s"}, 300 * (9 + CELL)),
        ("[kind][ts]", {"ttl": "100s", "rate": "1000/s", "versions": 5}, 5 * 300 * (9 + CELL)),
        # 200 events of 50 users: 50 rows, each written four times.
        ("[user]", {"ttl": "100s"}, 50 * BY_USER),
        ("[user]", {"ttl": "100s", "versions": 3}, 3 * 50 * BY_USER),
        ("[user]", {"ttl": "100s", "versions": 9}, 200 * BY_USER),
        # 20 events are no more than 20 rows.
        ("[user]", {"ttl": "10s", "versions": 9}, 20 * BY_USER),
        # For ever: all users, all versions that are kept; without a rate too.
        ("[user]", {}, 50 * BY_USER),
        ("[user]", {"versions": 3}, 3 * 50 * BY_USER),
        ("[user]", {"versions": 3, "rate": None}, 3 * 50 * BY_USER),
        ("[user]", {"ttl": "100s", "rate": None}, 50 * BY_USER),
        # Two versions are kept beyond the ttl, of all users; four come within it.
        ("[user]", {"ttl": "100s", "versions": 9, "min_versions": 2}, 4 * 50 * BY_USER),
        ("[user]", {"ttl": "10s", "versions": 9, "min_versions": 2}, 2 * 50 * BY_USER),
        # Nobody says how many rooms there are, nor how many events come.
        ("[room]", {"ttl": "100s"}, 0),
        ("[room]", {}, 0),
        ("[user][ts]", {}, 0),
        ("[user][ts]", {"ttl": "100s", "rate": None}, 0),
        ("[user][ts]", {"ttl": "100s", "min_versions": 1, "versions": 2}, 0),
        # A random salt tells no rows apart.
        ("[salt(4)][user]", {"ttl": "100s"}, 50 * (5 + CELL + 5 + STAMP)),
    ],
)  # fmt: skip
def test_rows_and_versions_of_a_table_equal_a_count_by_hand(
    key: str, options: dict[str, Any], expected: int
) -> None:
    """An overwritten row adds nothing but the versions that are kept."""
    assert expected == estimate_size(key, **options)


def test_a_time_bucket_in_the_key_gives_fewer_rows() -> None:
    """Minutes of 50 users are 100 rows in 120 s, and hours are one row a user."""
    by_minute = build_design("[user][time_bucket(ts, 1m)]", ttl="120s")
    assert 100 * by_minute.layout.estimate_event_bytes(12) == by_minute.estimate_demand().size
    by_hour = build_design("[user][time_bucket(ts, 1h)]", ttl="120s")
    assert 50 * by_hour.layout.estimate_event_bytes(12) == by_hour.estimate_demand().size


def test_a_remainder_or_digest_in_the_key_limits_the_number_of_rows() -> None:
    """A remainder modulo 4 gives 4 rows, and a digest of unknown values no number of rows."""
    for name, rows in (("user", 4), ("room", 4)):
        found = build_design(f"[mod({name}, 4)]", ttl="100s")
        assert rows * found.layout.estimate_event_bytes(1) == found.estimate_demand().size
    assert 0 == estimate_size("[digest(room, 4)]", ttl="100s")


def test_times_in_any_order_give_no_number_of_rows() -> None:
    """Old data has times in any order, so each event may be a row."""
    words = {"rate": "1000/s", "time": "ts", "arrival": "random"}
    fields = {name: FIELDS[name] for name in ("kind", "ts", "value")}
    found = Design("t", "[kind][ts]", fields=fields, families={"d": {"ttl": "100s"}}, writes=words)
    assert 100_000 * (9 + CELL) == found.estimate_demand().size


@pytest.mark.parametrize(("goes_on", "rows"), [(True, 300), (False, 100_000)])
def test_the_arrival_decides_how_many_different_times_occur(
    monkeypatch: pytest.MonkeyPatch, *, goes_on: bool, rows: int
) -> None:
    """The arrival decides how many different times occur within a hundred seconds."""
    monkeypatch.setitem(
        ARRIVAL_MODES, "tidal", ArrivalMode("with the tide", has_advancing_time=goes_on)
    )
    words = {"rate": "1000/s", "time": "ts", "arrival": "tidal"}
    fields = {name: FIELDS[name] for name in ("kind", "ts", "value")}
    found = Design("t", "[kind][ts]", fields=fields, families={"d": {"ttl": "100s"}}, writes=words)
    assert rows * (9 + CELL) == found.estimate_demand().size


def test_each_family_keeps_its_own_versions_for_its_own_ttl() -> None:
    """Two families keep their own ttl and their own number of versions."""
    fields = {
        "user": FIELDS["user"],
        "value": {"type": "u64", "family": "d"},
        "trace": {"type": "u64", "family": "t"},
    }
    families = {"d": {"ttl": "100s"}, "t": {"ttl": "50s", "versions": 2}}
    found = Design("t", "[user]", fields=fields, families=families, writes={"rate": "3/s"})
    assert 50 * (4 + CELL) + 50 * 2 * (4 + CELL) == found.estimate_demand().size
    assert 3 * 2 * (4 + CELL) == found.estimate_demand().writes


def test_events_that_share_a_row_add_up_their_cells() -> None:
    """200 events of a user's day have 200 times the cells, distinguished by a qualifier."""
    fields = {
        "user": {"type": "u32", "distinct": 1},
        "ts": {"type": "timestamp_s", "at": "qualifier"},
        "value": "u64",
    }
    found = Design(
        "t", "[user]", fields=fields, families={"d": {"ttl": "100s"}}, writes={"rate": "1/s"}
    )
    assert 100 * (4 + CELL + 8) == found.estimate_demand().size


def test_each_second_of_a_row_for_a_day_is_a_cell() -> None:
    """Each second of a day's row is a cell of its own."""
    fields = {
        "user": {"type": "u32", "distinct": 1},
        "ts": {"type": "timestamp_s", "at": "qualifier"},
        "value": "u64",
    }
    families = {"d": {"ttl": "100s"}}
    writes = {"rate": "1/s"}
    key = "[user][time_bucket(ts, 1d)]"
    found = Design("t", key, fields=fields, families=families, writes=writes)
    assert (
        100 * found.layout.estimate_event_bytes(found.estimate_key_bytes())
        == found.estimate_demand().size
    )


def test_the_number_of_rows_is_bounded_by_rate_and_ttl() -> None:
    """The product of many values is not reached: rate and ttl bound the rows."""
    fields = {
        "user": {"type": "u32", "distinct": 1_000_000},
        "day": {"type": "date", "distinct": 365},
        "shop": {"type": "u32", "distinct": 10_000},
        "value": "u64",
    }
    sizes = []
    for rate in ("1/s", "1000/s", None):
        writes = {} if rate is None else {"rate": rate, "arrival": "random"}
        key = "[user][day][shop]"
        families = {"d": {"ttl": "100000s"}}
        found = Design("t", key, fields=fields, families=families, writes=writes)
        sizes.append(
            found.estimate_demand().size
            / found.layout.estimate_event_bytes(found.estimate_key_bytes())
        )
    assert sizes[:2] == [100_000, 100_000_000]
    assert sizes[2] == 0


@pytest.mark.parametrize(
    ("users", "items", "options", "expected"),
    [
        # Who follows whom: nobody says how many of all pairs there are.
        (1_000_000, 500_000, {}, 0),
        # A year of events is a fiftieth of the pairs: they tell no more.
        (1_000_000, 500_000, {"rate": "300/s"}, 0),
        # A second brings as many as there are pairs.
        (50, 4, {"rate": "300/s"}, 200),
        (50, 4, {}, 0),
        # One of the two tells rows apart alone.
        (50, 1, {}, 50),
        # What is kept for a while is what came, and no more than the pairs.
        (1_000_000, 500_000, {"rate": "300/s", "ttl": "100s"}, 30_000),
        (50, 4, {"rate": "300/s", "ttl": "100s"}, 200),
        (50, 4, {"ttl": "100s"}, 0),
    ],
)
def test_the_product_of_two_fields_values_is_only_a_bound_of_the_rows(
    users: int, items: int, options: dict[str, str], expected: int
) -> None:
    """The product of two fields' values is only an upper bound of the rows."""
    found = build_pair_design(users, items, **options)
    assert (
        expected * found.layout.estimate_event_bytes(found.estimate_key_bytes())
        == found.estimate_demand().size
    )


def build_pair_design(users: int, items: int, *, rate: str | None = None, **family: Any) -> Design:
    """Build a design with a row for each written pair of a user and an item."""
    fields = {
        "user": {"type": "u64", "distinct": users},
        "item": {"type": "u64", "distinct": items},
        "at": "timestamp_ms",
    }
    writes = {} if rate is None else {"rate": rate}
    return Design("t", "[user][item]", fields=fields, families={"d": family}, writes=writes)


def test_a_sample_of_only_new_pairs_gives_no_number_of_rows() -> None:
    """A sample of only new pairs gives no number of rows; one without new pairs gives all."""
    found = build_pair_design(1_000_000, 500_000)
    each = found.layout.estimate_event_bytes(found.estimate_key_bytes())
    assert (
        0
        == found.estimate_demand(
            counts=RowCounts(event_count=100, row_count=90, single_event_rows=80)
        ).size
    )
    assert (
        40 * each
        == found.estimate_demand(
            counts=RowCounts(event_count=100, row_count=40, single_event_rows=0)
        ).size
    )


def test_a_row_of_versions_keeps_as_many_events_as_its_family_keeps() -> None:
    """With a field as the timestamp, a row keeps as many events as the family keeps versions."""
    fields = {
        "user": FIELDS["user"],
        "ts": {"type": "timestamp_ms", "at": "timestamp"},
        "value": "u64",
    }
    for versions, kept in ((1, 50), (3, 150), (100, 200)):
        families = {"d": {"ttl": "100s", "versions": versions}}
        found = Design("t", "[user]", fields=fields, families=families, writes={"rate": "2/s"})
        assert kept * (4 + CELL) == found.estimate_demand().size


SEEN_COUNTS = RowCounts(event_count=100, row_count=40, single_event_rows=10)
"""Of a hundred events forty rows, ten of which came once: the next is new once in ten times."""


@pytest.mark.parametrize(
    ("key", "ttl", "expected"),
    [
        ("[room]", "25s", 40),  # 50 events: no more rows than were seen
        ("[room]", "15s", 30),
        ("[room]", "100s", 40 + 100 // 10),  # a hundred more events
        ("[room]", "1000s", 40 + 1_900 // 10),
        ("[user]", "1000s", 50),  # there are no more users
        # Times bring new rows for ever, whatever came again while the sample was taken.
        ("[room][ts]", "1000s", 2_000),
        ("[room][time_bucket(ts, 1h)]", "1000s", 0),
        ("[user][time_bucket(ts, 1m)]", "600s", 50 * 10),
    ],
)
def test_a_sample_predicts_rows_by_its_share_of_single_rows(
    key: str, ttl: str, expected: int
) -> None:
    """A sample gives its rows, plus the share of single rows among further events."""
    found = build_design(key, ttl=ttl)
    each = found.layout.estimate_event_bytes(found.estimate_key_bytes())
    assert expected * each == found.estimate_demand(counts=SEEN_COUNTS).size


def test_sampled_rows_that_all_repeat_are_all_rows_of_the_table() -> None:
    """Forty rows that all repeat are all rows of the table."""
    every = RowCounts(event_count=100, row_count=40, single_event_rows=0)
    assert 40 * BY_USER == estimate_size("[room]", counts=every)
    assert 0 == estimate_size("[room]", counts=SEEN_COUNTS)


def test_more_sampled_values_than_declared_replace_the_declaration() -> None:
    """The number of sampled values wins over a smaller declared one."""
    seen = RowCounts(event_count=1_000, row_count=70, single_event_rows=0)
    assert 70 * BY_USER == estimate_size("[user]", counts=seen)


@given(st.integers(1, 10**6), st.integers(1, 10**9), st.integers(1, 20), st.integers(1, 1_000))
def test_the_estimated_rows_are_between_the_users_and_the_events(
    distinct: int, seconds: int, versions: int, rate: int
) -> None:
    """The estimate is between the users that wrote and the events that were written."""
    fields = {"user": {"type": "u32", "distinct": distinct}, "value": "u64"}
    families = {"d": {"ttl": f"{seconds}s", "versions": versions}}
    found = Design("t", "[user]", fields=fields, families=families, writes={"rate": f"{rate}/s"})
    events, each = rate * seconds, 4 + CELL
    rows = min(distinct, events)
    came = min(events, rows * versions) * each
    assert pytest.approx(came, rel=1e-6, abs=1) == found.estimate_demand().size  # whole bytes
