"""What a table has counted, as text and as documents whose every field has a meaning."""

from __future__ import annotations

from rowkey import Design
from rowkey.engines import RegionRequestCounts
from rowkey.explanations import explain_read
from rowkey.plan import bind_read
from rowkey.render import (
    COUNT_FIELDS,
    EXPLANATIONS_FIELDS,
    REGIONS_FIELDS,
    build_count_document,
    build_explanations_document,
    build_regions_document,
    format_regions,
    list_paths,
)

DESIGN = Design(
    "logs",
    "[bucket(host, 2)][host][ts]",
    fields={"host": "text", "ts": "timestamp_ms"},
    splits="per_bucket",
)
COUNTS = [RegionRequestCounts(b"", b"\1", 1_234, 5), RegionRequestCounts(b"\1", b"", 1, 10)]


def test_every_field_of_the_documents_has_a_meaning() -> None:
    """Each path is in the table of meanings, and each meaning is of a path that occurs."""
    assert set(COUNT_FIELDS) == set(list_paths(build_count_document(DESIGN, 5)))
    assert set(REGIONS_FIELDS) == set(list_paths(build_regions_document(DESIGN, COUNTS)))
    found = explain_read(DESIGN.key, bind_read("ts > 5", "", (), DESIGN.fields))
    paths = set(list_paths(build_explanations_document({"tail": found, "": found})))
    assert set() == paths - set(EXPLANATIONS_FIELDS)
    assert {"format", "reads[].name", "reads[].ranges[].start"} < paths


def test_reads_are_listed_by_name() -> None:
    """A read that is asked in words has no name."""
    found = explain_read(DESIGN.key, bind_read("", "", (), DESIGN.fields), limit=7)
    document = build_explanations_document({"tail": found, "": found})
    assert [("tail", 7), (None, 7)] == [(one["name"], one["limit"]) for one in document["reads"]]


def test_regions_are_told_with_their_sum() -> None:
    """A line each, where it begins in words, and all of them together."""
    assert [
        "        writes          reads  begins with",
        "         1,234              5  (the first row)",
        "             1             10  bucket 1",
        "         1,235             15  total",
    ] == list(format_regions(DESIGN, COUNTS))


def test_regions_are_told_in_hexadecimal() -> None:
    """The first begins and the last ends with nothing."""
    document = build_regions_document(DESIGN, COUNTS)
    assert [("", "01"), ("01", "")] == [(r["start"], r["stop"]) for r in document["regions"]]
    assert {"format": 1, "table": "logs", "rows": 3} == build_count_document(DESIGN, 3)
