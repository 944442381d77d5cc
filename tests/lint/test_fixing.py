"""Fixes: what is mended is gone, nothing is worse, and all else of the file stays as it was."""

from __future__ import annotations

import tomllib
from difflib import SequenceMatcher
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.command import run
from lint.layouts import laid_out
from rowkey.design import Design
from rowkey.lint import RULES, Rule, apply_fixes, check_design

if TYPE_CHECKING:
    from pathlib import Path

    from rowkey.lint import FixedDesign

FIXABLE = [rule for rule in RULES.values() if rule.build_fix is not Rule.build_fix]
TREES = {rule.name: tomllib.loads(rule.bad_design) for rule in FIXABLE}


def grave(design: Design) -> set[tuple[str, str]]:
    """The findings of a warning's weight, by code and path."""
    return {(one.code, one.path) for one in check_design(design).findings if one.rank}


def words_of(design: Design) -> set[tuple[str, str, str]]:
    """The attributes of families that a design says itself."""
    families = design.declaration.families.items()
    return {(name, word, str(value)) for name, words in families for word, value in words.items()}


def assert_little_changed(text: str, after: FixedDesign) -> None:
    """Lines that differ are as many as words were mended, and each comment is still there.

    A word that is taken away takes what is said behind it on its line.
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
            assert before.count(line) == now.count(line)


def assert_mended(text: str) -> FixedDesign:
    """Every law of a mended file."""
    design = Design.loads(text)
    after = apply_fixes(design)
    if not after.fixed_findings:
        assert after.text == text
        return after
    for one in after.fixed_findings:
        assert (one.code, one.path) not in {
            (f.code, f.path) for f in check_design(after.design).findings
        }
    assert grave(after.design) <= grave(design)
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
def test_a_fix_mends_a_file_however_it_is_laid_out(rule: type[Rule], seed: int) -> None:
    """In braces, with dots, in quotes, between comments, on Windows: the same is mended."""
    plain = apply_fixes(Design.loads(rule.bad_design))
    text = laid_out(TREES[rule.name], Random(seed))
    assert Design.loads(rule.bad_design) == Design.loads(text)
    after = assert_mended(text)
    assert rule.code in {one.code for one in after.fixed_findings}
    assert plain.design == after.design
    assert words_of(plain.design) == words_of(after.design)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_mending_all_makes_nothing_worse(rule: type[Rule]) -> None:
    """Whatever has a fix in a bad design; what has none is left, and the file with it."""
    after = assert_mended(rule.bad_design)
    assert bool(after.fixed_findings) == (after.text != rule.bad_design)
    left = {one.code for one in check_design(after.design).findings}
    assert left.isdisjoint(one.code for one in after.fixed_findings)


@pytest.mark.parametrize("rule", FIXABLE, ids=lambda rule: rule.name)
def test_a_file_that_was_fixed_passes(
    rule: type[Rule], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its bytes are those of the mended text, `check` leaves with 0 where no more was wrong."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "design.toml"
    for seed in range(4):
        text = laid_out(TREES[rule.name], Random(seed)) if seed else rule.bad_design
        file.write_bytes(text.encode())
        after = apply_fixes(Design.loads(text))
        left = grave(after.design)
        assert int(bool(left)) == run("check", "design.toml", "--fix").code
        assert after.text.encode() == file.read_bytes()
        found = run("check", "design.toml", "--fix")
        assert (int(bool(left)), "") == (found.code, found.err)
        assert {code for code, _ in left} <= set(rule.other_codes)
        assert after.text.encode() == file.read_bytes()
