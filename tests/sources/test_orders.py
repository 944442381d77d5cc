"""Orders: joined fields, reversed days, hashes of time and number."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

import mmh3
import pytest

import rowkey
from rowkey.errors import DesignRefused, InvalidDesign
from rowkey.keys import Compatibility
from rowkey.lint import check_design
from sources.evaluations import (
    change_design,
    check_example,
    explain_conditions,
    explain_declared_read,
    get_finding,
    get_read_costs,
    get_skew,
    list_causes,
    list_rows,
    list_rules,
    list_times,
    measure_runs,
    read_design,
    recount,
    simulate_example,
    to_milliseconds,
)

TIME = 1_609_459_200_000

# Fields without ends


@pytest.mark.claims(58)
def test_two_orders_share_a_key_if_fields_are_joined_without_terminators() -> None:
    """User 1 with product 23 and user 12 with product 3 share a key without terminators."""
    orders = [
        {"user": user, "product": product, "time": TIME}
        for user, product in (("1", "23"), ("12", "3"))
    ]
    joined = read_design("orders_by_user/joined").key
    assert [b"123" + b"20210101000000000"[::-1]] == sorted({joined.encode(one) for one in orders})
    ended = read_design("orders_by_user/better").key
    assert 2 == len({ended.encode(one) for one in orders})
    assert orders == [{**one, **ended.decode(ended.encode(one))} for one in orders]


@pytest.mark.claims(58)
def test_fields_joined_without_terminators_are_an_error() -> None:
    """Fields without terminators are errors, and the table is not opened."""
    errors = [
        one for one in check_example("orders_by_user/joined").findings if one.severity == "error"
    ]
    assert [("user",), ("product",)] == [one.evidence["fields"] for one in errors]
    assert ["ambiguous-key"] * 2 == [one.name for one in errors]
    with pytest.raises(DesignRefused):
        rowkey.open(read_design("orders_by_user/joined"), "memory:")


@pytest.mark.claims(8, 58)
def test_orders_with_the_same_joined_key_overwrite_each_other() -> None:
    """There are as many rows as different joined texts of 300 users and products."""
    pairs = [(str(user), str(product)) for user in range(30) for product in range(10, 120, 10)]
    key = read_design("orders_by_user/joined").key
    made = {key.encode({"user": u, "product": p, "time": TIME}) for u, p in pairs}
    assert len({u + p for u, p in pairs}) == len(made) < len(pairs)


@pytest.mark.claims(52, 54)
def test_a_descending_time_makes_a_week_one_range() -> None:
    """A week of a user and product is one range without a filter, latest first."""
    latest, week = "orders of a user and product", "a week of them"
    assert "sorted" == explain_declared_read("orders_by_user/joined", latest).order_method
    assert "time" in explain_declared_read("orders_by_user/joined", week).residual_fields
    assert "forwards" == explain_declared_read("orders_by_user/better", latest).order_method
    for name in (latest, week):
        told = explain_declared_read("orders_by_user/better", name)
        assert (1, ()) == (told.fan_out, told.residual_fields)
        assert ("bucket(user, 16)", "user", "product") == told.pinned_parts
    assert ["reversed-under-range"] * 2 == list_rules("orders_by_user/joined")[2:]


# Reversed days


@pytest.mark.claims(55)
def test_a_week_of_reversed_days_is_a_full_scan() -> None:
    """A week of reversed days is a full scan, and one day is one get."""
    name = "orders_by_day/reversed_day"
    told = explain_declared_read(name, "orders of a week")
    assert ("full scan", "sorted") == (told.access_type, told.order_method)
    events_per_s, day_s = 500, 86_400
    read_rows = get_read_costs(name, "orders of a week").read_rows
    assert pytest.approx(7 * day_s * events_per_s, rel=0.01) == read_rows
    assert "get" == explain_declared_read(name, "an order").access_type
    assert "day" == get_finding(name, "reversed-under-range").evidence["field"]


@pytest.mark.claims(55)
def test_seven_reversed_days_are_seven_distant_ranges() -> None:
    """Seven days are seven runs, which span most of the reversed days of a year."""
    key = change_design("orders_by_day/reversed_day", key="[reverse(day:calendar)]").key
    days = [date(2021, 1, 1) + timedelta(days=n) for n in range(365)]
    keys = [key.encode({"day": day}) for day in days]
    assert [day.strftime("%Y%m%d")[::-1].encode() for day in days] == keys
    for first in range(0, 358, 50):
        many, span = measure_runs(set(keys[first : first + 7]), sorted(keys))
        assert many == 7
        assert span > 365 / 2


@pytest.mark.claims(55)
def test_a_day_first_key_writes_all_orders_of_a_day_to_one_region() -> None:
    """With the day first, all orders of a day go to one region."""
    name = "orders_by_day/reversed_day"
    counted = recount(
        name,
        lambda row: row["day"].strftime("%Y%m%d")[::-1].encode(),
        [region.start for region in simulate_example(name).regions[1:]],
        list_times(name),
    )
    assert counted.writes == [region.writes for region in simulate_example(name).regions]
    assert [0] * 15 == sorted(counted.writes)[:15]
    assert 8.0 == get_skew(name)
    assert ["time_only_bucket"] == list_causes(name)


@pytest.mark.claims(55, 88)
def test_a_bucket_before_an_ordered_day_serves_weeks_and_orders() -> None:
    """With a bucket and an ordered day, weeks are ranges, orders are gets, and load is even."""
    name = "orders_by_day/better"
    week = explain_declared_read(name, "orders of a week")
    assert (16, "forwards", ()) == (week.fan_out, week.order_method, week.residual_fields)
    assert ("get", 1) == (
        explain_declared_read(name, "an order").access_type,
        explain_declared_read(name, "an order").fan_out,
    )
    assert get_skew(name) < 1.1


# A hash of time and order


def compute_partition(row: Mapping[str, Any], count: int) -> int:
    """Return the partition of an order, computed by another library's hash."""
    seconds = to_milliseconds(row["ts"]) // 1_000
    return (
        int(mmh3.hash(seconds.to_bytes(8, "big") + row["order"].encode(), 0, signed=False)) % count
    )


