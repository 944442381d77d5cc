"""Reads: what a key narrows, which rows are adjacent, waybills and user behaviour."""

from __future__ import annotations

import hashlib
import struct
from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

import pytest

from rowkey.lint import check_design
from sources.evaluations import (
    change_design,
    explain_declared_read,
    get_finding,
    get_read_costs,
    get_skew,
    list_causes,
    list_rows,
    list_rules,
    measure_runs,
    read_design,
    recount,
    simulate_example,
    to_milliseconds,
)

DAY = "a day of a user"
PARCEL = "where a parcel was on a day"


def count_daily_events(name: str) -> float:
    """Return the events of a day at the declared rate of a design."""
    rate = read_design(name).writes.rate
    assert rate is not None
    return rate * 86_400


def digest_user(row: Mapping[str, Any]) -> bytes:
    """Return the MD5 of the user's text."""
    return hashlib.md5(row["user"].encode()).digest()


@pytest.mark.claims(2)
@pytest.mark.parametrize(
    ("name", "read_name", "expected"),
    [
        ("salted/better", "a thing", "get"),
        ("logs/better_by_time", "lines of an hour", "scan"),
        ("behaviour/event_id", DAY, "full scan"),
    ],
)
def test_get_scan_and_full_scan_are_distinguished(name: str, read_name: str, expected: str) -> None:
    """Get, scan and full scan are distinguished, and a full scan is an error unless allowed."""
    assert expected == explain_declared_read(name, read_name).access_type
    assert (expected == "full scan") == ("full-scan-read" in list_rules(name))
    if expected == "full scan":
        assert "error" == get_finding(name, "full-scan-read").severity


@pytest.mark.claims(2, 52)
def test_a_key_of_the_event_id_serves_no_read_of_a_user() -> None:
    """Under the event's id each read of a user and a day reads the table of a billion ids."""
    name = "behaviour/event_id"
    assert get_skew(name) < 1.1
    cost = get_read_costs(name, DAY)
    assert cost.is_full_scan
    ids = read_design(name).fields["event"].declaration.distinct or 0
    assert pytest.approx(ids, rel=0.01) == cost.read_rows > count_daily_events(name)
    evidence = get_finding(name, "full-scan-read").evidence
    assert ["user", "ts"] == evidence["given"]


@pytest.mark.claims(48)
def test_a_get_is_a_range_of_one_key_that_bloom_filters_serve() -> None:
    """The range of a get holds one key, and disabled Bloom filters are reported for gets."""
    told = explain_declared_read("families/advised", "a profile")
    [one] = told.ranges
    assert ("get", one.start + b"\0") == (told.access_type, one.stop)
    assert "bloom-unlike-reads" in list_rules("families/advised")
    scanned = change_design(
        "families/advised",
        families={"d": {"bloom": "NONE"}},
        reads=[{"name": "all in order", "order": "user", "limit": 100}],
    )
    assert () == check_design(scanned, select=["bloom-unlike-reads"]).findings


@pytest.mark.claims(36)
def test_a_prefix_bloom_filter_longer_than_the_prefix_of_reads_is_reported() -> None:
    """Prefix Bloom filters longer than the digest and user of a scan are reported as unused."""
    for length, expected in ((2, 0), (40, 1)):
        design = change_design(
            "behaviour/better", families={"d": {"bloom": f"ROWPREFIX_FIXED_LENGTH({length})"}}
        )
        assert expected == len(check_design(design, select=["bloom-unlike-reads"]).findings)


# The order of fields


@pytest.mark.claims(52, 88)
def test_a_time_range_narrows_a_read_only_after_the_number() -> None:
    """A parcel's day reads only its rows with the number first, and all with the time first."""
    first, behind = (
        get_read_costs("waybills/number_first", PARCEL),
        get_read_costs("waybills/time_first", PARCEL),
    )
    assert first.amplification == 1.0
    assert pytest.approx(count_daily_events("waybills/time_first"), rel=0.01) == behind.read_rows
    assert (
        ("waybill",)
        == behind.residual_fields
        == explain_declared_read("waybills/time_first", PARCEL).residual_fields
    )
    evidence = get_finding("waybills/time_first", "value-behind-range").evidence
    assert ("waybill", "ts") == (evidence["field"], evidence["behind"])


@pytest.mark.claims(52, 88)
@pytest.mark.parametrize("name", ["waybills/number_first", "waybills/better"])
def test_the_scans_of_a_parcel_are_adjacent_rows(name: str) -> None:
    """The scans of a parcel are adjacent rows, read by one range."""
    key = read_design(name).key
    parcels: dict[str, set[bytes]] = {}
    for row in list_rows(name)[:4_000]:
        parcels.setdefault(row["waybill"], set()).add(key.encode(row))
    ordered = sorted(set().union(*parcels.values()))
    assert {1} == {measure_runs(keys, ordered)[0] for keys in parcels.values() if len(keys) > 4}
    told = explain_declared_read(name, PARCEL)
    assert (1, ()) == (told.fan_out, told.residual_fields)


