"""Reads: what a key narrows, what lies side by side, waybills and behaviour of users."""

from __future__ import annotations

import hashlib
import struct
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

import pytest

from rowkey.lint import check_design
from sources.judged import (
    asked,
    by_hand,
    causes,
    changed,
    explained,
    found,
    milliseconds,
    read,
    rows,
    rules,
    runs,
    simulated,
    skew,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

DAY = "a day of a user"
PARCEL = "where a parcel was on a day"
DAY_MS = 86_400_000


def text_digest(row: Mapping[str, Any]) -> bytes:
    """MD5 of the user's text."""
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
def test_a_read_is_a_get_a_scan_or_everything(name: str, read_name: str, expected: str) -> None:
    """Each of the three accesses is told apart, and the third is an error unless allowed."""
    assert expected == explained(name, read_name).access_type
    assert (expected == "full scan") == ("full-scan-read" in rules(name))
    if expected == "full scan":
        assert "error" == found(name, "full-scan-read").severity


@pytest.mark.claims(2, 52)
def test_a_key_that_spreads_may_serve_nothing() -> None:
    """The event's id is as even as can be, and each read of a user reads all 10,000 rows."""
    name = "behaviour/event_id"
    assert skew(name) < 1.1
    cost = asked(name, DAY)
    assert (len(rows(name)), True) == (cost.read_rows, cost.is_full_scan)
    evidence = found(name, "full-scan-read").evidence
    assert ["user", "ts"] == evidence["given"]
    better = changed(name, key=evidence["proposal"], splits=None)
    assert [] == [one for one in check_design(better).findings if one.name == "full-scan-read"]


@pytest.mark.claims(48)
def test_a_get_is_a_scan_of_one_row_that_bloom_filters_serve() -> None:
    """The range of a get holds one key and nothing else; filters that are off are told of gets."""
    told = explained("families/advised", "a profile")
    [one] = told.ranges
    assert ("get", one.start + b"\0") == (told.access_type, one.stop)
    assert "bloom-unlike-reads" in rules("families/advised")
    scanned = changed(
        "families/advised",
        families={"d": {"bloom": "NONE"}},
        reads=[{"name": "all in order", "order": "user", "limit": 100}],
    )
    assert () == check_design(scanned, select=["bloom-unlike-reads"]).findings


@pytest.mark.claims(36)
def test_a_filter_of_a_prefix_is_as_long_as_what_reads_give() -> None:
    """A scan of a user pins two bytes of digest and the user: longer filters are never asked."""
    for length, expected in ((2, 0), (40, 1)):
        design = changed(
            "behaviour/better", families={"d": {"bloom": f"ROWPREFIX_FIXED_LENGTH({length})"}}
        )
        assert expected == len(check_design(design, select=["bloom-unlike-reads"]).findings)


# The order of fields


@pytest.mark.claims(52, 88)
def test_the_value_before_the_stretch_narrows() -> None:
    """A parcel's day is its own rows with the number first, and everybody's with the time first."""
    first, behind = asked("waybills/number_first", PARCEL), asked("waybills/time_first", PARCEL)
    assert first.amplification == 1.0
    times = sorted(milliseconds(row["ts"]) for row in rows("waybills/time_first"))
    trials = [
        milliseconds(rows("waybills/time_first")[20_000 * n // 100]["ts"]) for n in range(100)
    ]
    within = [bisect_left(times, at + DAY_MS) - bisect_left(times, at) for at in trials]
    assert pytest.approx(sum(within) / 100, rel=0.01) == behind.read_rows
    assert (
        ("waybill",)
        == behind.residual_fields
        == explained("waybills/time_first", PARCEL).residual_fields
    )
    evidence = found("waybills/time_first", "value-behind-range").evidence
    assert ("waybill", "ts") == (evidence["field"], evidence["behind"])


@pytest.mark.claims(52, 88)
@pytest.mark.parametrize("name", ["waybills/number_first", "waybills/better"])
def test_the_rows_of_a_read_lie_side_by_side(name: str) -> None:
    """The scans of each parcel are one run among all row keys, and a read is one range."""
    key = read(name).key
    parcels: dict[str, set[bytes]] = {}
    for row in rows(name)[:4_000]:
        parcels.setdefault(row["waybill"], set()).add(key.encode(row))
    ordered = sorted(set().union(*parcels.values()))
    assert {1} == {runs(keys, ordered)[0] for keys in parcels.values() if len(keys) > 4}
    told = explained(name, PARCEL)
    assert (1, ()) == (told.fan_out, told.residual_fields)


@pytest.mark.claims(11, 52)
def test_a_number_that_counts_up_is_served_and_hot() -> None:
    """The newest waybills are scanned most: all in one region, behind a bucket in all."""
    splits = [f"{10**6 * n // 16:012d}".encode() for n in range(1, 16)]
    counted = by_hand("waybills/number_first", lambda row: row["waybill"].encode(), splits)
    assert counted.writes == [
        region.writes for region in simulated("waybills/number_first").regions
    ]
    assert (8.0, ["moving_front"]) == (
        skew("waybills/number_first"),
        causes("waybills/number_first"),
    )
    assert skew("waybills/better") < 1.1


# A digest in front


@pytest.mark.claims(53)
def test_two_bytes_of_digest_spread_as_well_as_32_digits() -> None:
    """By hand and simulated, under sixteen equal ranges: the regions are the very same."""
    raw = [bytes([16 * n]) for n in range(1, 16)]
    digits = [f"{n:x}".encode() for n in range(1, 16)]
    short = by_hand("behaviour/better", lambda row: text_digest(row)[:2], raw)
    long = by_hand("behaviour/md5_hex", lambda row: text_digest(row).hex().encode(), digits)
    assert rows("behaviour/better") == rows("behaviour/md5_hex")
    assert short.writes == long.writes
    for name in ("behaviour/better", "behaviour/md5_hex"):
        assert short.writes == [region.writes for region in simulated(name).regions]
        assert skew(name) < 1.1


@pytest.mark.claims(4, 53)
def test_32_digits_are_28_bytes_too_many_and_lose_the_user() -> None:
    """The key has 49 bytes against the document's own 16, and the user is stored once more."""
    row = rows("behaviour/md5_hex")[0]
    time = row["ts"].strftime("%Y%m%d%H%M%S%f")[:17].encode()
    assert text_digest(row).hex().encode() + time == read("behaviour/md5_hex").key.encode(row)
    short = text_digest(row)[:2] + row["user"].encode() + b"\0"
    short += struct.pack(">q", milliseconds(row["ts"]))
    assert short == read("behaviour/better").key.encode(row)
    assert (49.0, len(short)) == (
        simulated("behaviour/md5_hex").key_bytes,
        simulated("behaviour/better").key_bytes,
    )
    assert ("user",) == read("behaviour/md5_hex").layout.lossy_key_fields
    assert () == read("behaviour/better").layout.lossy_key_fields
    one = found("behaviour/md5_hex", "long-digest")
    assert (32, "info") == (one.evidence["bytes"], one.severity)


@pytest.mark.claims(53)
def test_a_digest_loses_its_user_and_the_user_behind_it_does_not() -> None:
    """From the one key the time alone is read back, from the other both."""
    row = {"user": "anna", "ts": 1_609_459_200_000}
    for name, expected in (
        ("behaviour/md5_hex", {"ts": 1_609_459_200_000}),
        ("behaviour/better", row),
    ):
        key = read(name).key
        assert expected == key.decode(key.encode(row))


@pytest.mark.claims(15, 86, 88)
def test_a_hash_of_the_user_keeps_the_rows_of_a_user_in_one_region() -> None:
    """Chosen rows share a region because what they share is hashed, and nothing else of them."""
    regions: dict[str, set[int]] = {}
    bounds = [region.start for region in simulated("behaviour/better").regions[1:]]
    key = read("behaviour/better").key
    for row in rows("behaviour/better")[:4_000]:
        regions.setdefault(row["user"], set()).add(bisect_right(bounds, key.encode(row)))
    assert {1} == {len(found) for found in regions.values()}
    assert set(range(16)) == set().union(*regions.values())
    told = explained("behaviour/better", DAY)
    assert (1, ()) == (told.fan_out, told.residual_fields)


@pytest.mark.claims(38, 86)
def test_a_hash_of_user_and_time_scatters_them() -> None:
    """Sixteen ranges for a user's day, and the rule that tells it says which field is too many."""
    design = changed(
        "behaviour/better", key="[bucket(user, ts, 16)][user][ts]", splits="per_bucket"
    )
    [one] = check_design(design, select=["read-asks-every-bucket"]).findings
    assert (16, ["ts"]) == (one.evidence["fan_out"], one.evidence["lacking"])
    leads = {design.key.encode({"user": "anna", "ts": ts})[0] for ts in range(500)}
    assert set(range(16)) == leads


@pytest.mark.claims(38, 86)
def test_of_too_few_values_a_wider_bucket_is_right() -> None:
    """Ten metrics do not fill sixteen buckets: to hash them alone is no advice, and not given."""
    assert [] == rules("metrics/better")
    many = {"type": "u16", "distinct": 2_000}
    design = changed("metrics/better", fields={"metric": many})
    assert ["read-asks-every-bucket"] == [one.name for one in check_design(design).findings]
