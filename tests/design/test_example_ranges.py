"""Example values of the parameters of a range enclose some row for every type."""

from __future__ import annotations

from typing import Any

import pytest

from rowkey import Design
from rowkey.design import derive_properties

TYPES: list[Any] = [
    "u8", "i64", "float64", "text", "bytes", "bool", "date", "timestamp_ms", "uuid", "ipv4",
    {"type": "hex", "width": 8}, {"type": "decimal", "precision": 9, "scale": 2},
    {"type": "choice", "of": ["a", "b", "c"]},
]  # fmt: skip


@pytest.mark.parametrize("where", ["f >= ? and f < ?", "f > ? and f <= ?", "f between ? and ?"])
@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_a_range_given_as_an_example_is_never_empty(kind: Any, where: str) -> None:
    """An example of a range is never empty, so its read is a full scan."""
    fields = {"id": "u64", "f": kind}
    reads = [{"name": "r", "where": where}]
    design = Design("t", "[bucket(id, 4)][id]", fields=fields, reads=reads, splits="per_bucket")
    [read] = derive_properties(design).reads
    assert (4, True) == (read.fan_out, read.is_full_scan)
