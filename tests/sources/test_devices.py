"""Devices of which two send half of all readings, under the keys of the sources."""

from __future__ import annotations

import hashlib
import struct
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import mmh3
import pytest

import rowkey
from rowkey import bind_key
from rowkey.hotspots import predict_causes
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

BUSY = (0, 487)
HEX = [f"{n:x}".encode() for n in range(1, 16)]
TENS = [f"{n}0".encode() for n in range(10)]


def digest_device(row: Mapping[str, Any]) -> bytes:
    """Return the MD5 of the device's four bytes in hexadecimal digits."""
    return hashlib.md5(struct.pack(">I", row["device"])).hexdigest().encode()


# The device by itself


@pytest.mark.claims(8)
def test_a_key_of_the_device_alone_keeps_only_its_last_reading() -> None:
    """Keyed by the device alone, 19,000 of 20,000 readings are overwritten."""
    name = "devices/device"
    devices = {row["device"] for row in list_rows(name)}
    assert len(list_rows(name)) - len(devices) == simulate_example(name).overwrite_count
    assert 19_000 == simulate_example(name).overwrite_count
    with rowkey.open(read_design(name), "memory:", splits=[]) as table:
        for value in (1.0, 2.0):
            table.put({"device": 7, "ts": int(value), "value": value})
        assert [2.0] == [row["value"] for row in table.scan()]


@pytest.mark.claims(8, 50)
def test_a_key_of_the_device_alone_has_a_hot_row() -> None:
    """A quarter of all writes is one row, which no proposal can spread."""
    share = (
        Counter(row["device"] for row in list_rows("devices/device")).most_common(1)[0][1] / 20_000
    )
    [cause] = simulate_example("devices/device").causes
    assert ("hot_row", share) == (cause.code, cause.evidence["share"])
    assert pytest.approx(8 * share) == cause.bound
    assert 0.25 == get_finding("devices/device", "one-hot-row").evidence["share"]


# MD5 of it


@pytest.mark.claims(50)
def test_a_digest_does_not_spread_the_rows_of_a_busy_device() -> None:
    """Every row of a busy device is in the region of its digest, computed by hashlib."""
    name = "devices/md5_resplit"
    places = {(row["device"], bisect_right(HEX, digest_device(row))) for row in list_rows(name)}
    assert len({device for device, _ in places}) == len(places)
    counted = recount(name, digest_device, HEX)
    assert counted.writes == [region.writes for region in simulate_example(name).regions]
    expected = counted.skews[10]
    assert expected is not None
    assert pytest.approx(expected[0]) == get_skew(name)
    assert get_skew(name) > 2.5
    by_device = Counter(row["device"] for row in list_rows(name))
    assert set(BUSY) == {device for device, _ in by_device.most_common(2)}
    [cause] = simulate_example(name).causes
    top = by_device.most_common(1)[0][1] / len(list_rows(name))
    assert ("hot_entity", top) == (cause.code, cause.evidence["share"])
    assert pytest.approx(8 * top) == cause.bound


@pytest.mark.claims(50)
@pytest.mark.parametrize("key", ["[device][ts]", "[digest(device, 16)][ts]"])
def test_a_busy_device_has_the_same_predicted_skew_with_and_without_a_digest(key: str) -> None:
    """A quarter of the events on one of eight servers has a skew of 2, hashed or not."""
    splits = {"algorithm": "uniform", "regions": 16, "first": "\\x00", "last": "\\xFF"}
    design = change_design("devices/md5_resplit", key=key, splits=splits)
    bounds = {one.code: one.bound for one in predict_causes(design)}
    assert 8 * 0.25 == bounds["hot_entity"]
    one = get_finding("devices/md5_resplit", "hot-entity")
    assert (0.25, 2.0) == (one.evidence["share"], one.evidence["bound"])
    assert "moves the hot spot" in one.verdict


