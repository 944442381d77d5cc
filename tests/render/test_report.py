from __future__ import annotations

import base64
import json
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from render.reports import (
    HOSTS,
    HOT_DEVICE,
    NAUGHTY,
    REDACTION,
    USERS,
    build_hostile_page,
    judge_hot_device,
)
from rowkey.advise import JudgedDesign
from rowkey.render import (
    LANGUAGES,
    Redaction,
    build_check_document,
    build_explanation_document,
    build_findings_document,
    build_report_document,
    build_report_page,
    build_simulation_document,
)
from rowkey.render.page.markup import embed_json, escape_html
from rowkey.render.report.heat_map import pack_counts

if TYPE_CHECKING:
    from rowkey.advise import Comparison

MAX_BYTES = 1_000_000


class Elements(HTMLParser):
    """Collects the elements of a page with their attributes, and the text outside of scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.said: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        """Note a text."""
        self.said.append(data)


@pytest.mark.parametrize("language", LANGUAGES)
def test_markup_in_names_is_text_in_a_report(language: str) -> None:
    """Names that would end an element are text, and the page has only its own scripts."""
    elements = Elements(build_hostile_page(language))
    scripts = [attributes for tag, attributes in elements.found if tag == "script"]
    assert [{"type": "application/json", "id": "payload"}, {}] == scripts
    assert [] == [a for _, a in elements.found if any(name.startswith("on") for name in a)]
    assert any(NAUGHTY in said for said in elements.said)


def test_a_report_has_no_control_characters() -> None:
    """No control character, bidirectional mark or NUL is in the file."""
    page = build_hostile_page()
    assert set() == {one for one in page if not one.isprintable()} - {"\n"}
    assert "\\u202e" in page


@given(st.text(st.characters(codec=None), max_size=30))
def test_no_escaped_text_ends_its_element_or_attribute(said: str) -> None:
    assert set() == set(escape_html(said)) & set("<>\"'\0\u2028\ud800")


@given(st.text(max_size=30))
def test_the_data_embedded_in_a_report_is_read_back(said: str) -> None:
    """The document embedded in the page is read back, and cannot end its element."""
    shown = embed_json("payload", [said])
    inner = shown.partition(">")[2].rpartition("<")[0]
    assert [said] == json.loads(inner)
    assert "<" not in inner


def test_a_report_loads_nothing_from_a_network(logs: list[JudgedDesign]) -> None:
    """No element or style has an address, and the page's policy forbids requests."""
    page = build_report_page(build_report_document(logs, Redaction()))
    elements = Elements(page).found
    addresses = [a.get(name) for _, a in elements for name in ("src", "href", "action", "srcset")]
    assert [] == [one for one in addresses if one is not None and not one.startswith("#")]
    assert [] == re.findall(r"https?:|url\(|@import|fetch\(|XMLHttp|WebSocket|import\(", page)
    policies = [a["content"] for _, a in elements if a.get("http-equiv")]
    assert 1 == len(policies)
    assert str(policies[0]).startswith("default-src 'none'; ")


def test_a_report_of_three_designs_is_small_enough_for_mail(logs: list[JudgedDesign]) -> None:
    assert (
        len(build_report_page(build_report_document(logs, Redaction())).encode()) < MAX_BYTES // 4
    )


def test_reports_of_the_same_designs_have_the_same_bytes(logs: list[JudgedDesign]) -> None:
    """The page of the same designs has the same bytes."""
    first, second = (build_report_page(build_report_document(logs, Redaction())) for _ in range(2))
    assert first == second


def test_a_report_shows_verdicts_keys_causes_and_findings_of_every_design(
    logs: list[JudgedDesign],
) -> None:
    """Verdicts, keys, causes, findings and reads of every design are text of the page."""
    said = "\n".join(Elements(build_report_page(build_report_document(logs, Redaction()))).said)
    for one in logs:
        found = one.simulation
        assert str(one.design.key) in said
        assert f"{found.verdict.skew:.2f}×" in said
        assert all(cause.message in said for cause in found.causes)
        assert all(finding.code in said for finding in one.lint_result.findings)
        assert all(read.name in said for read in one.design.reads)
    assert HOSTS[0] in said


