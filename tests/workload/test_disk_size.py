"""Bytes on disk are measured on the same cells that are stored, whatever the layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from rowkey.design import Design
from rowkey.workload import SampledEvents, measure_family_sizes, measure_stored_bytes

LAYOUTS: dict[str, tuple[str, dict[str, Any]]] = {
    "columns": ("[host][ts]", {"ts": "timestamp_ms"}),
    "salted": ("[salt(4)][host][ts]", {"ts": "timestamp_ms"}),
    "wide rows": ("[host]", {"ts": {"type": "timestamp_ms", "at": "qualifier"}}),
    "versions": ("[host]", {"ts": {"type": "timestamp_ms", "at": "timestamp"}}),
    "packed": ("[host][ts]", {"ts": "timestamp_ms", "n": {"type": "i64", "pack": "p:msgpack"}}),
    "two families": ("[host][ts]", {"ts": "timestamp_ms", "n": {"type": "i64", "family": "e"}}),
}


def build_events(design: Design, count: int) -> SampledEvents:
    """Return events of 50 hosts with the keys that a replay gives them."""
    rows = pa.record_batch(
        {
            "host": [f"h{n * 7 % 50}" for n in range(count)],
            "ts": pa.array([1_700_000_000_000 + n for n in range(count)], pa.timestamp("ms")),
            "line": [None if n % 9 == 0 else f"request {n % 13} served" for n in range(count)],
            "n": pa.array(range(count), pa.int64()),
        }
    )
    salts = np.arange(count) % 4 if design.key.is_salted else None
    keys = design.key.encode_batch(rows, salts=salts).to_pylist()
    return SampledEvents(rows, keys, salts, np.arange(count))


def build_design(name: str, **family: Any) -> Design:
    """Return a design with one of the layouts."""
    key, changed_fields = LAYOUTS[name]
    names = ("d", "e") if name == "two families" else ("d",)
    text = {"type": "text", "max_bytes": 8}
    fields = {"host": text, "line": {"type": "text", "nullable": True}, "n": "i64"}
    families = {one: {"versions": 1_000, **family} for one in names}
    return Design("logs", key, fields={**fields, **changed_fields}, families=families)


@pytest.mark.parametrize("name", LAYOUTS)
def test_uncompressed_bytes_equal_those_of_the_stored_cells(name: str) -> None:
    """Families together have the bytes of all cells; on disk each cell has one byte more."""
    design = build_design(name)
    events = build_events(design, 900)
    sizes = measure_family_sizes(design.layout, design.families, design.writes, events)
    assert set(design.families) == sizes.keys()
    stored = measure_stored_bytes(design.layout, events.rows)
    assert pytest.approx(stored) == 900 * sum(one.plain_bytes for one in sizes.values())
    for size in sizes.values():
        assert size.plain_bytes < size.disk_bytes < size.plain_bytes + 3


@pytest.mark.parametrize("name", LAYOUTS)
def test_encoded_and_compressed_blocks_are_smaller(name: str) -> None:
    """FAST_DIFF and ZSTD shrink the cells of every layout, together more than alone."""
    totals = []
    for options in (
        {},
        {"encoding": "FAST_DIFF"},
        {"encoding": "FAST_DIFF", "compression": "ZSTD"},
    ):
        design = build_design(name, **options)
        sizes = measure_family_sizes(
            design.layout, design.families, design.writes, build_events(design, 900)
        )
        totals.append(sum(one.disk_bytes for one in sizes.values()))
    assert sorted(totals, reverse=True) == totals
    assert totals[-1] < totals[0] / 2


def test_sampled_runs_of_rows_give_the_bytes_of_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many events stretches of neighbouring rows give the same bytes within a twentieth."""
    design = build_design("columns", encoding="FAST_DIFF", block_size=4_096)
    events = build_events(design, 6_000)
    totals = []
    for count in (6_000, 1_600):
        monkeypatch.setattr("rowkey.workload.disk_size.MAX_MEASURED_ROWS", count)
        sizes = measure_family_sizes(design.layout, design.families, design.writes, events)
        totals.append(sizes["d"].disk_bytes)
    assert pytest.approx(totals[0], rel=0.05) == totals[1]
