from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from render.reports import HOSTS, KEYS, REDACTION, USERS, write_logs
from rowkey import Design, IncomparableDesigns, advise
from rowkey.advise import JudgedDesign, judge_comparison
from rowkey.messages import Message
from rowkey.render import (
    LANGUAGES,
    Redaction,
    build_report_document,
    build_report_page,
)
from rowkey.render.languages import Translator

if TYPE_CHECKING:
    from rowkey.advise import Comparison


@pytest.fixture(scope="module")
def document(comparison: Comparison) -> dict[str, Any]:
    """The comparison's report as data."""
    return build_report_document(judge_comparison(comparison), Redaction(), comparison)


class Rows(HTMLParser):
    """Collects the cells of the table of measures, and whether each is marked."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.best: list[list[bool]] = []
        self.inside = False
        table = page[page.index('class="scroll measures"') :]
        self.feed(table[table.index("<table") : table.index("</table>")])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a row or a cell."""
        if tag == "tr":
            self.rows.append([])
            self.best.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self.best[-1].append(("class", "best") in attrs)
            self.inside = True

    def handle_endtag(self, tag: str) -> None:
        """End a cell."""
        self.inside = self.inside and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        """Add to the cell."""
        if self.inside:
            self.rows[-1][-1] += data


def test_a_report_shows_the_comparison_before_each_design(document: dict[str, Any]) -> None:
    """The comparison is first, then each design with key, map, causes, findings and reads."""
    page = build_report_page(document)
    ids = re.findall(r'<(?:section|details)[^>]*\bid="([\w-]+)"', page)
    topics = ["key", "heat", "causes", "findings", "reads", "storage", "figures"]
    expected = ["comparison"]
    for number in range(1, len(KEYS) + 1):
        expected += [f"d{number}", *(f"d{number}-{topic}" for topic in topics)]
    assert expected == ids
    places = re.findall(r'href="#([\w-]+)"', page)
    assert set() == set(places) - {*ids, "content"}
    assert {"comparison", "d1", "d2", "d3"} <= set(places)


def test_every_measure_with_a_known_figure_has_a_row(
    comparison: Comparison, document: dict[str, Any]
) -> None:
    """Each measure with a known figure has a row with a figure for each design."""
    rows = Rows(build_report_page(document)).rows
    told = [row for row in rows[1:] if len(row) == len(KEYS) + 1]
    known = [one for one in comparison.measures if {f.value for f in one.figures} != {None}]
    silent = [
        one
        for one in known
        if one.name == "sorted_in_memory" and {f.value for f in one.figures} == {0.0}
    ]
    assert len(known) - len(silent) + 1 == len(told)
    assert ["measure", "A spread", "B by_host", "C by_time"] == rows[0]
    titles = [row[0] for row in rows if len(row) == 1]
    assert len(titles) == len(set(titles)) > 3


def test_the_best_design_by_each_measure_is_marked(
    comparison: Comparison, document: dict[str, Any]
) -> None:
    """The marks are the best designs by measure, and no overall winner is shown."""
    page = Rows(build_report_page(document))
    marked = {row[0]: best[1:] for row, best in zip(page.rows, page.best, strict=True)}
    best = comparison.find_measure("key_bytes").best_designs
    assert [number in best for number in range(len(KEYS))] == marked["bytes of a row key"]
    best = comparison.find_measure("skew_equal").best_designs
    assert best
    assert [number in best for number in range(len(KEYS))] == marked[
        "skew, windows of equal numbers"
    ]
    assert not any("score" in row[0] or "total" in row[0] for row in page.rows)


def test_a_range_that_reads_every_row_is_shown_as_a_full_scan(
    comparison: Comparison, document: dict[str, Any]
) -> None:
    """A single range that reads every row is shown as a full scan."""
    whole = [one.simulation.reads[1].is_full_scan for one in comparison.designs]
    rows = Rows(build_report_page(document)).rows
    [_, second, _] = [row for row in rows if row[0] == "ranges"]
    assert any(whole)
    assert whole == ["the whole table" in cell for cell in second[1:]]


