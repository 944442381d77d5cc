"""Each claim of the documents has a verdict, and a rule, a test, or a reason for none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tools.reference.claims import (
    CLAIM_COUNT,
    ClaimsFile,
    Evidence,
    MarkedTest,
    check_claims,
    find_evidence,
    parse_claims,
    parse_marked_tests,
    read_claims,
)

from docs.blocks import ROOT
from rowkey.design import Design
from rowkey.lint import RULES, check_design
from samples import summarize_sample

if TYPE_CHECKING:
    from rowkey.lint import Rule

PAGE = ROOT / "docs" / "where-the-books-are-wrong.md"


def test_every_claim_has_a_rule_or_a_test_or_a_reason() -> None:
    """Each claim has a verdict, and a rule and a test or the reason for none."""
    assert [] == list(check_claims(read_claims(), find_evidence()))


def test_every_claim_is_on_the_page_exactly_once() -> None:
    """The page has exactly one line for each claim, with its text."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    for claim in read_claims().claims:
        begins = (f"| {claim.number} | ", f"* **{claim.number}**")
        assert [True] == [claim.says in line for line in lines if line.startswith(begins)]


def test_the_chinese_page_has_the_right_number_of_claims() -> None:
    """The Chinese page gives the number of the documents' claims."""
    text = (ROOT / "docs" / "zh.md").read_text(encoding="utf-8")
    made = [claim for claim in read_claims().claims if claim.documents]
    assert f"共 {len(made)} 条说法" in text


def change_claim(book: ClaimsFile, changed: int, change: dict[str, object]) -> ClaimsFile:
    """Return the claims with one of them changed."""
    claims = [
        replace(claim, **change) if claim.number == changed else claim  # type: ignore[arg-type]
        for claim in book.claims
    ]
    return replace(book, claims=claims)


def test_a_claim_without_rules_or_tests_is_reported() -> None:
    """A claim without its rules or tests, and without a reason, is reported by its number."""
    rules = [rule for rule in find_evidence().rules if 35 not in rule.claims]
    (problem,) = check_claims(read_claims(), Evidence(rules, find_evidence().tests))
    assert "claim 35: no rule checks it, and no_rule gives no reason" == problem
    tests = [test for test in find_evidence().tests if 35 not in test.claims]
    (problem,) = check_claims(read_claims(), Evidence(find_evidence().rules, tests))
    assert "claim 35: no test is marked with it, and no_test gives no reason" == problem


def test_a_test_of_an_unknown_claim_number_is_reported() -> None:
    """A test of claim 89 is reported by its name."""
    marked = MarkedTest("tests/x.py", "test_x", (CLAIM_COUNT + 1,))
    (problem,) = check_claims(
        read_claims(), Evidence(find_evidence().rules, [*find_evidence().tests, marked])
    )
    assert "tests/x.py, test_x, refers to claim 89, which does not exist" == problem


@pytest.mark.parametrize(
    ("number", "change", "expected"),
    [
        (54, {"verdict": "doubtful"}, "claim 54: the verdict is 'doubtful'"),
        (54, {"documents": (5,)}, "claim 54: unknown document"),
        (54, {"says": "it is so."}, "claim 54: 'it is so.' is not a sentence"),
        (54, {"today": ""}, "claim 54 is wrong, and today says nothing"),
        (54, {"no_rule": "of this"}, "claim 54 has no_rule, but RK111 checks it"),
        (77, {"no_test": ""}, "claim 77: no test is marked with it"),
        (54, {"no_test": "of this"}, "claim 54 has no_test, but test_"),
        (54, {"verdict": "agrees"}, "subjects lead with claims [3, 4"),
        (88, {"number": 89}, "the claims are numbered [1, 2"),
    ],
)
def test_each_mistake_in_a_claim_is_reported_with_its_number(
    number: int, change: dict[str, object], expected: str
) -> None:
    """Each kind of mistake in an entry is reported with the number of the claim."""
    problems = list(check_claims(change_claim(read_claims(), number, change), find_evidence()))
    assert expected == problems[0][: len(expected)]


def test_a_misspelt_key_of_a_claim_raises_an_error() -> None:
    """A misspelt key of an entry raises an error."""
    text = 'documents = []\nsubjects = []\n[[claims]]\nnumber = 1\nsay = "It."\n'
    with pytest.raises(TypeError, match="say"):
        parse_claims(text)


def test_claim_markers_on_tests_classes_and_modules_are_found() -> None:
    """Markers are found on tests, classes, modules and parameters, also through names."""
    text = """
import pytest
claims = pytest.mark.claims
pytestmark = [pytest.mark.claims(9)]
CASES = [pytest.param(1, marks=pytest.mark.claims(7)), pytest.param(2, marks=[claims(8)])]

@pytest.mark.claims(2, 1)
def test_plain(): ...

@pytest.mark.parametrize("case", CASES)
def test_of_cases(case): ...

@claims(*(3, 4))
class TestClass:
    @claims(5)
    def test_within(self): ...

def helper(): ...
"""
    findings = [(one.name, one.claims) for one in parse_marked_tests("tests/x.py", text)]
    expected = [
        ("test_within", (3, 4, 5, 9)),
        ("test_plain", (1, 2, 9)),
        ("test_of_cases", (7, 8, 9)),
    ]
    assert expected == findings


@pytest.mark.parametrize("numbers", ["*CASES", "*range(3)", '"7"', "*()", "N"])
def test_a_claim_number_that_is_no_literal_raises_an_error(numbers: str) -> None:
    """Numbers that are not literals raise an error with their line."""
    text = f"import pytest\n@pytest.mark.claims({numbers})\ndef test_x(): ...\n"
    with pytest.raises(ValueError, match=r"tests/x\.py:2: write the numbers"):
        list(parse_marked_tests("tests/x.py", text))


DISPUTED_CLAIMS = {one.number for one in read_claims().claims if one.verdict != "agrees"}
DISPUTED_RULES = [
    rule for rule in find_evidence().rules if not DISPUTED_CLAIMS.isdisjoint(rule.claims)
]


@pytest.mark.parametrize("rule", DISPUTED_RULES, ids=lambda rule: rule.name)
def test_a_rule_against_a_wrong_claim_gives_the_verdict_of_today(
    rule: type[Rule], tmp_path: Path
) -> None:
    """Each finding in the rule's bad design has today's verdict."""
    design = Design.loads(rule.bad_design, source="design.toml")
    path = tmp_path / "rows.csv"
    path.write_text(rule.sample_csv)
    findings = check_design(
        design, summarize_sample(design, path) if rule.sample_csv else None, select=[rule.code]
    ).findings
    assert findings
    assert [] == [str(one) for one in findings if not one.verdict]


def test_every_wrong_claim_has_a_rule_or_a_reason() -> None:
    """Each claim that is not right has a rule, except those with a reason for none."""
    doubted = [one for one in read_claims().claims if one.verdict != "agrees"]
    problems = {number for rule in DISPUTED_RULES for number in rule.claims}
    assert [] == [one.number for one in doubted if one.number not in problems and not one.no_rule]
    assert len(DISPUTED_RULES) > 25


def test_only_rules_of_rowkey_count_as_evidence_for_claims() -> None:
    """Only rowkey's own rules count as evidence for claims."""
    own = [rule for rule in RULES.values() if rule.__module__.startswith("rowkey.")]
    assert sorted(rule.code for rule in own) == [rule.code for rule in find_evidence().rules]
