"""The claims of the documents: each has its verdict, and is held by a rule, a test, or a reason."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tools.reference.claims import (
    CLAIMS,
    Book,
    Holding,
    Marked,
    book_of,
    held,
    marked_tests,
    mistakes,
    stated,
)

from docs.blocks import ROOT
from rowkey.design import Design
from rowkey.lint import RULES, check, look

if TYPE_CHECKING:
    from pathlib import Path

    from rowkey.lint import Rule

PAGE = ROOT / "docs" / "where-the-books-are-wrong.md"


def test_every_claim_is_stated_and_held() -> None:
    """Each number has an entry, a verdict, and something that holds it; no other is spoken of."""
    assert [] == list(mistakes(stated(), held()))


def test_every_claim_stands_on_the_page_once() -> None:
    """The page has a line for each claim, with what is claimed."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    for claim in stated().claims:
        begins = (f"| {claim.number} | ", f"* **{claim.number}**")
        assert [True] == [claim.says in line for line in lines if line.startswith(begins)]


def test_the_chinese_page_counts_them() -> None:
    """As many claims as the documents make are told in Chinese."""
    text = (ROOT / "docs" / "zh.md").read_text(encoding="utf-8")
    made = [claim for claim in stated().claims if claim.documents]
    assert f"共 {len(made)} 条说法" in text


def with_claim(book: Book, changed: int, change: dict[str, object]) -> Book:
    """The book with one claim changed."""
    claims = [
        replace(claim, **change) if claim.number == changed else claim  # type: ignore[arg-type]
        for claim in book.claims
    ]
    return replace(book, claims=claims)


def test_a_claim_that_nothing_holds_is_seen() -> None:
    """Without its rules, its tests and its reason, a claim is told by its number."""
    rules = [rule for rule in held().rules if 35 not in rule.claims]
    (told,) = mistakes(stated(), Holding(rules, held().tests))
    assert "claim 35: no rule holds it, and no_rule does not say why" == told
    tests = [test for test in held().tests if 35 not in test.claims]
    (told,) = mistakes(stated(), Holding(held().rules, tests))
    assert "claim 35: no test is marked with it, and no_test does not say why" == told


def test_a_number_that_is_no_claim_is_seen() -> None:
    """A rule or a test of claim 89 is told by its name."""
    marked = Marked("tests/x.py", "test_x", (CLAIMS + 1,))
    (told,) = mistakes(stated(), Holding(held().rules, [*held().tests, marked]))
    assert "tests/x.py, test_x, holds claim 89, which there is not" == told


@pytest.mark.parametrize(
    ("number", "change", "expected"),
    [
        (54, {"verdict": "doubtful"}, "claim 54: the verdict is 'doubtful'"),
        (54, {"documents": (5,)}, "claim 54: there is no such document"),
        (54, {"says": "it is so."}, "claim 54: 'it is so.' is no sentence"),
        (54, {"today": ""}, "claim 54 is wrong, and today says nothing"),
        (54, {"no_rule": "of this"}, "claim 54 has no_rule, and RK111 holds it"),
        (77, {"no_test": ""}, "claim 77: no test is marked with it"),
        (54, {"no_test": "of this"}, "claim 54 has no_test, and test_"),
        (54, {"verdict": "agrees"}, "subjects lead with claims [3, 4"),
        (88, {"number": 89}, "the claims are numbered [1, 2"),
    ],
)
def test_what_is_wrong_with_a_claim_is_seen(
    number: int, change: dict[str, object], expected: str
) -> None:
    """Each way in which an entry may be wrong is told by its number."""
    told = list(mistakes(with_claim(stated(), number, change), held()))
    assert expected == told[0][: len(expected)]


def test_an_unknown_word_is_refused() -> None:
    """A misspelt word of an entry is no silence."""
    text = 'documents = []\nsubjects = []\n[[claims]]\nnumber = 1\nsay = "It."\n'
    with pytest.raises(TypeError, match="say"):
        book_of(text)


def test_markers_are_found_wherever_they_stand() -> None:
    """On a test, its class, its module, and among the marks of parameters, under any name."""
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
    found = [(one.name, one.claims) for one in marked_tests("tests/x.py", text)]
    expected = [
        ("test_within", (3, 4, 5, 9)),
        ("test_plain", (1, 2, 9)),
        ("test_of_cases", (7, 8, 9)),
    ]
    assert expected == found


@pytest.mark.parametrize("numbers", ["*CASES", "*range(3)", '"7"', "*()", "N"])
def test_numbers_of_a_marker_are_written_out(numbers: str) -> None:
    """What cannot be read without running the file is told with its line."""
    text = f"import pytest\n@pytest.mark.claims({numbers})\ndef test_x(): ...\n"
    with pytest.raises(ValueError, match=r"tests/x\.py:2: write the numbers"):
        list(marked_tests("tests/x.py", text))


DOUBTED = [
    rule
    for rule in held().rules
    if any(one.verdict != "agrees" and one.number in rule.claims for one in stated().claims)
]


@pytest.mark.parametrize("rule", DOUBTED, ids=lambda rule: rule.name)
def test_a_rule_of_a_claim_that_is_not_right_says_what_is(rule: type[Rule], tmp_path: Path) -> None:
    """Each of its findings in its bad design carries today's verdict."""
    design = Design.loads(rule.bad, source="design.toml")
    path = tmp_path / "rows.csv"
    path.write_text(rule.data)
    found = check(design, look(design, path) if rule.data else None, select=[rule.code]).found
    assert found
    assert [] == [str(one) for one in found if not one.verdict]


def test_many_rules_are_of_claims_that_are_not_right() -> None:
    """Each claim with another verdict has such a rule, but for those that no rule can hold."""
    doubted = [one for one in stated().claims if one.verdict != "agrees"]
    told = {number for rule in DOUBTED for number in rule.claims}
    assert [] == [one.number for one in doubted if one.number not in told and not one.no_rule]
    assert len(DOUBTED) > 25


def test_no_rule_from_elsewhere_holds_a_claim() -> None:
    """What other packages offer is no part of this repository, and does not count."""
    own = [rule for rule in RULES.values() if rule.__module__.startswith("rowkey.")]
    assert sorted(rule.code for rule in own) == [rule.code for rule in held().rules]