def test_each_compared_design_has_a_cost_for_each_read(document: dict[str, Any]) -> None:
    """Each design has a plan and a cost for each read that any of them declares."""
    names = [[read["name"] for read in one["reads"]] for one in document["designs"]]
    assert [["of a host", "of one person"]] * len(KEYS) == names
    assert all(read["cost"] for one in document["designs"] for read in one["reads"])


def test_a_read_of_another_design_adds_no_finding(tmp_path: Path) -> None:
    """A read that only another design declares adds no finding."""
    paths = write_logs(tmp_path)
    bare = paths["by_time"].read_text("utf-8").partition("[[reads]]")[0]
    paths["by_time"].write_text(bare, encoding="utf-8")
    found = advise.compare_designs([Design.read(paths[name]) for name in ("by_host", "by_time")])
    shown = build_report_document(judge_comparison(found), Redaction(), found)["designs"][1]
    assert 2 == len(shown["reads"])
    assert [] == [one for one in shown["findings"] if one["path"].startswith("reads")]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_redacted_comparison_shows_no_sample_name_and_no_value(
    comparison: Comparison, language: str
) -> None:
    """A redacted comparison has neither the sample's name nor a value of an entity."""
    hidden = build_report_document(judge_comparison(comparison), REDACTION, comparison)
    page = build_report_page(hidden, language)
    values = [*HOSTS, *USERS, *(one.encode().hex() for one in [*HOSTS, *USERS]), "events.csv"]
    assert [] == [one for one in values if one in page or one in page.replace(" ", "")]


def test_a_redacted_page_hides_why_a_read_has_no_figure(comparison: Comparison) -> None:
    """A redacted page does not show why a read has no figure, as the reason may hold a value."""
    from dataclasses import replace

    from rowkey.advise import Figure, Measure

    reason = f"host = '{HOSTS[0]}' cannot be asked"
    figures = tuple(Figure(value, reason=reason) for value in (1.0, None, 2.0))
    failed = replace(comparison, measures=(Measure("fan_out", "", figures, read_name="of a host"),))
    shown, hidden = (
        json.dumps(build_report_document([], how, failed)["comparison"])
        for how in (Redaction(), REDACTION)
    )
    assert HOSTS[0] in shown
    assert HOSTS[0] not in hidden


@pytest.fixture(scope="module")
def refused_comparison(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[list[Design], IncomparableDesigns]:
    """The error of a comparison of designs with different numbers of servers."""
    folder = tmp_path_factory.mktemp("refused")
    paths = write_logs(folder)
    text = paths["by_host"].read_text("utf-8").replace("servers = 4", "servers = 5")
    paths["by_host"].write_text(text, encoding="utf-8")
    designs = [Design.read(paths[name]) for name in ("spread", "by_host")]
    with pytest.raises(IncomparableDesigns) as caught:
        advise.compare_designs(designs)
    return designs, caught.value


def test_a_page_of_incomparable_designs_says_why(
    refused_comparison: tuple[list[Design], IncomparableDesigns],
) -> None:
    """The page of designs that cannot be compared says why, and compares nothing."""
    designs, problem = refused_comparison
    told = [JudgedDesign(d, name=str(n), second_half=True) for n, d in enumerate(designs)]
    page = build_report_page(build_report_document(told, Redaction(), problem))
    assert Translator("en")("compared.none") in page
    assert "cluster.servers: the value is 5, but 4 in " in page
    assert "<figure>" not in page
    assert "<td" not in page[page.index('id="comparison"') : page.index('id="d1"')]
    hidden = build_report_page(build_report_document(told, REDACTION, problem))
    assert "5, but 4 in " not in hidden


def test_a_missing_figure_is_a_dash_with_its_reason(comparison: Comparison) -> None:
    """A missing figure is a dash, with its reason below the table."""
    from dataclasses import replace

    from rowkey.advise import Figure, Measure

    reason = Message("figure.shared_rows", "not counted: events share rows")
    figures = (Figure(1.0), Figure(None, reason=reason))
    measures = (Measure("overwritten", "", (*figures, Figure(3.0))),)
    found = replace(comparison, measures=measures)
    shown = build_report_document(judge_comparison(comparison), Redaction(), found)
    assert "B by_host, rows overwritten: not counted: events share rows" in build_report_page(shown)
    assert "B by_host, 被覆盖的行: 未统计：行键相同的事件是同一行" in build_report_page(shown, "zh")
