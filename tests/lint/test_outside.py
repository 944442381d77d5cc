"""A rule of another package, installed with an entry point, is run by `check`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from docs.blocks import ROOT

if TYPE_CHECKING:
    from pathlib import Path

RULE = '''
"""A rule of one company on the names of tables."""

from rowkey.lint import Rule


class UnownedTable(Rule):
    """A table whose name does not say who owns it.

    What it does: looks for a name without a namespace.

    Why it hurts: nobody knows whom to ask before it is dropped.

    Use instead: the team's namespace, as in `ads:clicks`.

    Source: our own.
    """

    name = "unowned_table"
    code = "RK190"
    severity = "warning"
    claims = ()
    bad_design = """
table = "clicks"
key   = "[id]"
fields = { id = "uuid" }
"""
    good_design = """
table = "ads:clicks"
key   = "[id]"
fields = { id = "uuid" }
"""

    def collect_findings(self, subject):
        table = subject.design.declaration.table
        if ":" not in table:
            yield self.build_finding("table", f"nobody owns {table}", "Give it a namespace.")
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with an installed package that has a rule, and a design that breaks the rule."""
    information = tmp_path / "acme-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
    (information / "entry_points.txt").write_text("[rowkey.kinds]\nx = acme:UnownedTable\n")
    (tmp_path / "acme.py").write_text(RULE)
    design = 'table = "clicks"\nkey = "[id]"\nfields = { id = "uuid" }\n'
    (tmp_path / "clicks.toml").write_text(design)
    return tmp_path


def run_python(place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder with the package on its path."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=place,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(place), str(ROOT / "src")])},
        capture_output=True,
        text=True,
        check=False,
    )


ASKING_CODE = """
import sys
from rowkey.cli import main
for line in ("check clicks.toml --select unowned-table", "rules RK190"):
    sys.argv = ["rowkey", *line.split()]
    try:
        main()
    except SystemExit as left:
        print("exit", left.code)
"""


def test_it_is_asked(folder: Path) -> None:
    """A rule of another package can be selected, and its findings are listed with the others."""
    told = run_python(folder, "-c", ASKING_CODE)
    assert (0, "") == (told.returncode, told.stderr)
    checked, explained = told.stdout.split("exit 1\n")
    assert "clicks.toml:1: table: RK190 unowned-table: nobody owns clicks." in checked
    assert "nobody knows whom to ask" in explained.lower()


def test_it_is_documented(folder: Path) -> None:
    """The reference for another package has its rules and none of rowkey's."""
    page = run_python(folder, str(ROOT / "tools" / "docs.py"), "--outside").stdout
    assert "\n## RK190 unowned-table\n\nA table whose name does not say who owns it." in page
    assert 1 == page.count("\n## ")


def test_no_page_of_ours_has_it(folder: Path) -> None:
    """Only changed, missing and surplus pages are stale, though a rule of others is installed."""
    pages = folder / "reference"
    shutil.copytree(ROOT / "docs" / "reference", pages)
    (pages / "distributions.md").write_text("# Distributions\n", encoding="utf-8")
    (pages / "cli.md").unlink()
    (pages / "old.md").write_text("old\n", encoding="utf-8")
    told = run_python(folder, str(ROOT / "tools" / "docs.py"), "--check", str(pages))
    changed = [line for line in told.stdout.splitlines() if line.startswith("--- ")]
    assert (1, "") == (told.returncode, told.stderr), told.stdout
    assert ["cli.md", "distributions.md", "old.md"] == [line.rpartition("/")[2] for line in changed]
