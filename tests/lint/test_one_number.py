"""Findings of one design never name different numbers, or different splits, for one thing."""

from __future__ import annotations

import re

import pytest

from rowkey.design import Design
from rowkey.lint import check_design

LOG = """\
table  = "log"
key    = "KEY"
splits = SPLITS

[fields]
host = { type = "text", max_bytes = 16 }
ts   = "timestamp_ms"
line = { type = "text", max_bytes = 200, mean_bytes = 120 }

[families.d]
ttl         = "TTL"
compression = "ZSTD"
encoding    = "FAST_DIFF"

[cluster]
servers = SERVERS
CAPACITY

[writes]
rate = "RATE/s"
bursts = [BURSTS]
"""
PER_BUCKET = '"per_bucket"'
HEX_STRING = '{ algorithm = "hex_string", regions = 16 }'
KEYS = {
    "[bucket(host, 16)][host][ts]": PER_BUCKET,
    "[bucket(host, 4)][host][ts]": PER_BUCKET,
    "[digest(host, 4)][host][ts]": HEX_STRING,
    "[bucket(host, 2)][ts][host]": PER_BUCKET,
    "[bucket(host, 3)][host][ts]": "[]",
}
"""Keys, and how their tables are split."""
BURST = '{ at = "1m", for = "5m", times = 10 }'
REGIONS = re.compile(r"(?:Use |regions = )([\d,]+)(?: regions| buckets|, two for| \})")


@pytest.mark.parametrize(
    ("capacity", "bursts"),
    [("", ""), ('capacity = "20000/s"', ""), ('capacity = "20000/s"', BURST)],
)
@pytest.mark.parametrize("ttl", ["1h", "30d", "365d"])
@pytest.mark.parametrize("rate", [2_000, 50_000, 400_000])
@pytest.mark.parametrize("servers", [8, 20])
@pytest.mark.parametrize("key", KEYS)
def test_all_remedies_agree_on_the_number_of_servers_and_regions(
    key: str, servers: int, rate: int, ttl: str, capacity: str, bursts: str
) -> None:
    """All remedies name one number of servers and of regions, and one new way to split."""
    text = LOG.replace("KEY", key).replace("SPLITS", KEYS[key]).replace("TTL", ttl)
    text = text.replace("SERVERS", str(servers)).replace("CAPACITY", capacity)
    text = text.replace("BURSTS", bursts)
    design = Design.loads(text.replace("RATE", str(rate)))
    remedies = [one.remedy for one in check_design(design).findings]
    needed = {found for text in remedies for found in re.findall(r"Use ([\d,]+) servers", text)}
    assert len(needed) <= 1, remedies
    changes_buckets = any("two for each server" in text for text in remedies)
    assert not (changes_buckets and any("Keep these splits" in text for text in remedies)), remedies
    named = [
        found for text in remedies for found in re.findall(r"splits = (\{.*?\}|\"\w+\")", text)
    ]
    assert len(set(named)) <= 1, remedies
    counts = {found for text in remedies for found in REGIONS.findall(text)}
    assert len(counts) <= 1, remedies
