from __future__ import annotations

from pathlib import Path

import pytest

from cli.command import LOGS, run
from render.reports import HOSTS, write_logs
from rowkey.cli.commands.report import choose_names


@pytest.fixture
def design(tmp_path: Path) -> Path:
    """Return a design file that declares generated events."""
    path = tmp_path / "logs.toml"
    path.write_text(LOGS, encoding="utf-8")
    return path


def test_report_writes_a_file_and_prints_nothing_to_stdout(design: Path, tmp_path: Path) -> None:
    """The report is a file; stdout stays empty, and stderr has the size."""
    page = tmp_path / "logs.html"
    told = run("report", design, "-o", page)
    assert (0, "") == (told.code, told.out)
    assert f"{page}: " in told.err
    assert page.read_text("utf-8").startswith('<!DOCTYPE html>\n<html lang="en">')


def test_report_writes_to_standard_output_for_a_dash(design: Path) -> None:
    """With `-` the report goes to standard output in the requested language."""
    told = run("report", design, "-o", "-", "--lang", "zh", "--redact")
    assert (0, "") == (told.code, told.err)
    assert told.out.startswith('<!DOCTYPE html>\n<html lang="zh-Hans">')


def test_reported_designs_of_one_file_name_get_different_names(
    design: Path, tmp_path: Path
) -> None:
    """Files of one name get their folder's name, and a file given twice gets a number."""
    other = tmp_path / "other"
    other.mkdir()
    copy = other / design.name
    copy.write_text(LOGS, encoding="utf-8")
    told = run("report", design, copy)
    for label, path in (("A", design), ("B", copy)):
        assert f"{label} {path.parent.name}/{path.stem}</a>" in told.out
    told = run("report", design, design)
    assert "A logs</a>" in told.out
    assert "B logs#2</a>" in told.out


def test_designs_without_a_common_sample_are_reported_but_not_compared(
    design: Path, tmp_path: Path
) -> None:
    """Without a common sample the page and stderr say so, and each design is shown."""
    other = tmp_path / "other.toml"
    other.write_text(LOGS, encoding="utf-8")
    page = tmp_path / "both.html"
    told = run("report", design, other, "-o", page)
    assert (0, "") == (told.code, told.out)
    assert "The designs cannot be compared" in told.err
    assert "sample: the design declares no sample" in told.err
    shown = page.read_text("utf-8")
    assert "sample: the design declares no sample" in shown
    assert "<figure>" not in shown


def test_a_report_of_several_designs_begins_with_their_comparison(tmp_path: Path) -> None:
    """Designs with one sample share a page that begins with the comparison, per language."""
    paths = [*write_logs(tmp_path).values()][:2]
    for path in paths:  # without reads, the search for a better key is short
        path.write_text(path.read_text("utf-8").partition("[[reads]]")[0], "utf-8")
    page = tmp_path / "all.html"
    told = run("report", *paths, "-o", page, "--lang", "zh", "--redact")
    assert (0, "") == (told.code, told.out)
    shown = page.read_text("utf-8")
    assert '<html lang="zh-Hans">' in shown
    assert shown.index('id="comparison"') < shown.index('id="d1"') < shown.index('id="d2"')
    assert HOSTS[0] not in shown


def test_a_report_of_more_than_eight_designs_is_refused(design: Path) -> None:
    """More than eight designs are refused before anything is replayed."""
    told = run("report", *[design] * 9)
    assert (2, "") == (told.code, told.out)
    assert "9 designs" in told.err


@pytest.mark.parametrize("verb", [pytest.param("report", marks=pytest.mark.long), "compare"])
def test_report_replays_the_second_half_of_a_sample_on_request(verb: str, tmp_path: Path) -> None:
    """The second half of a sample is replayed on request if no split keys come from it."""
    design = write_logs(tmp_path)["spread"]
    text, _, _ = design.read_text("utf-8").partition("[[reads]]")
    other = tmp_path / "other.toml"
    for path in (design, other):
        path.write_text(text, encoding="utf-8")
    whole = run(verb, design, other)
    half = run(verb, design, other, "--second-half")
    assert (0, 0) == (whole.code, half.code)
    count = {"report": "the same {} of 4,000 events", "compare": "{} events of"}[verb]
    assert count.format("4,000") in whole.out
    assert count.format("2,000") in half.out


def test_report_of_an_invalid_design_writes_no_page(design: Path, tmp_path: Path) -> None:
    """An invalid design is reported, and no page is written."""
    design.write_text(LOGS.replace("[host]", "[hots]"), encoding="utf-8")
    page = tmp_path / "logs.html"
    told = run("report", design, "-o", page)
    assert (2, False) == (told.code, page.exists())
    assert "hots" in told.err


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["a/logs.toml"], ["logs"]),
        (["a/logs.toml", "a/logs.toml"], ["logs", "logs#2"]),
        (["a/logs.toml", "b/logs.toml"], ["a/logs", "b/logs"]),
        (["logs.toml", "b/logs.toml", "c/hosts.toml"], ["logs", "b/logs", "hosts"]),
        (["/x/a/logs.toml", "/y/a/logs.toml"], ["x/a/logs", "y/a/logs"]),
        (["a/logs.toml", "b/logs.toml", "a/logs.toml"], ["a/logs", "b/logs", "a/logs#2"]),
        (["-", "-"], ["-", "-#2"]),
    ],
)
def test_reported_designs_are_named_by_the_shortest_distinct_part_of_their_paths(
    paths: list[str], names: list[str]
) -> None:
    assert names == choose_names(paths)