@pytest.mark.claims(50)
def test_listed_devices_are_spread_over_eight_buckets_and_others_keep_one() -> None:
    """Regions of keys that are computed here hold the simulated counts, and servers are even."""
    name = "devices/better"

    def key(row: Mapping[str, Any]) -> bytes:
        device, ts = struct.pack(">I", row["device"]), struct.pack(">q", to_milliseconds(row["ts"]))
        first = mmh3.hash(device, 0, signed=False) % 16
        spread = mmh3.hash(ts, 0, signed=False) % 8 if row["device"] in BUSY else 0
        return bytes([(first + spread) % 16]) + device

    places: dict[int, set[int]] = {}
    for row in list_rows(name):
        places.setdefault(row["device"], set()).add(key(row)[0])
    assert {8} == {len(places[device]) for device in BUSY}
    assert {1} == {len(held) for device, held in places.items() if device not in BUSY}
    counted = recount(name, key, [bytes([n]) for n in range(1, 16)])
    assert counted.writes == [region.writes for region in simulate_example(name).regions]
    assert get_skew(name) < 1.1
    assert [] == list_causes(name)


@pytest.mark.claims(50)
def test_only_reads_of_listed_devices_ask_several_buckets() -> None:
    """A read of a busy device has eight ranges, one of any other device one."""
    name = "latest of a device"
    assert 8 == explain_declared_read("devices/better", name).fan_out
    mean, most = get_read_costs("devices/better", name).fan_out
    busy = sum(row["device"] in BUSY for row in list_rows("devices/better")) / 20_000
    assert 8 == most
    assert pytest.approx(1 + 7 * busy, abs=0.6) == mean


# Splits for digits under hexadecimal ones


@pytest.mark.claims(56, 71)
def test_splits_00_to_90_put_most_hexadecimal_keys_into_the_last_region() -> None:
    """Splits 00 to 90 put 43.75 % of all digit pairs into the last region, none in the first."""
    pairs = [f"{n:02x}".encode() for n in range(256)]
    shares = Counter(bisect_right(TENS, pair) for pair in pairs)
    assert (0, 112 / 256) == (shares[0], shares[10] / 256)
    evidence = get_finding("devices/md5", "missed-splits").evidence
    expected = {"regions": 11, "unreachable": 1, "expected": 0.4375}
    assert expected == dict(evidence)
    counted = recount("devices/md5", digest_device, TENS)
    writes = [region.writes for region in simulate_example("devices/md5").regions]
    assert counted.writes == writes
    assert (0, max(writes)) == (writes[0], writes[10])
    assert ["hot_entity", "missed_splits"] == list_causes("devices/md5")


@pytest.mark.claims(56)
def test_splits_00_to_90_fit_decimal_keys_except_for_an_empty_first_region() -> None:
    """For 00 to 99 each region has a tenth, except the empty first one, which is reported."""
    shares = Counter(bisect_right(TENS, f"{n:02d}".encode()) for n in range(100))
    assert {0: 0, **dict.fromkeys(range(1, 11), 10)} == {n: shares[n] for n in range(11)}
    design = change_design(
        "devices/md5",
        key="[bucket(device, 100, as=decimal)][device][ts]",
        splits=[split.decode() for split in TENS],
        cluster={"servers": 10},
    )
    names = [one.name for one in check_design(design).findings]
    assert "empty-first-region" in names
    assert "missed-splits" not in names


# Reversed times


@pytest.mark.claims(44, 54)
def test_an_hour_of_reversed_seconds_is_scattered_over_the_day() -> None:
    """An hour of reversed seconds is scattered over 86,333 of a day's 86,400 rows."""
    key = bind_key("[reverse(second)]", {"second": {"type": "digits", "width": 10}})
    midnight = 1_609_459_200
    day = {second: key.encode({"second": second}) for second in range(midnight, midnight + 86_400)}
    assert {str(second)[::-1].encode() for second in day} == set(day.values())
    hour = {day[midnight + second] for second in range(12 * 3_600, 13 * 3_600)}
    assert (3_600, 86_333) == measure_runs(hour, sorted(day.values()))