def list_entities() -> list[str]:
    """Return every value of the log's fields except times, as text and in hexadecimal."""
    shown = [*HOSTS, *USERS, *(f"said {host}" for host in HOSTS)]
    return [*shown, *(one.encode().hex() for one in shown), *(one[:5] for one in HOSTS)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_redacted_report_shows_no_value_of_an_entity(
    logs: list[JudgedDesign], comparison: Comparison, language: str
) -> None:
    """Neither the redacted file nor its data has a value of an entity."""
    plain = build_report_page(build_report_document(logs, Redaction(), comparison), language)
    document = build_report_document(logs, REDACTION, comparison)
    page = build_report_page(document, language)
    text = json.dumps(document, ensure_ascii=False)
    assert [] == [
        value for value in list_entities() if value in text or value in text.replace(" ", "")
    ]
    assert [] == [value for value in list_entities() if value in page.replace(" ", "")]
    assert [] == [value for value in list_entities() if value in page]
    assert [] != [value for value in list_entities() if value in plain]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_redacted_report_does_not_name_a_hot_value(tmp_path: Path, language: str) -> None:
    """The hot text and integer of a cause are only in the report that is not redacted."""
    judged_design = judge_hot_device(tmp_path)
    (cause,) = judged_design.simulation.causes
    assert f"host {HOSTS[0]}, device {HOT_DEVICE}" == cause.evidence["value"]
    shown = []
    for redaction in (Redaction(), REDACTION):
        document = build_report_document([judged_design], redaction)
        text = json.dumps(document, ensure_ascii=False)
        page = build_report_page(document, language)
        shown.append(
            [[value in one for value in (HOSTS[0], str(HOT_DEVICE))] for one in (text, page)]
        )
    assert [[[True, True]] * 2, [[False, False]] * 2] == shown


def test_a_redacted_report_has_no_sentence_that_may_hold_a_value(logs: list[JudgedDesign]) -> None:
    """No sentence of a result is in redacted data, as it may hold a value."""
    for one in build_report_document(logs, REDACTION)["designs"]:
        source, properties = one["source"], one["properties"]
        assert [] == source["assumed"] + one["remarks"] + properties["ambiguous"]
        assert [] == [text for read in one["reads"] for text in read["ranges"] + read["warnings"]]
        told = [source["left_out_first"]]
        for part in [*one["causes"], *one["findings"], *one["allowed"]]:
            told += [part.get(name) for name in ("message", "remedy", "verdict", "reason")]
        assert {None} == set(told)


def test_a_redacted_report_keeps_figures_and_hashes_values(logs: list[JudgedDesign]) -> None:
    """Redacted figures are unchanged, and a value has the same hash everywhere."""
    opened, hidden = (build_report_document(logs, how) for how in (Redaction(), REDACTION))
    for one, other in zip(opened["designs"], hidden["designs"], strict=True):
        assert one["writes"] == other["writes"]
        grades = [
            [(entry["topic"], entry["grade"]) for entry in design["verdict"]["assessments"]]
            for design in (one, other)
        ]
        assert grades[0] == grades[1]
        assert one["skew"] == other["skew"]
        counts = [design["map"]["views"]["region"]["counts"] for design in (one, other)]
        assert counts[0] == counts[1]
    rows = hidden["designs"][1]["map"]["views"]["region"]["rows"]
    starts = [row["start"] for row in rows if "start" in row]
    assert starts
    assert all(start.startswith("host #") for start in starts)
    assert REDACTION.redact_text("a") == REDACTION.redact_text("a") != REDACTION.redact_text("b")


def test_the_data_of_a_report_equals_the_json_of_the_commands(logs: list[JudgedDesign]) -> None:
    """The JSON output of `simulate`, `check` and `explain` is in a report unchanged."""
    for one, shown in zip(logs, build_report_document(logs, Redaction())["designs"], strict=True):
        printed = build_simulation_document(one)
        costs, causes = printed.pop("reads"), printed.pop("causes")
        apart = {"format", "load_map", "packing", "growth", "scaled"}
        assert {name: shown[name] for name in printed.keys() - apart} == {
            name: value for name, value in printed.items() if name not in apart
        }
        assert costs == [read["cost"] for read in shown["reads"]]
        assert all(a.items() <= b.items() for a, b in zip(causes, shown["causes"], strict=True))
        assert build_findings_document(one.lint_result).items() <= shown.items()
        checked = build_check_document("f", one.design, one.properties, one.lint_result)
        assert shown["properties"].items() <= checked.items()
        for read, part in zip(one.plans.items(), shown["reads"], strict=True):
            plan = build_explanation_document(*read)
            assert {**plan, "conditions": part["conditions"]}.items() <= part.items()


def test_each_map_row_of_a_report_has_its_share_of_the_reads(logs: list[JudgedDesign]) -> None:
    """Each row of the map has its share of the operations of all reads."""
    for one, shown in zip(logs, build_report_document(logs, Redaction())["designs"], strict=True):
        load = one.simulation.total_read_load
        assert load is not None
        for view, estimate in (("region", load.regions), ("server", load.servers)):
            shares = [row["reads"] for row in shown["map"]["views"][view]["rows"]]
            assert pytest.approx(estimate.operations / load.regions.total) == shares


def test_the_json_map_has_writes_reads_and_their_sum(logs: list[JudgedDesign]) -> None:
    """Writes add up to the replayed events, reads to their load, and both to the two."""
    for one in logs:
        shown = build_simulation_document(one)["load_map"]
        load = one.simulation.total_read_load
        assert load is not None
        rows = shown["rows"]
        sums = [sum(row["writes"]) * shown["width_s"] for row in rows]
        writes = [region.writes for region in one.simulation.regions]
        assert pytest.approx(writes, rel=0.02) == sums  # the last column is shorter than others
        assert pytest.approx(load.regions.operations, rel=1e-5) == [row["reads"] for row in rows]
        for row in rows:
            both = [write + row["reads"] for write in row["writes"]]
            assert pytest.approx(both, rel=1e-4) == row["both"]


def test_times_and_small_buckets_are_not_redacted(logs: list[JudgedDesign]) -> None:
    hidden = build_report_document(logs, REDACTION)["designs"]
    starts = [one["map"]["views"]["region"]["rows"][1]["start"] for one in hidden]
    assert starts[0] == "bucket 1"
    assert starts[2].startswith("ts 2023-11-14T")


def test_each_key_part_begins_where_the_one_before_it_ends(logs: list[JudgedDesign]) -> None:
    """Each part begins where the part before it ends, and the example is one key."""
    for one, shown in zip(logs, build_report_document(logs, Redaction())["designs"], strict=True):
        parts = shown["boxes"]["parts"]
        least = [sum(part["bytes"]["least"] for part in parts[:n]) for n in range(len(parts))]
        assert least == [part["offset"]["least"] for part in parts]
        assert shown["boxes"]["is_sampled"]
        key = bytes.fromhex("".join(part["hex"] for part in parts))
        assert key == one.design.key.encode(one.design.key.decode(key))


def test_the_parts_of_a_key_that_does_not_decode_are_shown_in_bytes() -> None:
    from rowkey import Design

    design = Design(
        "t",
        "[a:raw][b:raw]",
        fields={"a": "text", "b": "text"},
        writes={"rate": "9/s", "for": "9s"},
    )
    document = build_report_document([JudgedDesign(design, name="t")], Redaction())
    shown = document["designs"][0]
    assert all(part["hex"] for part in shown["boxes"]["parts"])
    assert not shown["properties"]["decodes"]


def test_a_report_of_events_without_times_has_no_map(logs: list[JudgedDesign]) -> None:
    """Without times the page says that there is no map, and shows the other pictures."""
    document = build_report_document(logs, Redaction())
    document["designs"][0]["map"] = None
    page = build_report_page(document)
    assert 1 == page.count('<p class="none">There is no heat map')
    assert ["d2", "d3"] == re.findall(r'data-map="(\w+)"', page)


def unpack_counts(said: str, size: int) -> list[int]:
    """Return the counts that were packed into a text."""
    numbers, value, shift = [], 0, 0
    for byte in zlib.decompress(base64.b64decode(said)):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(value)
            value = shift = 0
    counts: list[int] = []
    given = iter(numbers)
    for number in given:
        counts += [number] if number else [0] * (next(given) + 1)
    assert size == len(counts)
    return counts


@given(st.lists(st.sampled_from([0, 0, 0, 1, 127, 128, 300, 2**40]), min_size=1, max_size=60))
def test_packed_counts_are_read_back_exactly(counts: list[int]) -> None:
    """Packed counts are read back exactly, with any number of zeros between them."""
    assert counts == unpack_counts(pack_counts(np.array([counts])), len(counts))
