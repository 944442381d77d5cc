"""First keys that are proposed for columns of a sample, checked by hand."""

from __future__ import annotations

from typing import Any

from rowkey.keys import bind_key
from rowkey.proposals import KeyColumn, propose_first_keys
from rowkey.schema import FieldFacts

FIELDS = bind_key(
    "[host]",
    {"host": "text", "ts": "timestamp_ms", "disk": "text", "load": "float32", "line": "text"},
).declared_fields


def column(name: str, reason: str = "", **more: Any) -> KeyColumn:
    """A column with what the sample shows of its values."""
    traits = {"is_prose": name == "line", "is_measured": name == "load"}
    return KeyColumn(FIELDS[name], FieldFacts(**more), reason=reason, **traits)


def test_keys_are_proposed_from_the_cheapest_to_read() -> None:
    """First a bucket of the entity, then of more fields, then of all; a salt comes last."""
    objections = iter(["it is hot", "it is warm"])
    found = propose_first_keys(
        column("host"),
        column("ts"),
        [column("disk", "it keeps rows apart")],
        8,
        find_objection=lambda: next(objections),
    )
    proposals = list(found)
    assert [
        "[bucket(host, 16)][host][ts][disk]",
        "[bucket(host, disk, 16)][host][ts][disk]",
        "[bucket(host, ts, disk, 16)][host][ts][disk]",
        "[salt(16)][host][ts][disk]",
    ] == [one.key for one in proposals]
    assert [("host",), ("host", "disk"), ("host", "ts", "disk"), ()] == [
        one.bucket_fields for one in proposals
    ]
    assert {"per_bucket"} == {one.splits for one in proposals}
    assert "it is hot" in proposals[1].reasons[0]
    assert "it is warm" in proposals[2].reasons[0]
    assert ["[disk]: it keeps rows apart."] * 4 == [one.reasons[-1] for one in proposals]


def test_heavy_values_of_the_entity_are_listed() -> None:
    """A value with a third of the events is spread over as many buckets as bring it below half."""
    host = column("host", distinct_count=500, heaviest_values=(("a", 0.33), ("b", 0.01)))
    _, heavy, *_ = propose_first_keys(host, column("ts"), [], 8)
    assert "[bucket(host, ts, 16, 8)][host][ts]" == heavy.key
    assert {"host": ("a",)} == heavy.heavy_values


def test_a_key_that_gets_its_time_later_is_proposed_once() -> None:
    """Without the time, no other fields are tried in the bucket."""
    found = propose_first_keys(column("host"), None, [column("disk")], 2, is_missing_time=True)
    assert ["[bucket(host, 4)][host][disk]"] == [one.key for one in found]


def test_measured_values_and_prose_do_not_spread_rows() -> None:
    """A measured value is in no bucket, and free text is in the key as a digest."""
    extras = [column("load"), column("line")]
    found = list(propose_first_keys(column("host"), column("ts"), extras, 2))
    tail = "[host][ts][load][digest(line, 8)]"
    assert [f"[bucket(host, 4)]{tail}", f"[bucket(host, ts, 4)]{tail}", f"[salt(4)]{tail}"] == [
        one.key for one in found
    ]
