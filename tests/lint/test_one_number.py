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
servers = 8
CAPACITY

[writes]
rate = "RATE/s"
"""
PER_BUCKET = '"per_bucket"'
HEX_STRING = '{ algorithm = "hex_string", regions = 16 }'
BUCKET, DIGEST = "[bucket(host, 16)][host][ts]", "[digest(host, 4)][host][ts]"


@pytest.mark.parametrize("capacity", ["", 'capacity = "20000/s"'])
@pytest.mark.parametrize("ttl", ["1h", "1d", "30d", "365d"])
@pytest.mark.parametrize("rate", [2_000, 50_000, 200_000, 400_000])
@pytest.mark.parametrize(("key", "splits"), [(BUCKET, PER_BUCKET), (DIGEST, HEX_STRING)])
def test_findings_agree_on_servers_and_splits(
    key: str, splits: str, rate: int, ttl: str, capacity: str
) -> None:
    """All remedies name one number of servers, and at most one new way to split."""
    text = LOG.replace("KEY", key).replace("SPLITS", splits).replace("TTL", ttl)
    design = Design.loads(text.replace("RATE", str(rate)).replace("CAPACITY", capacity))
    remedies = [one.remedy for one in check_design(design).findings]
    servers = {found for text in remedies for found in re.findall(r"Use ([\d,]+) servers", text)}
    assert len(servers) <= 1, remedies
    named = [
        found for text in remedies for found in re.findall(r"splits = (\{.*?\}|\"\w+\")", text)
    ]
    assert len(set(named)) <= 1, remedies
