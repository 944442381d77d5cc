"""Plans of reads that can be checked by hand: the ranges, their order and the residual fields."""

from __future__ import annotations

from bisect import bisect_right
from datetime import date
from typing import Any

import pytest

from plan.random_keys import bind_fields_to_key
from rowkey.keys import bind_key
from rowkey.plan import count_spreading_parts, plan_read
from rowkey.schema import Bounds, Equal, OneOf, Ordering, Range, StartsWith

LOGS = "[bucket(host, 16)][host][kind][desc(ts)]"
BY_TIME = (Ordering("ts", descending=True),)


def test_the_latest_rows_of_one_host_are_merged_from_three_ranges() -> None:
    """The latest rows of one host are three ranges, merged by time without a sort."""
    plan = plan_read(bind_fields_to_key(LOGS), {"host": Equal("ab")}, BY_TIME)
    assert (3, True, (), False) == (
        plan.fan_out, plan.serves_order, plan.residual_fields, plan.is_full_scan,
    )  # fmt: skip
    assert BY_TIME == plan.row_order


def test_host_kind_and_time_range_become_one_range_without_a_filter() -> None:
    """A host, a kind and a range of time are one range without a residual filter."""
    key = bind_fields_to_key(LOGS)
    bounds: Bounds = {"host": Equal("ab"), "kind": Equal("warn"), "ts": Range(60, 120, True, False)}
    plan = plan_read(key, bounds)
    row = {"host": "ab", "kind": "warn"}
    held = [ts for ts in range(200) if plan.has_key(key.encode({**row, "ts": ts}))]
    assert (1, (), list(range(60, 120))) == (plan.fan_out, plan.residual_fields, held)


@pytest.mark.parametrize(
    ("value", "expected"), [("a", 3), ("ab", 3), ("b", 1)], ids=["heavy", "heavy too", "other"]
)
def test_a_heavy_value_under_a_bounded_spread_is_read_from_its_buckets(
    value: str, expected: int
) -> None:
    """A heavy value is read from its m buckets, any other value from one bucket."""
    plan = plan_read(
        bind_fields_to_key("[bucket(host, ts, 8, 3)][host][ts]"), {"host": Equal(value)}, BY_TIME
    )
    assert (expected, True) == (plan.fan_out, plan.serves_backwards)


@pytest.mark.parametrize(("seconds", "expected"), [(1, 1), (5, 5), (15, 15), (16, 16), (60, 16)])
@pytest.mark.claims(37, 38)
def test_a_time_range_under_mod_has_one_range_per_remainder(seconds: int, expected: int) -> None:
    """A range of 5 s under `mod(ts, 16)` is 5 ranges, and a longer one at most 16."""
    bounds = {"ts": Range(1_000, 1_000 + seconds - 1)}
    assert expected == plan_read(bind_fields_to_key("[mod(ts, 16)][ts][host]"), bounds).fan_out


def test_a_time_range_reads_all_hash_buckets_of_the_time() -> None:
    """A hash bucket of a time cannot be computed from a range, so all buckets are read."""
    plan = plan_read(bind_fields_to_key("[bucket(ts, 16)][ts]"), {"ts": Range(0, 3)})
    assert 16 == plan.fan_out


@pytest.mark.claims(14)
def test_a_random_salt_multiplies_the_ranges_of_every_read() -> None:
    """A random salt cannot be computed, so a row is read under each salt."""
    plan = plan_read(bind_fields_to_key("[salt(3)][host][n]"), {"host": Equal("a"), "n": Equal(1)})
    assert (3, True) == (plan.fan_out, plan.is_point)


def test_a_read_that_gives_all_key_fields_is_one_key() -> None:
    """The range of a read that gives all fields of the key holds one key."""
    key = bind_fields_to_key("[host][n]")
    plan = plan_read(key, {"host": Equal("a"), "n": Equal(-1)})
    only = key.encode({"host": "a", "n": -1})
    assert (True, only, only + b"\0") == (plan.is_point, plan.ranges[0].start, plan.ranges[0].stop)


def test_a_condition_after_the_first_range_is_filtered() -> None:
    """A field after the first range of the key cannot narrow the scan."""
    plan = plan_read(bind_fields_to_key("[ts][host]"), {"ts": Range(0, 9), "host": Equal("a")})
    assert (1, ("host",)) == (plan.fan_out, plan.residual_fields)


@pytest.mark.parametrize("key", ["[bucket(host, 4)][ts]", "[salt(3)][ts]", "[kind][ts]"])
def test_a_full_scan_ordered_by_time_merges_all_prefixes(key: str) -> None:
    plan = plan_read(bind_fields_to_key(key), {}, (Ordering("ts"),))
    assert (True, True) == (plan.serves_order, plan.is_full_scan)
    assert plan.fan_out > 1


@pytest.mark.parametrize("key", ["[host][n]", "[kind][ts]", "[bucket(host, 4)][n]"])
def test_a_full_scan_without_an_order_is_one_range(key: str) -> None:
    """A full scan of a key without a useful merge reads the table from end to end."""
    plan = plan_read(bind_fields_to_key(key), {})
    assert [(b"", b"")] == [(one.start, one.stop) for one in plan.ranges]
    assert (0, True, False) == (plan.pinned_count, plan.is_full_scan, plan.is_point)


