"""The pages of cases print what the commands print, with the figures that were measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tools import cases

from docs.blocks import run_page

RESULTS: dict[str, Any] = json.loads(cases.MEASURED.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", cases.PAGES, ids=lambda page: page.stem)
def test_tables_of_a_case_page_equal_the_results_of_make_proof(page: Path) -> None:
    """The tables of a page are what `make proof` generates from its results."""
    text = page.read_text(encoding="utf-8")
    assert cases.OPENING in text
    assert cases.replace_figures(text, page.stem, RESULTS) == text


@pytest.mark.parametrize("name", RESULTS["proofs"])
def test_regions_and_servers_counted_the_predicted_writes_and_reads(name: str) -> None:
    """No region and no server counted other writes or reads than predicted."""
    measured = RESULTS["proofs"][name]
    writes = ("regions_apart", "regions_unknown", "servers_apart")
    assert (0, 0, 0) == tuple(measured[word] for word in writes)
    assert [0] * len(measured["reads"]) == [read["wrong"] for read in measured["reads"]]
    assert set(measured["costs"]) == {read["name"] for read in measured["reads"]}


@pytest.mark.long
@pytest.mark.parametrize("page", cases.PAGES, ids=lambda page: page.stem)
def test_every_example_of_a_case_page_prints_what_the_page_shows(
    page: Path, tmp_path: Path
) -> None:
    """Every example prints what the page shows, and the designs are those that were measured."""
    for outcome in run_page(page.read_text(encoding="utf-8"), tmp_path):
        if not outcome.is_as_written:
            assert outcome.block.text == outcome.actual
    measured = {
        name: one for name, one in RESULTS["proofs"].items() if name.startswith(f"{page.stem}/")
    }
    designs = dict(cases.list_designs(page.stem, tmp_path))
    assert list(measured) == list(designs)
    for name, path in designs.items():
        current = {**cases.compute_fingerprint(path), **cases.judge_design(path)}
        assert current == {word: measured[name][word] for word in current}


def test_a_changed_comment_does_not_outdate_a_measurement(tmp_path: Path) -> None:
    """A design is measured again after a change of its key, not of its comments."""
    (tmp_path / "a.csv").write_text("user,n\n" + "".join(f"u{n},{n}\n" for n in range(100)))
    design = """\
table = "a"
key = "[user]"
[fields]
user = "text"
n = "u32"
[sample]
path = "a.csv"
"""
    texts = [design, f"# Better.\n{design}", design.replace("[user]", "[user][n]")]
    prints = []
    for place, text in enumerate(texts):
        path = tmp_path / f"{place}.toml"
        path.write_text(text)
        prints.append(cases.compute_fingerprint(path))
    assert [True, False] == [other == prints[0] for other in prints[1:]]
