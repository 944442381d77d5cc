"""Plans of reads that a person can check by hand: how many ranges, in which order, what is left."""

from __future__ import annotations

from bisect import bisect_right
from datetime import date
from typing import Any

import pytest

from plan.designs import bound
from rowkey.keys import bind_key
from rowkey.plan import count_spreading_parts, plan_read
from rowkey.schema import Bounds, Equal, OneOf, Ordering, Range, StartsWith

LOGS = "[bucket(host, 16)][host][kind][desc(ts)]"
BY_TIME = (Ordering("ts", descending=True),)


def test_small_choices_are_merged_by_time() -> None:
    """The tail of one host is one bucket times three kinds, merged by time without a sort."""
    plan = plan_read(bound(LOGS), {"host": Equal("ab")}, BY_TIME)
    assert (3, True, (), False) == (
        plan.fan_out, plan.serves_order, plan.residual_fields, plan.is_full_scan,
    )  # fmt: skip
    assert BY_TIME == plan.row_order


def test_a_span_of_time_narrows_behind_the_pinned_parts() -> None:
    """Host, kind and a range of time are one range, bounded on both sides, with nothing to test."""
    key = bound(LOGS)
    bounds: Bounds = {"host": Equal("ab"), "kind": Equal("warn"), "ts": Range(60, 120, True, False)}
    plan = plan_read(key, bounds)
    row = {"host": "ab", "kind": "warn"}
    held = [ts for ts in range(200) if plan.has_key(key.encode({**row, "ts": ts}))]
    assert (1, (), list(range(60, 120))) == (plan.fan_out, plan.residual_fields, held)


@pytest.mark.parametrize(
    ("value", "expected"), [("a", 3), ("ab", 3), ("b", 1)], ids=["heavy", "heavy too", "other"]
)
def test_bounded_spread_is_read_from_m_buckets_or_one(value: str, expected: int) -> None:
    """A heavy value is read from its m buckets, every other one from one."""
    plan = plan_read(bound("[bucket(host, ts, 8, 3)][host][ts]"), {"host": Equal(value)}, BY_TIME)
    assert (expected, True) == (plan.fan_out, plan.serves_backwards)


@pytest.mark.parametrize(("seconds", "expected"), [(1, 1), (5, 5), (15, 15), (16, 16), (60, 16)])
@pytest.mark.claims(37, 38)
def test_a_remainder_has_as_many_ranges_as_the_span_has_seconds(
    seconds: int, expected: int
) -> None:
    """A mod of seconds by 16 under a span of 5 s has 5 ranges, and never more than 16."""
    bounds = {"ts": Range(1_000, 1_000 + seconds - 1)}
    assert expected == plan_read(bound("[mod(ts, 16)][ts][host]"), bounds).fan_out


def test_a_bucket_of_time_has_a_range_for_each_stretch_or_all() -> None:
    """A bucket over time cannot be computed for a span, so all of its ranges are read."""
    plan = plan_read(bound("[bucket(ts, 16)][ts]"), {"ts": Range(0, 3)})
    assert 16 == plan.fan_out


@pytest.mark.claims(14)
def test_a_salt_multiplies_every_read() -> None:
    """A random salt cannot be computed: one row is looked for under each of its numbers."""
    plan = plan_read(bound("[salt(3)][host][n]"), {"host": Equal("a"), "n": Equal(1)})
    assert (3, True) == (plan.fan_out, plan.is_point)


def test_a_whole_row_is_a_point() -> None:
    """All fields of the key given, the range holds one key."""
    key = bound("[host][n]")
    plan = plan_read(key, {"host": Equal("a"), "n": Equal(-1)})
    only = key.encode({"host": "a", "n": -1})
    assert (True, only, only + b"\0") == (plan.is_point, plan.ranges[0].start, plan.ranges[0].stop)


def test_a_condition_behind_a_range_is_tested_row_by_row() -> None:
    """Behind the first range the key tells no more: the later condition is residual."""
    plan = plan_read(bound("[ts][host]"), {"ts": Range(0, 9), "host": Equal("a")})
    assert (1, ("host",)) == (plan.fan_out, plan.residual_fields)


@pytest.mark.parametrize("key", ["[bucket(host, 4)][ts]", "[salt(3)][ts]", "[kind][ts]"])
def test_a_scan_of_all_comes_in_the_order_behind_the_spreading_prefix(key: str) -> None:
    """Nothing asked but an order by time: the prefixes are merged, whatever spreads the rows."""
    plan = plan_read(bound(key), {}, (Ordering("ts"),))
    assert (True, True) == (plan.serves_order, plan.is_full_scan)
    assert plan.fan_out > 1


