"""The examples of the written pages print what the pages show, and all links resolve."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from tools.cases import PAGES

from docs.blocks import EXAMPLE_URL, ROOT, matches, parse_blocks, rewrite_page, run_page

WRITTEN_PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in {*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")}.difference(
        PAGES, (ROOT / "docs" / "reference").iterdir()
    )
)
CASES = sorted(path.relative_to(ROOT).as_posix() for path in PAGES)
"""Pages whose examples `test_cases.py` runs."""
ALL = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/reference/*.md"))
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_FENCED_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
PROGRAMS = ("java", "go")
"""Programs that some pages need; the test says so if they are not installed."""

LONG_PAGES = [
    "docs/cases/of-others.md",
    "docs/guides/a-first-design.md",
    "docs/guides/a-report.md",
    "docs/guides/better-keys.md",
    "docs/guides/choosing-a-key.md",
    "docs/guides/comparing-designs.md",
    "docs/guides/moving-a-table.md",
    "docs/guides/running-tables.md",
    "docs/guides/samples-and-workloads.md",
    "docs/guides/writing-a-plugin.md",
    "docs/tutorial.md",
    "docs/where-the-books-are-wrong.md",
]
"""Pages that judge many designs or a long recording, watch or move a table for seconds, or start
Python; other pages and tests do the same with less."""


@pytest.fixture(autouse=True)
def empty_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove tables in memory, so that a page finds none of another page."""
    monkeypatch.setattr("rowkey.engines.backends.memory._SHARED_TABLES.by_name", {})


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if name in LONG_PAGES else ())
        for name in WRITTEN_PAGES
    ],
)
def test_every_example_of_a_page_prints_what_the_page_shows(name: str, tmp_path: Path) -> None:
    """Every example of a page prints the output that the page shows."""
    page = (ROOT / name).read_text(encoding="utf-8")
    missing = frozenset(program for program in PROGRAMS if shutil.which(program) is None)
    for outcome in run_page(page, tmp_path, missing):
        if not outcome.is_as_written:
            assert outcome.block.text == outcome.actual
    if any(block.calls(missing) for block in parse_blocks(page)):
        pytest.skip(f"SOME EXAMPLES OF {name} NOT RUN: missing {', '.join(sorted(missing))}")


WITH_PROGRAMS = [
    (name, program)
    for name in WRITTEN_PAGES
    for program in PROGRAMS
    if any(
        one.calls(frozenset([program])) for one in parse_blocks((ROOT / name).read_text("utf-8"))
    )
]


@pytest.mark.parametrize(("name", "program"), WITH_PROGRAMS)
def test_examples_run_where_one_program_is_missing(name: str, program: str, tmp_path: Path) -> None:
    """Where one program is missing, the examples that do not call it print the same."""
    missing = frozenset(one for one in PROGRAMS if one == program or shutil.which(one) is None)
    page = (ROOT / name).read_text(encoding="utf-8")
    for outcome in run_page(page, tmp_path, missing):
        if not outcome.is_as_written:
            assert outcome.block.text == outcome.actual


ON_CLUSTER = [
    name
    for name in WRITTEN_PAGES
    if any(one.needs_cluster for one in parse_blocks((ROOT / name).read_text(encoding="utf-8")))
]


@pytest.mark.parametrize("name", ON_CLUSTER)
def test_every_example_on_a_cluster_prints_what_the_page_shows(
    name: str, tmp_path: Path, hbase_url: str
) -> None:
    """Every example that needs HBase prints the output that the page shows."""
    page = (ROOT / name).read_text(encoding="utf-8")
    for outcome in run_page(page, tmp_path, cluster=hbase_url):
        if not outcome.is_as_written:
            assert outcome.block.text == outcome.actual


@pytest.mark.parametrize("name", [*WRITTEN_PAGES, *CASES, *ALL])
def test_every_link_of_a_page_leads_to_a_heading(name: str) -> None:
    """Every link of a page is a file of the repository with that heading."""
    path = ROOT / name
    page = _FENCED_BLOCK.sub("", path.read_text(encoding="utf-8"))
    broken = []
    for link in _LINK.findall(page):
        file, _, heading = link.partition("#")
        if "://" in link or link.startswith("mailto:"):
            continue
        target = (path.parent / file) if file else path
        if not target.exists() or (heading and heading not in _list_anchors(target)):
            broken.append(link)
    assert [] == broken


def _list_anchors(path: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    page = _FENCED_BLOCK.sub("", path.read_text(encoding="utf-8"))
    plain = (re.sub(r"[`*]", "", heading).lower() for heading in _HEADING.findall(page))
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}


def test_every_page_is_linked_from_the_index() -> None:
    """Every page is linked from the index of the docs, or from a linked page."""
    reached, waiting = set(), [ROOT / "docs" / "index.md"]
    while waiting:
        path = waiting.pop().resolve()
        if path in reached or path.suffix != ".md":
            continue
        reached.add(path)
        links = _LINK.findall(path.read_text(encoding="utf-8"))
        targets = (path.parent / link.partition("#")[0] for link in links if "://" not in link)
        waiting += [target for target in targets if target.is_file()]
    pages = {path.resolve() for path in ROOT.glob("docs/**/*.md")}
    assert set() == {path.relative_to(ROOT).as_posix() for path in pages - reached}


def test_a_stale_example_is_found_and_corrected(tmp_path: Path) -> None:
    """A command and a Python line with other output are found and corrected."""
    page = (
        "```console\n$ echo one; false\nzwei\n$ echo $?\n1\n```\n"
        "```pycon\n>>> 1 + 1\n3\n>>> len('ab')\n2\n```\n"
        "```text a.txt\nfile\n```\n```console\n$ cat \\\n> a.txt\n...\n```\n"
    )
    outcomes = list(run_page(page, tmp_path))
    assert [False, False, True] == [outcome.is_as_written for outcome in outcomes]
    mended = page.replace("zwei", "one").replace("3\n", "2\n")
    assert mended == rewrite_page(page, outcomes)


def test_a_block_marked_cluster_is_skipped_without_a_url(tmp_path: Path) -> None:
    """A marked block is skipped without a URL, and run with the URL if there is one."""
    needs = f"```console cluster\n$ echo on {EXAMPLE_URL}\non {EXAMPLE_URL}\n```\n"
    page = f"```console\n$ echo 1\n1\n```\n{needs}"
    assert 1 == len(list(run_page(page, tmp_path)))
    outcomes = list(run_page(page, tmp_path, cluster="hbase://localhost:1"))
    assert [True, True] == [outcome.is_as_written for outcome in outcomes]


@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        ("a\n", "a \n\n", True),
        ("a\n...\n", "a\nb\nc\n", True),
        ("...\nc\n", "a\nb\nc\n", True),
        ("a\n...\nd\n", "a\nb\nc\n", False),
        ("a.c\n", "abc\n", False),
    ],
)
def test_three_dots_match_any_lines(expected: str, actual: str, *, equal: bool) -> None:
    """A line of three dots matches any lines, and all other lines must be equal."""
    assert equal == matches(expected, actual)