@pytest.mark.claims(14, 65, 87)
def test_three_partitions_use_three_of_eight_servers() -> None:
    """Three even partitions use three of eight servers, a skew of 8/3."""
    name = "orders_hashed/three_partitions"
    counted = recount(name, lambda row: b"%d" % compute_partition(row, 3), [b"1", b"2"])
    assert counted.writes == [region.writes for region in simulate_example(name).regions]
    assert get_skew(name) == pytest.approx(8 / 3, rel=0.05)
    [cause] = simulate_example(name).causes
    assert ("integer_imbalance", 8 / 3) == (cause.code, cause.evidence["bound"])
    finding = get_finding(name, "too-few-buckets")
    assert (3, 8) == (finding.value, finding.evidence["servers"])


@pytest.mark.claims(52, 65)
def test_an_order_is_found_by_number_only_if_the_time_is_not_hashed() -> None:
    """With the time in the hash, a read by number is a full scan; without it, a get."""
    name = "orders_hashed/three_partitions"
    assert "full scan" == explain_declared_read(name, "an order").access_type
    assert len(list_rows(name)) == get_read_costs(name, "an order").read_rows
    assert ["order"] == get_finding(name, "full-scan-read").evidence["given"]
    design = read_design(name)
    both = explain_conditions(design, "order = ? and ts = ?", ["000001", 1_609_459_200])
    assert ("get", 1) == (both.access_type, both.fan_out)
    assert ("get", 1) == (
        explain_declared_read("orders_hashed/better", "an order").access_type,
        explain_declared_read("orders_hashed/better", "an order").fan_out,
    )


@pytest.mark.claims(9, 65)
def test_unpadded_partition_numbers_are_split_keys_out_of_order() -> None:
    """Unpadded partition numbers are split keys out of order, as 10_ sorts before 1_."""
    printed = [f"{n}_" for n in range(1, 12)]
    assert printed != sorted(printed)
    assert sorted(printed).index("10_") < sorted(printed).index("1_")
    with pytest.raises(InvalidDesign, match="ascend"):
        change_design("orders_hashed/three_partitions", splits=printed)
    design = change_design(
        "orders_hashed/three_partitions",
        key="[bucket(ts, order, 12, as=decimal)]['_'][ts:calendar]['_'][order]",
    )
    row = {"ts": 1_609_459_200, "amount": 1}
    leads = {design.key.encode({**row, "order": f"{n:06d}"})[:3] for n in range(500)}
    assert [f"{n:02d}_".encode() for n in range(12)] == sorted(leads)


@pytest.mark.claims(65, 68)
def test_separators_after_fixed_widths_are_reported_as_needless() -> None:
    """Separators after parts of fixed width are reported as needless bytes."""
    told = [
        o for o in check_example("orders_hashed/three_partitions").findings if "separator" in o.name
    ]
    assert [(1, "info"), (1, "info")] == [(o.evidence["bytes"], o.severity) for o in told]
    assert 23 == read_design("orders_hashed/three_partitions").key.part_sequence.framing.width


# What a key may grow by


@pytest.mark.claims(59)
def test_a_nullable_last_field_can_be_added_to_the_key_later() -> None:
    """A nullable last field can be added to the key later, and a required one cannot."""
    old = read_design("orders_hashed/better")
    spare = {"channel": {"type": "u8", "nullable": True}}
    new = change_design(
        "orders_hashed/better", key="[bucket(order, 16)][order][channel]", fields=spare
    )
    row = {"order": "000042"}
    assert old.key.encode(row) == new.key.encode({**row, "channel": None})
    assert {**row, "channel": None} == new.key.decode(old.key.encode(row))
    assert Compatibility.WIDER == old.key.check_compatibility(new.key)
    must = change_design(
        "orders_hashed/better",
        key="[bucket(order, 16)][order][channel]",
        fields={"channel": {"type": "u8"}},
    )
    assert Compatibility.BREAKS == old.key.check_compatibility(must.key)


@pytest.mark.claims(59)
def test_a_constant_version_byte_in_the_key_is_reported_and_can_be_allowed() -> None:
    """A constant version byte is reported as information, and can be allowed."""
    design = change_design("orders_hashed/better", key="['1'][bucket(order, 16)][order]")
    [one] = check_design(design, select=["constant-in-front"]).findings
    assert "info" == one.severity