@pytest.mark.parametrize(
    ("key", "bounds", "ranges", "expected"),
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
def test_an_ordered_full_scan_has_a_range_for_each_salt_and_bucket(
    key: str, bounds: Bounds, ranges: int, expected: list[str]
) -> None:
    """The rows are in the order of the key without its spreading prefix."""
    plan = plan_read(bind_fields_to_key(key), bounds)
    assert (ranges, expected) == (plan.fan_out, list(map(str, plan.row_order)))
    assert (True, False) == (plan.is_full_scan, plan.is_point)


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ({"ts": Range(60, 120)}, True),
        ({"host": Range("a", "b")}, False),
        ({"host": Equal("ab")}, False),
    ],
)
def test_a_read_without_the_first_field_of_a_bucket_is_a_full_scan(
    bounds: Bounds, expected: bool
) -> None:
    """A read without the host is a full scan, whatever bounds of the time it has."""
    plan = plan_read(bind_fields_to_key("[bucket(host, ts, 16, 8)][host][ts]"), bounds)
    assert expected == plan.is_full_scan


def test_a_condition_on_text_without_terminator_is_also_filtered() -> None:
    """The range of a text without terminator holds longer texts, so rows are filtered."""
    key = bind_fields_to_key("[note:tail]")
    plan = plan_read(key, {"note": OneOf((None, "ab"))})
    assert ("note",) == plan.residual_fields
    many = plan_read(key, {"note": OneOf((None, "", "ab"))})
    assert [(b"", b"\x01"), (b"\x01", b"\x02")] == [(one.start, one.stop) for one in many.ranges]


def test_a_list_condition_has_a_range_for_each_value() -> None:
    """Three hosts are three ranges, sorted by their keys."""
    plan = plan_read(bind_fields_to_key("[host][n]"), {"host": OneOf(("b", "a", "ab"))})
    assert [b"a\0", b"ab\0", b"b\0"] == [one.start for one in plan.ranges]


def test_a_text_prefix_condition_is_one_range_without_a_filter() -> None:
    """A prefix of a text is one range without a residual filter."""
    plan = plan_read(bind_fields_to_key("[host][n]"), {"host": StartsWith("ab")})
    assert [(b"ab", b"ac", ())] == [(r.start, r.stop, plan.residual_fields) for r in plan.ranges]


@pytest.mark.parametrize(
    ("key", "bounds"),
    [
        ("[n][host]", {"n": Range(5, 4)}),
        ("[n][host]", {"n": Range(5, 5, includes_high=False)}),
        ("[host][n]", {"host": Equal(None)}),
    ],
)
def test_an_inverted_range_or_null_of_a_required_field_has_no_range(key: str, bounds: Any) -> None:
    assert () == plan_read(bind_fields_to_key(key), bounds).ranges


def test_a_list_that_would_give_too_many_ranges_is_filtered() -> None:
    """A second list is pinned only while the product of the lists is below the limit."""
    key = bind_key("[a][b]", {"a": "u16", "b": "u16"})
    many = OneOf(tuple(range(1_000)))
    plan = plan_read(key, {"a": many, "b": many})
    assert (1_000, ("b",)) == (plan.fan_out, plan.residual_fields)


def test_a_list_that_is_too_long_is_read_as_one_range() -> None:
    """The range goes from the first to the last listed value."""
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
def test_a_range_that_excludes_its_high_value_holds_no_key_of_it(
    notation: str, fields: dict[str, str], bounds: tuple[Any, Any]
) -> None:
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
def test_a_coarse_key_part_keeps_an_order_only_if_its_field_follows(
    key: str, expected: list[str]
) -> None:
    """A coarse part keeps an order only if the field itself follows in the same direction."""
    from rowkey.plan import compute_merged_order

    assert expected == [str(one) for one in compute_merged_order(bind_fields_to_key(key), 0)]


def test_an_order_with_nulls_is_not_served_by_a_backward_scan() -> None:
    """Nulls come first in both directions, so a backward scan has another order."""
    key = bind_fields_to_key("[kind][desc(level)]")
    info = {"kind": Equal("info")}
    with_nulls = plan_read(key, info, (Ordering("level"),))
    without = plan_read(key, {**info, "level": Range(1)}, (Ordering("level"),))
    assert (False, True) == (with_nulls.serves_backwards, without.serves_backwards)


def test_a_row_without_an_optional_last_field_is_in_the_range_of_null() -> None:
    """Rows without an optional last field are in the range of a read for null."""
    key = bind_fields_to_key("[n][note]")
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
def test_a_bucket_of_a_time_slice_counts_as_spreading(key: str, expected: int) -> None:
    """A bucket of a time whose rest is in the qualifiers is counted as a spreading part."""
    assert expected == count_spreading_parts(bind_key(key, {"host": "text", "ts": "timestamp_s"}))


def test_too_many_ranges_become_one_range_per_prefix() -> None:
    """600 prefixes in 60,000 buckets are 60,000 ranges, and no row is missed."""
    key = bind_key("[bucket(ts, 60000)][host:raw][ts]", {"host": "text", "ts": "timestamp_s"})
    hosts = ("a", "ab", *(f"b{number:03}" for number in range(600)))
    plan = plan_read(key, {"host": OneOf(hosts)})
    assert (60_000, ("host",)) == (plan.fan_out, plan.residual_fields)
    rows = [{"host": host, "ts": ts} for ts, host in enumerate(hosts)]
    starts = [one.start for one in plan.ranges]
    for written in map(key.encode, rows):
        assert plan.ranges[bisect_right(starts, written) - 1].has_key(written)