@pytest.mark.claims(11, 52)
def test_rising_waybill_numbers_are_hot_without_a_bucket() -> None:
    """Rising waybill numbers are in one region, and with a bucket in all regions."""
    splits = [f"{10**6 * n // 16:012d}".encode() for n in range(1, 16)]
    counted = recount("waybills/number_first", lambda row: row["waybill"].encode(), splits)
    assert counted.writes == [
        region.writes for region in simulate_example("waybills/number_first").regions
    ]
    assert (8.0, ["moving_front"]) == (
        get_skew("waybills/number_first"),
        list_causes("waybills/number_first"),
    )
    assert get_skew("waybills/better") < 1.1


# A digest in front


@pytest.mark.claims(53)
def test_a_digest_of_two_bytes_spreads_as_well_as_32_digits() -> None:
    """Two bytes of digest give the same regions as 32 hexadecimal digits."""
    raw = [bytes([16 * n]) for n in range(1, 16)]
    digits = [f"{n:x}".encode() for n in range(1, 16)]
    short = recount("behaviour/better", lambda row: digest_user(row)[:2], raw)
    long = recount("behaviour/md5_hex", lambda row: digest_user(row).hex().encode(), digits)
    assert list_rows("behaviour/better") == list_rows("behaviour/md5_hex")
    assert short.writes == long.writes
    for name in ("behaviour/better", "behaviour/md5_hex"):
        assert short.writes == [region.writes for region in simulate_example(name).regions]
        assert get_skew(name) < 1.1


@pytest.mark.claims(4, 53)
def test_a_digest_of_32_digits_wastes_bytes_and_loses_the_user() -> None:
    """The key has 49 bytes, and the user is stored in a column as well."""
    row = list_rows("behaviour/md5_hex")[0]
    time = row["ts"].strftime("%Y%m%d%H%M%S%f")[:17].encode()
    assert digest_user(row).hex().encode() + time == read_design("behaviour/md5_hex").key.encode(
        row
    )
    short = digest_user(row)[:2] + row["user"].encode() + b"\0"
    short += struct.pack(">q", to_milliseconds(row["ts"]))
    assert short == read_design("behaviour/better").key.encode(row)
    assert (49.0, len(short)) == (
        simulate_example("behaviour/md5_hex").key_bytes,
        simulate_example("behaviour/better").key_bytes,
    )
    assert ("user",) == read_design("behaviour/md5_hex").layout.lossy_key_fields
    assert () == read_design("behaviour/better").layout.lossy_key_fields
    one = get_finding("behaviour/md5_hex", "long-digest")
    assert (32, "info") == (one.evidence["bytes"], one.severity)


@pytest.mark.claims(53)
def test_a_digest_loses_its_field_unless_the_field_follows() -> None:
    """A key with the digest alone decodes without the user, with the user after it completely."""
    row = {"user": "anna", "ts": 1_609_459_200_000}
    for name, expected in (
        ("behaviour/md5_hex", {"ts": 1_609_459_200_000}),
        ("behaviour/better", row),
    ):
        key = read_design(name).key
        assert expected == key.decode(key.encode(row))


@pytest.mark.claims(15, 86, 88)
def test_a_hash_of_the_user_keeps_all_rows_of_a_user_in_one_region() -> None:
    """Rows of one user share a region because only the user is hashed."""
    regions: dict[str, set[int]] = {}
    bounds = [region.start for region in simulate_example("behaviour/better").regions[1:]]
    key = read_design("behaviour/better").key
    for row in list_rows("behaviour/better")[:4_000]:
        regions.setdefault(row["user"], set()).add(bisect_right(bounds, key.encode(row)))
    assert {1} == {len(found) for found in regions.values()}
    assert set(range(16)) == set().union(*regions.values())
    told = explain_declared_read("behaviour/better", DAY)
    assert (1, ()) == (told.fan_out, told.residual_fields)


@pytest.mark.claims(38, 86)
def test_a_hash_of_user_and_time_makes_the_day_of_a_user_sixteen_ranges() -> None:
    """A user's day is sixteen ranges, and the finding names the time as needless in the hash."""
    design = change_design(
        "behaviour/better", key="[bucket(user, ts, 16)][user][ts]", splits="per_bucket"
    )
    [one] = check_design(design, select=["read-asks-every-bucket"]).findings
    assert (16, ["ts"]) == (one.evidence["fan_out"], one.evidence["lacking"])
    leads = {design.key.encode({"user": "anna", "ts": ts})[0] for ts in range(500)}
    assert set(range(16)) == leads


@pytest.mark.claims(38, 86)
def test_a_bucket_over_ten_metrics_alone_is_not_proposed() -> None:
    assert [] == list_rules("metrics/better")
    many = {"type": "u16", "distinct": 2_000}
    design = change_design("metrics/better", fields={"metric": many})
    assert ["read-asks-every-bucket"] == [one.name for one in check_design(design).findings]