@pytest.mark.claims(44, 54)
def test_an_hour_of_reversed_calendar_digits_is_3600_ranges() -> None:
    """An hour of reversed yyyyMMddHHmmss, the document's own key, is 3,600 runs as well."""
    key = bind_key("[reverse(ts:calendar)]", {"ts": "timestamp_s"})
    noon = datetime(2021, 1, 1, 12, tzinfo=UTC)
    midnight = noon - timedelta(hours=12)
    day = [key.encode({"ts": midnight + timedelta(seconds=n)}) for n in range(86_400)]
    assert [
        (midnight + timedelta(seconds=n)).strftime("%Y%m%d%H%M%S")[::-1].encode()
        for n in (0, 43_200, 86_399)
    ] == [day[n] for n in (0, 43_200, 86_399)]
    assert (3_600, 86_377) == measure_runs(set(day[43_200:46_800]), sorted(day))


@pytest.mark.claims(54)
def test_reads_by_a_reversed_time_scan_all_rows_of_a_device() -> None:
    """Reversed digits of the time serve neither order nor range, and desc serves both."""
    assert ["reversed-under-range"] * 2 == [
        one for one in list_rules("devices/md5") if "under" in one
    ]
    latest, hour = "latest of a device", "an hour of a device"
    assert "sorted" == explain_declared_read("devices/md5", latest).order_method
    assert "ts" in explain_declared_read("devices/md5", hour).residual_fields
    assert "forwards" == explain_declared_read("devices/better", latest).order_method
    assert () == explain_declared_read("devices/better", hour).residual_fields
    wasted = get_read_costs("devices/md5", latest)
    assert wasted.amplification is not None
    assert wasted.amplification > 20
    # Half of the readings are of two devices, each in so many buckets, of which all are asked.
    buckets, better = 8, get_read_costs("devices/better", latest)
    asked = buckets * (2 * 100 // buckets + 3)
    assert better.read_rows - better.returned_rows == pytest.approx((asked - 100) / 2, rel=0.1)


@pytest.mark.claims(44)
def test_reversed_times_are_spread_evenly() -> None:
    """Reversed times do spread evenly by their last digits."""
    places = Counter(str(1_609_459_200 + n)[::-1][0] for n in range(1_000))
    assert dict.fromkeys("0123456789", 100) == dict(places)
    design = change_design(
        "devices/md5",
        key="[reverse(ts:calendar)][device]",
        splits={"algorithm": "decimal_string", "regions": 10},
        cluster={"servers": 10},
        reads=[],
    )
    measured = rowkey.simulate.run(design)
    assert {2_000} == {region.writes for region in measured.regions}


# The reading in the key


@pytest.mark.claims(57)
def test_a_corrected_reading_is_a_second_row_if_the_value_is_in_the_key() -> None:
    """With the value in the key a correction is a second row, in a column it overwrites."""
    assert "float64" == get_finding("devices/md5", "measured-value-in-key").evidence["type"]
    left = {}
    for name in ("devices/md5", "devices/better"):
        with rowkey.open(read_design(name), "memory:", splits=[]) as table:
            for value in (20.0, 21.5):
                table.put({"device": 1, "ts": 1_609_459_200_000, "value": value})
            left[name] = sorted(row["value"] for row in table.scan())
    assert {"devices/md5": [20.0, 21.5], "devices/better": [21.5]} == left


@pytest.mark.claims(4, 53, 57)
def test_the_advised_key_has_57_bytes_instead_of_13() -> None:
    """The advised key has 32 digits, 17 of the time and 8 of the reading, instead of 13 bytes."""
    row = list_rows("devices/md5")[0]
    time = row["ts"].strftime("%Y%m%d%H%M%S%f")[:17][::-1].encode()
    bits = struct.unpack(">Q", struct.pack(">d", row["value"]))[0] | 1 << 63
    key = digest_device(row) + time + struct.pack(">Q", bits)
    assert key == read_design("devices/md5").key.encode(row)
    assert (57.0, 32 + 17 + 8) == (
        get_finding("devices/md5", "long-key").evidence["key_bytes"],
        len(key),
    )
    assert 1 + 4 + 8 == simulate_example("devices/better").key_bytes
