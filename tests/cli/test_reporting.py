from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cli.command import LOGS, run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def design(tmp_path: Path) -> Path:
    """A design file of which events are made."""
    path = tmp_path / "logs.toml"
    path.write_text(LOGS, encoding="utf-8")
    return path


def test_a_report_is_written(design: Path, tmp_path: Path) -> None:
    """The page is a file; standard output stays empty, and stderr says how large it is."""
    page = tmp_path / "logs.html"
    told = run("report", design, "-o", page)
    assert (0, "") == (told.code, told.out)
    assert f"{page}: " in told.err
    assert page.read_text("utf-8").startswith('<!DOCTYPE html>\n<html lang="en">')


def test_a_report_goes_into_a_pipe(design: Path) -> None:
    """A hyphen is standard output, in the language that was asked for."""
    told = run("report", design, "-o", "-", "--lang", "zh", "--redact")
    assert (0, "") == (told.code, told.err)
    assert told.out.startswith('<!DOCTYPE html>\n<html lang="zh-Hans">')


def test_designs_of_one_name_are_told_apart(design: Path, tmp_path: Path) -> None:
    """Files of one name in two folders are called by their paths."""
    other = tmp_path / "other"
    other.mkdir()
    copy = other / design.name
    copy.write_text(LOGS, encoding="utf-8")
    told = run("report", design, copy)
    assert all(f"<h3>{path}</h3>" in told.out for path in (design, copy))


def test_a_broken_design_leaves_no_file(design: Path, tmp_path: Path) -> None:
    """A mistake in a design is told, and no page is left behind."""
    design.write_text(LOGS.replace("[host]", "[hots]"), encoding="utf-8")
    page = tmp_path / "logs.html"
    told = run("report", design, "-o", page)
    assert (2, False) == (told.code, page.exists())
    assert "hots" in told.err
