"""Logs and metrics with time, remainders of time, host or metric first in the key."""

from __future__ import annotations

import hashlib
import math
import struct
from collections import Counter
from collections.abc import Mapping
from typing import Any

import mmh3
import pytest

from rowkey.lint import check_design
from sources.evaluations import (
    change_design,
    explain_conditions,
    explain_declared_read,
    get_finding,
    get_read_costs,
    get_skew,
    list_causes,
    list_rows,
    list_rules,
    read_design,
    recount,
    simulate_example,
    to_milliseconds,
)

SIXTEENTHS = [bytes([n]) for n in range(1, 16)]
EVENTS = ["start", "stop", "warn", "fail"]


def get_time_ms(row: Mapping[str, Any]) -> int:
    """Return the time of a line in milliseconds."""
    return to_milliseconds(row["ts"])


def encode_text(text: str) -> bytes:
    """Return a text with its terminator."""
    return text.encode() + b"\0"


# The time in front


@pytest.mark.claims(10, 11, 49)
def test_a_time_first_key_writes_every_line_of_a_day_to_one_region() -> None:
    """With a region for each day, every line of a day goes to one region."""
    name = "logs/time_first"
    splits = [f"2025122{n}".encode() for n in (8, 9)] + [b"20251230", b"20251231"]
    splits += [f"2026010{n}".encode() for n in (1, 2, 3)]

    def key(row: Mapping[str, Any]) -> bytes:
        digits: str = row["ts"].strftime("%Y%m%d%H%M%S%f")[:17]
        return digits.encode() + encode_text(row["host"]) + bytes([EVENTS.index(row["event"])])

    counted = recount(name, key, splits)
    assert [0, 0, 0, 0, 0, 9_600, 0, 0] == counted.writes
    assert counted.writes == [region.writes for region in simulate_example(name).regions]
    expected = counted.skews[10]
    assert expected is not None
    assert 8.0 == expected[0] == get_skew(name)
    assert ["moving_front"] == list_causes(name)
    assert "ts" == get_finding(name, "monotone-lead").evidence["field"]


@pytest.mark.claims(37)
def test_whole_seconds_in_milliseconds_leave_one_of_100_remainders() -> None:
    """One of 100 remainders is used, as predicted, reported and simulated."""
    name = "logs/mod_100"
    assert {0} == {get_time_ms(row) % 100 for row in list_rows(name)}
    evidence = get_finding(name, "time-only-bucket").evidence
    assert (1.0, 1, 100) == (evidence["step_s"], evidence["reached"], evidence["buckets"])
    assert (99, 8.0) == (simulate_example(name).empty_region_count, get_skew(name))
    assert ["time_only_bucket"] == list_causes(name)


@pytest.mark.claims(37)
@pytest.mark.parametrize(
    ("step", "n", "expected"),
    [(1_000, 100, 1), (60, 100, 5), (1_000, 16, 2), (1, 100, 100), (1_000, 101, 101)],
)
def test_times_with_a_step_reach_n_over_gcd_leading_bytes(step: int, n: int, expected: int) -> None:
    key = change_design("logs/mod_100", key=f"[mod(ts, {n})][ts]").key
    leads = {key.encode({"ts": 1_767_225_600_000 + step * k})[0] for k in range(1_000)}
    assert expected == n // math.gcd(step, n) == len(leads)


@pytest.mark.claims(38)
def test_a_hundred_buckets_make_a_read_a_hundred_ranges() -> None:
    """An hour is a range for each of 100 buckets; the advised 16 buckets give 16 ranges."""
    read_name = "lines of an hour"
    assert 100 == explain_declared_read("logs/mod_100", read_name).fan_out
    assert (100.0, 100) == get_read_costs("logs/mod_100", read_name).fan_out
    one = get_finding("logs/mod_100", "too-many-buckets")
    assert (100, [read_name]) == (one.value, one.evidence["reads"])
    assert (16.0, 16) == get_read_costs("logs/better_by_time", read_name).fan_out