@pytest.mark.parametrize("key", ["[host][n]", "[kind][ts]", "[bucket(host, 4)][n]"])
def test_nothing_asked_is_one_range(key: str) -> None:
    """A scan reads the table from end to end, where nothing but spreads stands in front."""
    plan = plan_read(bound(key), {})
    assert [(b"", b"")] == [(one.start, one.stop) for one in plan.ranges]
    assert (0, True, False) == (plan.pinned_count, plan.is_full_scan, plan.is_point)


@pytest.mark.parametrize(
    ("key", "asked", "ranges", "expected"),
    [
        ("[salt(3)][ts][n]", {}, 3, ["ts", "n"]),
        ("[salt(3)][ts][n]", {"n": Equal(1)}, 3, ["ts", "n"]),
        ("[salt(3)][ts][n]", {"u": Equal(1)}, 3, ["ts", "n"]),
        ("[bucket(host, 16)][host]", {}, 16, ["host"]),
        ("[salt(3)][bucket(host, 4)][kind][host]", {}, 12, ["kind", "host"]),
        ("[kind][ts][n]", {"n": Equal(1)}, 1, ["kind", "ts", "n"]),
        ("[yes]", {"yes": OneOf((False, True))}, 1, ["yes"]),
    ],
)
def test_a_scan_of_all_has_a_range_for_each_spread(
    key: str, asked: Bounds, ranges: int, expected: list[str]
) -> None:
    """It comes in the order of the key without its spreading prefix, and no other is claimed."""
    plan = plan_read(bound(key), asked)
    assert (ranges, expected) == (plan.fan_out, list(map(str, plan.row_order)))
    assert (True, False) == (plan.is_full_scan, plan.is_point)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"ts": Range(60, 120)}, True),
        ({"host": Range("a", "b")}, False),
        ({"host": Equal("ab")}, False),
    ],
)
def test_a_bucket_of_what_is_bounded_in_part_narrows_nothing(asked: Bounds, expected: bool) -> None:
    """All sixteen numbers are left where the read does not give the host, whatever the time."""
    plan = plan_read(bound("[bucket(host, ts, 16, 8)][host][ts]"), asked)
    assert expected == plan.is_full_scan


def test_a_null_or_a_text_without_end_is_filtered() -> None:
    """What begins with the text lies in its range, so that the condition is tested row by row."""
    key = bound("[note:tail]")
    plan = plan_read(key, {"note": OneOf((None, "ab"))})
    assert ("note",) == plan.residual_fields
    many = plan_read(key, {"note": OneOf((None, "", "ab"))})
    assert [(b"", b"\x01"), (b"\x01", b"\x02")] == [(one.start, one.stop) for one in many.ranges]


def test_a_list_of_values_has_a_range_for_each() -> None:
    """Three hosts are three ranges, in the order of their keys."""
    plan = plan_read(bound("[host][n]"), {"host": OneOf(("b", "a", "ab"))})
    assert [b"a\0", b"ab\0", b"b\0"] == [one.start for one in plan.ranges]


def test_a_beginning_is_one_range() -> None:
    """Text that starts with something is one range, and needs no test."""
    plan = plan_read(bound("[host][n]"), {"host": StartsWith("ab")})
    assert [(b"ab", b"ac", ())] == [(r.start, r.stop, plan.residual_fields) for r in plan.ranges]


@pytest.mark.parametrize(
    ("key", "bounds"),
    [
        ("[n][host]", {"n": Range(5, 4)}),
        ("[n][host]", {"n": Range(5, 5, includes_high=False)}),
        ("[host][n]", {"host": Equal(None)}),
    ],
)
def test_what_no_row_satisfies_reads_nothing(key: str, bounds: Any) -> None:
    """A range turned round, or a null of a field that has none, has no range at all."""
    assert () == plan_read(bound(key), bounds).ranges


def test_more_ranges_than_any_scan_stands_are_left_as_fewer() -> None:
    """A list in front of another stays pinned only as long as their product is bounded."""
    key = bind_key("[a][b]", {"a": "u16", "b": "u16"})
    many = OneOf(tuple(range(1_000)))
    plan = plan_read(key, {"a": many, "b": many})
    assert (1_000, ("b",)) == (plan.fan_out, plan.residual_fields)


def test_a_list_with_too_many_values_is_read_from_its_first_to_its_last() -> None:
    """Where every listed value cannot be a range, ranges begin and end at the outer ones."""
    key = bind_key("[salt(300)][h]", {"h": "u16"})
    values = tuple(range(10, 229))
    exact, wide = (plan_read(key, {"h": OneOf(some)}) for some in (values[1:], values))
    assert (300 * 218, 300, False) == (exact.fan_out, wide.fan_out, wide.is_full_scan)
    assert {(b"\x00\x0a", b"\x00\xe5")} == {(r.start[2:], r.stop[2:]) for r in wide.ranges}


