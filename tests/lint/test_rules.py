"""Properties that hold for every rule of every package."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from rowkey.design import Design
from rowkey.findings import SEVERITIES
from rowkey.hotspots import CAUSES
from rowkey.lint import (
    RULES,
    Rule,
    apply_fixes,
    check_design,
    format_rule_name,
)
from samples import summarize_sample

if TYPE_CHECKING:
    from rowkey.lint import LintResult

GROUPS = {
    "0": "allowances", "1": "key", "2": "splits and regions", "3": "families", "4": "attributes",
    "5": "columns and cells", "6": "reads", "7": "writes and imports", "8": "sizing",
}  # fmt: skip
CLAIMS = 88
"""Claims of the sources, numbered from 1."""
BY_CODE = sorted(RULES.values(), key=lambda rule: rule.code)


@cache
def check_example(rule: type[Rule], text: str) -> LintResult:
    """Check one of a rule's own examples with all rules, under its sample if it has one."""
    design = Design.loads(text, source="design.toml")
    if not rule.sample_csv:
        return check_design(design)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        path.write_text(rule.sample_csv)
        return check_design(design, summarize_sample(design, path))


@pytest.mark.parametrize("rule", BY_CODE, ids=lambda rule: rule.name)
def test_each_rule_finds_its_bad_example(rule: type[Rule]) -> None:
    """A rule has a finding in its bad example, and only the rules it names have others."""
    found = check_example(rule, rule.bad_design)
    assert {rule.code, *rule.other_codes} == {one.code for one in found.findings}


@pytest.mark.parametrize("rule", BY_CODE, ids=lambda rule: rule.name)
def test_no_rule_has_a_finding_in_any_good_example(rule: type[Rule]) -> None:
    """No rule has a finding in any rule's good example."""
    assert [] == [str(one) for one in check_example(rule, rule.good_design).findings]


@pytest.mark.parametrize("rule", BY_CODE, ids=lambda rule: rule.name)
def test_each_finding_has_a_line_and_a_path_of_the_file(rule: type[Rule]) -> None:
    """Each finding has a line of the file, and a path whose option is there."""
    lines = len(rule.bad_design.splitlines())
    design = Design.loads(rule.bad_design, source="design.toml")
    assert design.source is not None
    for one in check_example(rule, rule.bad_design).findings:
        assert 1 <= one.line <= lines
        assert one.path in design.source.source_map.positions


@pytest.mark.parametrize("rule", BY_CODE, ids=lambda rule: rule.name)
def test_a_problem_has_no_full_stop_and_a_remedy_has_one(rule: type[Rule]) -> None:
    """A problem has no full stop, and a remedy is a sentence with one."""
    for one in check_example(rule, rule.bad_design).findings:
        assert not one.message.endswith("..")
        for sentence in filter(None, (one.remedy, one.verdict)):
            assert not sentence[0].islower()
            assert sentence[-1] in ".…"
        assert (one.code, one.name) in {(r.code, format_rule_name(r.name)) for r in BY_CODE}
        assert "\n" not in str(one)


@pytest.mark.parametrize("rule", BY_CODE, ids=lambda rule: rule.name)
def test_the_docstring_of_each_rule_has_its_four_sections(rule: type[Rule]) -> None:
    """The docstring of a rule has four sections of sentences, and a first sentence."""
    told = rule.parse_docstring()
    for section in (told.summary, told.description, told.reason, told.remedy, told.source):
        assert section.endswith((".", ")"))
        assert len(section.split()) >= 3
    assert "\n" not in told.summary


@pytest.mark.parametrize("rule", BY_CODE, ids=lambda rule: rule.name)
def test_each_rule_has_a_code_of_its_group_and_a_plain_name(rule: type[Rule]) -> None:
    """A code begins with the digit of its group; a name has two to four plain words."""
    assert re.fullmatch(r"RK[0-8]\d\d", rule.code)
    assert rule.code[2] in GROUPS
    assert re.fullmatch(r"[a-z]+[0-9]*(_[a-z0-9]+){1,3}", rule.name)
    assert rule.severity in SEVERITIES
    assert set(rule.claims) <= set(range(1, CLAIMS + 1))
    assert sorted(set(rule.claims)) == list(rule.claims)


@pytest.mark.parametrize("rule", BY_CODE, ids=lambda rule: rule.name)
def test_a_fix_removes_all_findings_of_its_rule(rule: type[Rule]) -> None:
    """A rule's fix removes all its findings from the file, and leaves the rest."""
    text = "# first\n" + rule.bad_design.replace("\n[", "\n# a comment\n[") + "# last\n"
    after = apply_fixes(Design.loads(text), select=[rule.code])
    has_fix = rule.build_fix is not Rule.build_fix
    assert has_fix == (rule.code in {one.code for one in after.fixed_findings})
    assert has_fix == (after.text != text)
    assert after.design == Design.loads(after.text)
    if has_fix:
        assert [] == list(check_design(after.design, select=[rule.code]).findings)
    stood, stands = text.splitlines(), after.text.splitlines()
    gone = [line for line in stood if line not in stands]
    assert len(gone) <= len(after.fixed_findings)
    assert [line for line in stood if line.startswith("#")] == [
        line for line in stands if line.startswith("#")
    ]


def test_more_than_45_rules_have_examples_and_a_source() -> None:
    """Each of more than 45 rules has a bad design, a different good one, and a source."""
    own = [rule for rule in BY_CODE if rule.__module__.startswith("rowkey.")]
    assert len(own) >= 45
    for rule in own:
        assert rule.bad_design.strip()
        assert rule.good_design.strip()
        assert (rule.bad_design, rule.sample_csv) != (rule.good_design, "")
        assert rule.parse_docstring().source


def test_no_two_rules_share_a_code() -> None:
    codes = [rule.code for rule in BY_CODE]
    assert sorted(set(codes)) == codes


def test_each_cause_of_hot_spots_belongs_to_one_rule_at_most() -> None:
    """Each cause of hot spots belongs to at most one rule, and each named cause exists."""
    told = [rule.cause for rule in BY_CODE if rule.cause]
    assert sorted(set(told)) == sorted(told)
    assert set(told) <= set(CAUSES)