@pytest.mark.claims(38)
@pytest.mark.parametrize(("buckets", "servers", "expected"), [(32, 8, 0), (33, 8, 1), (100, 25, 0)])
def test_each_bucket_adds_a_range_to_a_time_range_read(
    buckets: int, servers: int, expected: int
) -> None:
    """Each bucket adds a range to a read of a time range; above four a server it is a warning."""
    words = {"key": f"[bucket(host, {buckets})][ts][host][event]", "cluster": {"servers": servers}}
    design = change_design("logs/better_by_time", **words)
    hour = explain_conditions(design, "ts >= ? and ts < ?", [0, 3_600_000], "ts")
    assert (buckets, "forwards") == (hour.fan_out, hour.order_method)
    told = check_design(design, select=["too-many-buckets"]).findings
    assert ["warning"] * expected == [one.severity for one in told]
    assert all(f"Use {2 * servers}" in one.remedy for one in told)


@pytest.mark.claims(10, 37)
def test_a_bucket_of_the_host_is_even_for_times_in_whole_seconds() -> None:
    """The simulated counts by region equal those of another library's hash, and are even."""
    name = "logs/better_by_time"

    def key(row: Mapping[str, Any]) -> bytes:
        bucket = mmh3.hash(encode_text(row["host"]), 0, signed=False) % 16
        return bytes([bucket]) + struct.pack(">q", get_time_ms(row)) + encode_text(row["host"])

    counted = recount(name, key, SIXTEENTHS)
    assert counted.writes == [region.writes for region in simulate_example(name).regions]
    expected = counted.skews[10]
    assert expected is not None
    assert pytest.approx(expected[0]) == get_skew(name)
    assert get_skew(name) < 1.15


# The host in front


@pytest.mark.claims(39)
def test_a_key_that_begins_with_one_of_many_hosts_is_even() -> None:
    """Hundreds of hosts a region are even under quantiles of names."""
    name = "logs/host_first"
    hosts = Counter(row["host"] for row in list_rows(name))
    assert len(hosts) > 100 * 16
    assert max(hosts.values()) < hosts.total() / 100
    assert [] == list_causes(name)
    assert get_skew(name) < 1.15


@pytest.mark.claims(39, 51)
def test_twelve_leading_hosts_leave_four_of_sixteen_regions_empty() -> None:
    """Twelve hosts fill twelve of sixteen regions, so four servers have two of them."""
    name = "logs/few_hosts"
    hosts = {row["host"] for row in list_rows(name)}
    assert 12 == len(hosts)
    splits = [f"{n:08d}".encode() for n in range(1, 16)]
    counted = recount(name, lambda row: encode_text(row["host"]), splits)
    assert 4 == counted.writes.count(0) == simulate_example(name).empty_region_count
    expected = counted.skews[10]
    assert expected is not None
    assert pytest.approx(expected[0]) == get_skew(name)
    assert get_skew(name) > 8 * 2 / 12
    cause = next(one for one in simulate_example(name).causes if one.code == "few_entities")
    assert (12, 16, 12) == tuple(cause.evidence[word] for word in ("values", "regions", "used"))
    assert "few-leading-values" in list_rules(name)


@pytest.mark.claims(40)
def test_with_a_one_byte_digest_lines_of_different_hosts_overwrite_each_other() -> None:
    """2,000 hosts share 256 digests, so lines of different hosts overwrite each other."""
    name = "logs/host_digest"
    digests = {
        row["host"]: hashlib.md5(row["host"].encode()).digest()[:1] for row in list_rows(name)
    }
    assert len(set(digests.values())) <= 256 < len(digests)
    places = {(digests[row["host"]], row["event"], get_time_ms(row)) for row in list_rows(name)}
    met = len(list_rows(name)) - len(places)
    assert met > 0
    assert (
        met
        == simulate_example(name).overwrite_count
        == get_finding(name, "overwritten-rows").evidence["repeats"]
    )
    assert "host" == get_finding(name, "colliding-keys").evidence["field"]
    row = list_rows(name)[0]
    assert digests[row["host"]] == read_design(name).key.encode(row)[:1]


@pytest.mark.claims(40)
def test_nineteen_values_of_a_one_byte_digest_collide_in_half_of_all_cases() -> None:
    """Groups of nineteen hosts collide in half of all cases, as the exact product says."""
    exact = 1 - math.prod(1 - n / 256 for n in range(19))
    key = read_design("logs/host_digest").key
    line = {"event": "fail", "ts": 1_767_225_600_000}
    groups = [
        {key.encode({"host": f"{group}-{n}.example", **line}) for n in range(19)}
        for group in range(1_000)
    ]
    assert pytest.approx(exact, abs=0.05) == sum(len(keys) < 19 for keys in groups) / 1_000
    assert 0.45 < exact < 0.5