@pytest.mark.parametrize(
    ("notation", "fields", "bounds"),
    [
        ("[time_bucket(t, 1h)][n]", {"t": "timestamp_ms", "n": "u8"}, (3_600_000, 7_200_000)),
        ("[desc(time_bucket(t, 1d))]", {"t": "date"}, (date(2024, 1, 1), date(2024, 1, 2))),
        ("[t:u32][n]", {"t": "timestamp_ms", "n": "u8"}, (3_600_000, 7_200_000)),
        ("[t:tail]", {"t": "text"}, ("a", "b")),
        ("[n][t:raw]", {"t": "text", "n": "u8"}, ("a", "b")),
    ],
)
def test_an_excluded_end_is_not_read(
    notation: str, fields: dict[str, str], bounds: tuple[Any, Any]
) -> None:
    """A read up to, but without, a value reads no key of that value and of none above it."""
    key, (low, high) = bind_key(notation, fields), bounds
    conditions = {"n": Equal(0)} if "n" in fields else {}
    plan = plan_read(key, {**conditions, "t": Range(low, high, includes_high=False)})
    others = {"n": 0} if "n" in fields else {}
    assert (True, False) == tuple(
        plan.has_key(key.encode({**others, "t": value})) for value in (low, high)
    )
    assert not plan.is_full_scan


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("[host][ts]", ["host", "ts"]),
        ("[desc(ts)][host]", ["ts desc", "host"]),
        ("[time_bucket(ts, 1m)][ts][host]", ["ts", "host"]),
        ("[time_bucket(ts, 1m)][desc(ts)]", []),
        ("[time_bucket(ts, 1m)][host][ts]", []),
        ("[host][time_slice(ts, 1m)]", ["host", "ts"]),
        ("[time_slice(ts, 1m)][host]", []),
        ("[truncate(host, 2)][n]", []),
        ("[truncate(host, 2)][host][n]", ["host", "n"]),
        ("[host:raw][n]", []),
        ("[host:fixed(8)]['x'][n]", ["host", "n"]),
        ("[digest(host, 2)][host]", []),
        ("[reverse(n)]", []),
    ],
)
def test_the_order_of_a_key_is_what_its_parts_keep_together(key: str, expected: list[str]) -> None:
    """Weak parts order a field only where the field itself follows at once, the same way round."""
    from rowkey.plan import compute_merged_order

    assert expected == [str(one) for one in compute_merged_order(bound(key), 0)]


def test_nulls_come_first_so_that_reading_backwards_is_another_order() -> None:
    """An order over a field that may be null is not served by reading the other order backwards."""
    key = bound("[kind][desc(level)]")
    info = {"kind": Equal("info")}
    with_nulls = plan_read(key, info, (Ordering("level"),))
    without = plan_read(key, {**info, "level": Range(1)}, (Ordering("level"),))
    assert (False, True) == (with_nulls.serves_backwards, without.serves_backwards)


def test_a_null_is_found_where_it_is_left_out() -> None:
    """Rows without an optional field at the end of the key lie in the range that asks for them."""
    key = bound("[n][note]")
    plan = plan_read(key, {"n": Equal(1), "note": Equal(None)})
    keys = {note: key.encode({"n": 1, "note": note}) for note in (None, "", "a")}
    assert [None] == [note for note, where in keys.items() if plan.has_key(where)]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("[bucket(host, ts, 4)][host][time_slice(ts, 1h)]", 1),
        ("[bucket(host, 4)][bucket(ts, 3)][host][time_slice(ts, 1h)]", 2),
        ("[bucket(host, ts, 4)][host][time_bucket(ts, 1h)]", 0),
    ],
)
def test_a_bucket_of_a_time_that_is_sliced_only_spreads(key: str, expected: int) -> None:
    """The rest of the time is in the qualifiers, so that the bucket tells nothing by itself."""
    assert expected == count_spreading_parts(bind_key(key, {"host": "text", "ts": "timestamp_s"}))


def test_stretches_behind_many_prefixes_are_read_as_one() -> None:
    """600 beginnings in each of 60,000 buckets are not 36 million ranges, and no row is missed."""
    key = bind_key("[bucket(ts, 60000)][host:raw][ts]", {"host": "text", "ts": "timestamp_s"})
    hosts = ("a", "ab", *(f"b{number:03}" for number in range(600)))
    plan = plan_read(key, {"host": OneOf(hosts)})
    assert (60_000, ("host",)) == (plan.fan_out, plan.residual_fields)
    rows = [{"host": host, "ts": ts} for ts, host in enumerate(hosts)]
    starts = [one.start for one in plan.ranges]
    for written in map(key.encode, rows):
        assert plan.ranges[bisect_right(starts, written) - 1].has_key(written)
