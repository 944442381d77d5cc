"""Fixes remove findings, add none, and leave the rest of the file unchanged."""

from __future__ import annotations

import os
import tomllib
from difflib import SequenceMatcher
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.command import run
from lint.layouts import write_layout
from rowkey.design import Design
from rowkey.lint import RULES, Rule, apply_fixes, check_design

if TYPE_CHECKING:
    from rowkey.lint import FixedDesign

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
FIXABLE = [rule for rule in RULES.values() if rule.build_fix is not Rule.build_fix]
TREES = {rule.name: tomllib.loads(rule.bad_design) for rule in FIXABLE}


def list_serious_findings(design: Design) -> set[tuple[str, str]]:
    """Return the findings of at least the weight of a warning, by code and path."""
    return {(one.code, one.path) for one in check_design(design).findings if one.rank}


def list_family_attributes(design: Design) -> set[tuple[str, str, str]]:
    """Return the attributes of families that a design declares itself."""
    families = design.declaration.families.items()
    return {(name, word, str(value)) for name, words in families for word, value in words.items()}


def assert_little_changed(text: str, after: FixedDesign) -> None:
    """Check that only lines with fixed options differ, and that each comment is still there.

    A removed option takes the rest of its line with it.
    """
    before, now = text.splitlines(keepends=True), after.text.splitlines(keepends=True)
    gone = added = 0
    for _, a, b, c, d in SequenceMatcher(None, before, now, autojunk=False).get_opcodes():
        if before[a:b] != now[c:d]:
            gone, added = gone + b - a, added + d - c
    # A table that is not there comes with a header and an empty line.
    assert (gone, added) <= (len(after.fixed_findings), 3 * len(after.fixed_findings) + gone)
    for line in before:
        if line.lstrip().startswith("#"):
            assert before.count(line) <= now.count(line)  # a removed option leaves its comment


def assert_mended(text: str) -> FixedDesign:
    """Check every property of a fixed file."""
    design = Design.loads(text)
    after = apply_fixes(design)
    if not after.fixed_findings:
        assert after.text == text
        return after
    for one in after.fixed_findings:
        assert (one.code, one.path) not in {
            (f.code, f.path) for f in check_design(after.design).findings
        }
    assert list_serious_findings(after.design) <= list_serious_findings(design)
    assert after.design == Design.loads(after.text)
    assert text.startswith("\ufeff") == after.text.startswith("\ufeff")
    assert (text.count("\n") == text.count("\r\n")) <= (
        after.text.count("\n") == after.text.count("\r\n")
    )
    assert_little_changed(text, after)
    again = apply_fixes(Design.loads(after.text))
    assert ((), after.text) == (again.fixed_findings, again.text)
    return after


@given(st.sampled_from(FIXABLE), st.integers(0, 2**32))
def test_a_fix_has_the_same_result_in_every_toml_layout(rule: type[Rule], seed: int) -> None:
    """A fix has the same result in every TOML layout: braces, dots, quotes, comments, CRLF."""
    plain = apply_fixes(Design.loads(rule.bad_design))
    text = write_layout(TREES[rule.name], Random(seed))
    assert Design.loads(rule.bad_design) == Design.loads(text)
    after = assert_mended(text)
    assert rule.code in {one.code for one in after.fixed_findings}
    assert plain.design == after.design
    assert list_family_attributes(plain.design) == list_family_attributes(after.design)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_fixing_all_findings_adds_no_new_finding(rule: type[Rule]) -> None:
    """Every fixable finding of a bad design is fixed, and a file without any is unchanged."""
    after = assert_mended(rule.bad_design)
    assert bool(after.fixed_findings) == (after.text != rule.bad_design)
    left = {one.code for one in check_design(after.design).findings}
    assert left.isdisjoint(one.code for one in after.fixed_findings)


@pytest.mark.parametrize("rule", FIXABLE, ids=lambda rule: rule.name)
def test_a_fixed_file_passes_check(
    rule: type[Rule], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`check --fix` writes the fixed text, and exits with 0 if no other finding is left."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "design.toml"
    for seed in range(4 if IS_LONG else 2):
        text = write_layout(TREES[rule.name], Random(seed)) if seed else rule.bad_design
        file.write_bytes(text.encode())
        after = apply_fixes(Design.loads(text))
        left = list_serious_findings(after.design)
        assert int(bool(left)) == run("check", "design.toml", "--fix").code
        assert after.text.encode() == file.read_bytes()
        found = run("check", "design.toml", "--fix")
        assert (int(bool(left)), "") == (found.code, found.err)
        assert {code for code, _ in left} <= set(rule.other_codes)
        assert after.text.encode() == file.read_bytes()
