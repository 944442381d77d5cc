"""Plans of reads as text whose lines fit and as documents whose fields are explained."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from rowkey import Design
from rowkey.explanations import Explanation, ReadKeyProposal, explain_read
from rowkey.plan import bind_read
from rowkey.render import (
    EXPLANATION_FIELDS,
    build_explanation_document,
    format_explanation_text,
    list_paths,
)
from rowkey.schema import FieldFacts

DESIGN = Design(
    "logs",
    "[bucket(host, 16)][host][kind][desc(ts)]",
    fields={
        "host": "text",
        "kind": {"type": "choice", "of": ["INFO", "WARN", "ERROR"]},
        "ts": "timestamp_ms",
        "user": "text",
        "size": "u32",
    },
)
KNOWN_FACTS = {"user": FieldFacts(distinct_count=50)}


def explain(where: str, order: str = "", **more: Any) -> Explanation:
    """Explain a read of the logs."""
    return explain_read(DESIGN.key, bind_read(where, order, (), DESIGN.fields), **more)


READS = [
    explain("host = 'web-1'", "ts desc", limit=100),
    explain("user = 'ada'", "ts desc", limit=100, facts=KNOWN_FACTS),
    explain("host = 'a' and kind = 'INFO' and ts between 5 and 10000"),
    explain("size > 5", "user"),
    explain("size > 5 and size < 5"),
    explain("size > 5 and user = 'a'", "ts"),
    explain("user starts with 'a' and size in (1, 2, 3, 4, 5, 6, 7)", "size, user desc"),
    explain(""),
]


def test_the_plan_of_a_tail_read_is_printed_in_eight_lines() -> None:
    """The text shows ranges, order, access and rows read per row returned."""
    assert [
        "read    tail: host = 'web-1', order ts desc, limit 100",
        "key     [bucket(host, 16)][host][kind][desc(ts)]",
        "runs    as a scan of 3 ranges; bucket(host, 16), host, kind have constant bytes in each",
        "ranges  bucket 9, host web-1, kind INFO",
        "        bucket 9, host web-1, kind WARN",
        "        bucket 9, host web-1, kind ERROR",
        "order   as requested; ranges are merged by the bytes after their prefixes",
        "reads   1 row for each row of the answer",
    ] == list(format_explanation_text("tail", READS[0]))


def test_the_plan_of_a_full_scan_says_how_to_find_a_better_key() -> None:
    """A full scan is shown with its rows, its cost, and the search for a key that serves it."""
    lines = list(format_explanation_text("", READS[1], width=200))
    assert lines[2].startswith("runs    as a full scan of 16 ranges")
    assert [
        "        … 16 in all",
        "tests   user of each row, after reading",
        "order   sorted in memory",
        "reads   about 50 rows for each row of the answer",
        "note    nothing in the key narrows this read: every row of the table is read.",
    ] == lines[6:11]
    assert (
        "propose Another key is needed: rowkey advise searches for it by your events and reads."
    ) == lines[-1]


@pytest.mark.parametrize("width", [80, 100])
@pytest.mark.parametrize("found", READS, ids=lambda found: " ".join(found.conditions) or "all")
def test_no_line_of_a_printed_plan_is_longer_than_the_page(found: Explanation, width: int) -> None:
    """No line is longer than the page, and continued lines are aligned with the text."""
    lines = list(format_explanation_text("a read", found, width=width))
    assert [] == [line for line in lines if len(line) > width]
    assert all(line[:8].strip() in line.split(maxsplit=1)[0] for line in lines)
    assert len(lines) <= 20


def test_the_json_of_a_plan_has_exactly_the_documented_fields() -> None:
    """The table of meanings has exactly the paths that occur in documents."""
    documents = [build_explanation_document("r", found) for found in READS]
    found = ReadKeyProposal(
        key="[user][host]", fan_out=1, is_backwards=False, residual_fields=("size",),
        moved_fields=("user",), remedy="Use it.",
    )  # fmt: skip
    documents.append(build_explanation_document("r", replace(READS[1], proposal=found)))
    paths = {path for document in documents for path in list_paths(document)}
    assert set() == paths - set(EXPLANATION_FIELDS)
    assert set() == set(EXPLANATION_FIELDS) - paths


def test_the_document_of_a_plan_survives_json() -> None:
    """A document survives JSON, with keys in hexadecimal and null for what is absent."""
    document = build_explanation_document("", READS[0])
    assert document == json.loads(json.dumps(document))
    assert (None, None, None) == (document["name"], document["narrowed_part"], document["proposal"])
    assert "097765622d310000" == document["ranges"][0]["start"]