@pytest.mark.claims(40)
@pytest.mark.parametrize(("length", "severity"), [(4, "info"), (3, "warning")])
def test_the_odds_of_a_digest_collision_follow_from_its_bits(length: int, severity: str) -> None:
    """The odds of a collision are n² / 2^(bits + 1), and a warning above 0.1 %."""
    host = {"type": "text", "max_bytes": 40, "distinct": 2_000}
    design = change_design(
        "logs/host_digest", key=f"[digest(host, {length})][event][ts]", fields={"host": host}
    )
    [one] = check_design(design, select=["colliding-keys"]).findings
    assert pytest.approx(2_000**2 / 2 ** (8 * length + 1)) == one.evidence["odds"]
    assert severity == one.severity


@pytest.mark.claims(40)
def test_a_digest_of_16_bytes_never_collides() -> None:
    """A digest of 16 bytes, which the book means by 16, never collides."""
    host = {"type": "text", "max_bytes": 40, "distinct": 10**12}
    design = change_design(
        "logs/host_digest", key="[digest(host, 16)][event][ts]", fields={"host": host}
    )
    assert () == check_design(design, select=["colliding-keys"]).findings


# The latest first


@pytest.mark.claims(13)
def test_a_descending_time_has_the_bytes_of_the_java_subtraction() -> None:
    """The last eight bytes are Long.MAX_VALUE - ts, so the latest line is first."""
    key = read_design("logs/better_by_host").key
    row = {"host": "web-1.example", "event": "fail"}
    made = {}
    for ts in (0, 1, 1_767_225_600_000, 2**62):
        made[ts] = key.encode({**row, "ts": ts})
        assert struct.pack(">q", 2**63 - 1 - ts) == made[ts][-8:]
    assert sorted(made, reverse=True) == sorted(made, key=made.__getitem__)


@pytest.mark.claims(13)
def test_an_ascending_time_serves_the_latest_by_a_reversed_scan() -> None:
    """An ascending time serves the order by a reversed scan, with a finding."""
    name = "latest failures of a host"
    assert "forwards" == explain_declared_read("logs/better_by_host", name).order_method
    assert "backwards" == explain_declared_read("logs/host_first", name).order_method
    one = get_finding("logs/host_first", "latest-read-backwards")
    assert ("info", True) == (one.severity, "0.98" in one.verdict)


# Metrics


@pytest.mark.claims(51, 80)
def test_ten_leading_metrics_leave_six_of_sixteen_regions_empty() -> None:
    """Ten metrics leave six of sixteen regions empty, and two of them on some servers."""
    name = "metrics/few"
    splits = [region.start for region in simulate_example(name).regions[1:]]
    counted = recount(name, lambda row: struct.pack(">H", row["metric"]), splits)
    assert 6 == counted.writes.count(0) == simulate_example(name).empty_region_count
    expected = counted.skews[10]
    assert expected is not None
    assert pytest.approx(expected[0]) == get_skew(name)
    assert get_skew(name) > 1.5
    assert ["few-leading-values"] == list_rules(name)


@pytest.mark.claims(80)
def test_two_thousand_leading_metrics_are_even() -> None:
    """With 2,000 metrics the same key is even and has no finding."""
    name = "metrics/many"
    assert 2_000 == len({row["metric"] for row in list_rows(name)})
    counted = recount(
        name,
        lambda row: struct.pack(">H", row["metric"]),
        [region.start for region in simulate_example(name).regions[1:]],
    )
    expected = counted.skews[10]
    assert expected is not None
    assert pytest.approx(expected[0]) == get_skew(name)
    assert get_skew(name) < 1.1
    assert ([], []) == (list_rules(name), list_causes(name))


@pytest.mark.claims(80)
def test_a_bucket_of_metric_and_host_spreads_ten_metrics() -> None:
    """A bucket of metric and host spreads ten metrics, and a read has sixteen ranges."""
    assert get_skew("metrics/better") < 1.1
    assert (16.0, 16) == get_read_costs("metrics/better", "a minute of a metric").fan_out
