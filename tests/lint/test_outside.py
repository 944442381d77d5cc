"""A rule of another package, installed with an entry point, is run by `check`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from docs.blocks import ROOT

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


ASKING_CODE = """
import sys
from rowkey.cli import main
from tools import docs
for line in ("check clicks.toml --select unowned-table", "rules RK190"):
    sys.argv = ["rowkey", *line.split()]
    try:
        main()
    except SystemExit as left:
        print("exit", left.code)
sys.argv = ["docs.py", "--outside"]
print("exit", docs.main())
"""
COMPARING_CODE = """
from pathlib import Path
from tools import docs
print(docs.diff_pages(Path("reference")))
"""


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which a package with a rule is installed, with a design."""
    folder = tmp_path_factory.mktemp("acme")
    information = folder / "acme-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
    (information / "entry_points.txt").write_text("[rowkey.kinds]\nx = acme:UnownedTable\n")
    (folder / "acme.py").write_text(RULE)
    design = 'table = "clicks"\nkey = "[id]"\nfields = { id = "uuid" }\n'
    (folder / "clicks.toml").write_text(design)
    return folder


def run_code(folder: Path, code: str) -> str:
    """Return what Python prints in a process that finds the package of a folder."""
    told = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (folder, ROOT / "src", ROOT)))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (0, "") == (told.returncode, told.stderr)
    return told.stdout


@pytest.fixture(scope="module")
def outputs(acme: Path) -> list[str]:
    """What `check`, `rules` and the reference of the package say where it is installed."""
    return re.split(r"(?m)^exit \d\n", run_code(acme, ASKING_CODE))


def test_a_rule_of_another_package_can_be_selected(outputs: list[str]) -> None:
    """A rule of another package can be selected, and its findings are listed with the others."""
    checked, explained, _, _ = outputs
    assert "clicks.toml:1: table: RK190 unowned-table: nobody owns clicks." in checked
    assert "nobody knows whom to ask" in explained.lower()


def test_a_rule_of_another_package_is_documented_in_its_own_reference(outputs: list[str]) -> None:
    """The reference for another package has its rules and none of rowkey's."""
    page = outputs[2]
    assert "\n## RK190 unowned-table\n\nA table whose name does not say who owns it." in page
    assert 1 == page.count("\n## ")


@pytest.mark.long  # builds the whole reference
def test_no_page_of_our_docs_has_a_rule_of_another_package(acme: Path) -> None:
    """Only changed, missing and surplus pages are stale, though a rule of others is installed."""
    pages = acme / "reference"
    shutil.copytree(ROOT / "docs" / "reference", pages)
    (pages / "distributions.md").write_text("# Distributions\n", encoding="utf-8")
    (pages / "cli.md").unlink()
    (pages / "old.md").write_text("old\n", encoding="utf-8")
    differences = run_code(acme, COMPARING_CODE).splitlines()
    changed = [line for line in differences if line.startswith("--- ")]
    assert ["cli.md", "distributions.md", "old.md"] == [line.rpartition("/")[2] for line in changed]
