"""The request counts of a table, as text and as documents with explained fields."""

from __future__ import annotations

from rowkey import Design
from rowkey.engines import RegionRequestCounts
from rowkey.explanations import explain_read
from rowkey.plan import bind_read
from rowkey.render import (
    EXPLANATIONS_FIELDS,
    REGIONS_FIELDS,
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


def test_the_json_of_a_standing_table_has_exactly_the_documented_fields() -> None:
    """The table of meanings has exactly the paths that occur in documents."""
    assert set(REGIONS_FIELDS) == set(list_paths(build_regions_document(DESIGN, COUNTS)))
    found = explain_read(DESIGN.key, bind_read("ts > 5", "", (), DESIGN.fields))
    paths = set(list_paths(build_explanations_document({"tail": found, "": found})))
    assert set() == paths - set(EXPLANATIONS_FIELDS)
    assert {"format", "reads[].name", "reads[].ranges[].start"} < paths


def test_an_ad_hoc_read_has_no_name() -> None:
    """A read that is not declared has no name."""
    found = explain_read(DESIGN.key, bind_read("", "", (), DESIGN.fields), limit=7)
    document = build_explanations_document({"tail": found, "": found})
    assert [("tail", 7), (None, 7)] == [(one["name"], one["limit"]) for one in document["reads"]]


def test_the_list_of_regions_ends_with_their_sum() -> None:
    """Each region has a line with its first key in words, and the last line is the sum."""
    assert [
        "        writes          reads  begins with",
        "         1,234              5  (the first row)",
        "             1             10  bucket 1",
        "         1,235             15  total",
    ] == list(format_regions(DESIGN, COUNTS))


def test_region_bounds_are_printed_in_hexadecimal() -> None:
    """The first region has an empty start, and the last one an empty stop."""
    document = build_regions_document(DESIGN, COUNTS)
    assert [("", "01"), ("01", "")] == [(r["start"], r["stop"]) for r in document["regions"]]
