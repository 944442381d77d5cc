"""The claims of five documents on HBase, their verdicts, and the rules and tests for them."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.lint import RULES

if TYPE_CHECKING:
    from rowkey.lint import Rule

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).with_name("claims.toml")
CLAIM_COUNT = 88
"""The number of claims of the documents, numbered from 1."""
VERDICTS = ("wrong", "partly", "agrees", "figures", "open")


@dataclass(frozen=True)
class Claim:
    """One claim.

    Args:
        number: its number, from 1.
        says: the claim, in our own words.
        verdict: one of `VERDICTS`.
        evidence: the source of the verdict: HBase's book, code or issues, or "computed".
        documents: the numbers of the documents with the claim; may be empty.
        today: what HBase does, if the claim is not simply right.
        no_rule: why no rule checks it, as the end of a sentence; empty if one does.
        no_test: why no test is marked with it, as the end of a sentence; empty if one is.
    """

    number: int
    says: str
    verdict: str
    evidence: str
    documents: Sequence[int] = ()
    today: str = ""
    no_rule: str = ""
    no_test: str = ""


@dataclass(frozen=True)
class Subject:
    """A question of a reader, and the claims that answer it wrongly.

    Args:
        question: the question.
        answer: in a sentence or two.
        claims: numbers of claims that are not simply right.
        text: the facts, with examples that run.
    """

    question: str
    answer: str
    claims: Sequence[int]
    text: str


@dataclass(frozen=True)
class ClaimsFile:
    """The content of `claims.toml`.

    Args:
        documents: the subject of each document, from number 0 on.
        subjects: in the order of the page.
        claims: in the order of their numbers.
    """

    documents: Sequence[str]
    subjects: Sequence[Subject]
    claims: Sequence[Claim]


def parse_claims(text: str) -> ClaimsFile:
    """Parse the claims of a file.

    Raises:
        TypeError: an entry has an unknown key, or lacks one.
    """
    claims = tomllib.loads(text)
    return ClaimsFile(
        tuple(claims["documents"]),
        tuple(Subject(**one) for one in claims["subjects"]),
        tuple(Claim(**one) for one in claims["claims"]),
    )


@dataclass(frozen=True)
class MarkedTest:
    """A test that is marked with claims.

    Args:
        path: its file, from the root of the repository.
        name: its name.
        claims: the numbers in its markers, ascending.
    """

    path: str
    name: str
    claims: tuple[int, ...]


def parse_marked_tests(path: str, text: str) -> Iterator[MarkedTest]:
    """Yield the tests of a file that are marked with claims, in their order.

    A marker may be on a test, on its class, on the module as `pytestmark`, and among the marks
    of a parameter; its numbers must be literals.

    Raises:
        ValueError: a number is not a literal.
    """
    if "claims" not in text:
        return
    parser = _MarkerParser(path, ast.parse(text))
    module_claims = parser.find_name_claims("pytestmark")
    for node in parser.tree.body:
        if isinstance(node, ast.ClassDef):
            outer_claims = module_claims | parser.find_claims(*node.decorator_list)
            yield from parser.iter_tests(node.body, outer_claims)
    yield from parser.iter_tests(parser.tree.body, module_claims)


class _MarkerParser:
    """A parser of the markers of one file."""

    def __init__(self, path: str, tree: ast.Module) -> None:
        self.path = path
        self.tree = tree
        self.values = {
            target.id: node.value
            for node in tree.body
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
            for target in _list_targets(node)
            if isinstance(target, ast.Name)
        }

    def iter_tests(self, body: Sequence[ast.stmt], outer_claims: set[int]) -> Iterator[MarkedTest]:
        """Yield the marked tests among the functions of a body."""
        for node in body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                claims = outer_claims | self.find_claims(*node.decorator_list)
                if claims:
                    yield MarkedTest(self.path, node.name, tuple(sorted(claims)))

    def find_name_claims(self, name: str) -> set[int]:
        """Return the claims in the value of a name of the module."""
        return self.find_claims(self.values[name]) if name in self.values else set()

    def find_claims(self, *nodes: ast.expr) -> set[int]:
        """Return the claims of all markers in expressions, and in the values of their names."""
        claims: set[int] = set()
        waiting: list[ast.AST] = list(nodes)
        seen: set[str] = set()
        while waiting:
            node = waiting.pop()
            if self._is_marker(node):
                assert isinstance(node, ast.Call)
                claims.update(number for one in node.args for number in self._parse_numbers(one))
                continue
            if isinstance(node, ast.Name) and node.id in self.values and node.id not in seen:
                seen.add(node.id)
                waiting.append(self.values[node.id])
            waiting += ast.iter_child_nodes(node)
        return claims

    def _is_marker(self, node: ast.AST) -> bool:
        """Return whether a node is a call of the `claims` marker."""
        if not isinstance(node, ast.Call):
            return False
        called: ast.expr | None = node.func
        if isinstance(called, ast.Name):
            called = self.values.get(called.id)
        return isinstance(called, ast.Attribute) and called.attr == "claims"

    def _parse_numbers(self, argument: ast.expr) -> tuple[int, ...]:
        """Return the numbers of one argument: a number, or a starred list of numbers."""
        expression = argument.value if isinstance(argument, ast.Starred) else argument
        try:
            value = ast.literal_eval(expression)
        except ValueError:
            value = None
        numbers = (value,) if isinstance(value, int) else tuple(value or ())
        if not numbers or not all(isinstance(number, int) for number in numbers):
            what = (
                f"{self.path}:{argument.lineno}: write the numbers of a claims marker as literals"
            )
            raise ValueError(what)
        return numbers


def _list_targets(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    """Return the targets of an assignment."""
    return node.targets if isinstance(node, ast.Assign) else [node.target]


@cache
def find_marked_tests() -> tuple[MarkedTest, ...]:
    """Return all marked tests of the repository, sorted by path."""
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    return tuple(
        one
        for path in paths
        for one in parse_marked_tests(
            path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        )
    )


@dataclass(frozen=True)
class Evidence:
    """The rules and tests that check claims.

    Args:
        rules: all rules of the package, by code.
        tests: all tests that are marked with claims.
    """

    rules: Sequence[type[Rule]]
    tests: Sequence[MarkedTest]

    def find_rules(self, number: int) -> list[type[Rule]]:
        """Return the rules that check a claim."""
        return [rule for rule in self.rules if number in rule.claims]

    def find_tests(self, number: int) -> list[MarkedTest]:
        """Return the tests that are marked with a claim."""
        return [one for one in self.tests if number in one.claims]


def find_evidence(rules: Mapping[str, type[Rule]] = RULES) -> Evidence:
    """Return rowkey's own rules and the tests of this repository that check claims."""
    rowkey_rules = (rule for rule in rules.values() if rule.__module__.startswith("rowkey."))
    return Evidence(sorted(rowkey_rules, key=lambda rule: rule.code), find_marked_tests())


def check_claims(book: ClaimsFile, evidence: Evidence) -> Iterator[str]:
    """Yield each mistake in the claims or in their rules and tests, as a sentence."""
    numbers = [claim.number for claim in book.claims]
    if numbers != list(range(1, CLAIM_COUNT + 1)):
        yield f"the claims are numbered {numbers}; expected 1 to {CLAIM_COUNT}"
    for claim in book.claims:
        yield from _check_claim(claim, book, evidence)
    for source, claims in _iter_claim_numbers(evidence):
        for number in claims:
            if number not in numbers:
                yield f"{source} refers to claim {number}, which does not exist"
    listed = [number for subject in book.subjects for number in subject.claims]
    expected = [claim.number for claim in book.claims if claim.verdict != "agrees"]
    if sorted(listed) != expected:
        yield f"subjects lead with claims {sorted(listed)}; expected each of {expected} once"


def _check_claim(claim: Claim, book: ClaimsFile, evidence: Evidence) -> Iterator[str]:
    """Yield each mistake in one claim as a sentence."""
    name = f"claim {claim.number}"
    if claim.verdict not in VERDICTS:
        yield f"{name}: the verdict is {claim.verdict!r}; expected one of {', '.join(VERDICTS)}"
    if any(number not in range(len(book.documents)) for number in claim.documents):
        yield f"{name}: unknown document among {claim.documents}"
    for sentence in filter(None, (claim.says, claim.today)):
        if not sentence.endswith(".") or not (
            sentence[0].isupper() or sentence[0] in "`1234567890"
        ):
            yield f"{name}: {sentence!r} is not a sentence"
    if claim.verdict != "agrees" and not claim.today:
        yield f"{name} is {claim.verdict}, and today says nothing"
    rules = evidence.find_rules(claim.number)
    if rules and claim.no_rule:
        yield f"{name} has no_rule, but {rules[0].code} checks it"
    if not rules and not claim.no_rule:
        yield f"{name}: no rule checks it, and no_rule gives no reason"
    tests = evidence.find_tests(claim.number)
    if tests and claim.no_test:
        yield f"{name} has no_test, but {tests[0].name} checks it"
    if not tests and not claim.no_test:
        yield f"{name}: no test is marked with it, and no_test gives no reason"


def _iter_claim_numbers(evidence: Evidence) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield each rule and test with the claims it refers to."""
    yield from ((rule.code, rule.claims) for rule in evidence.rules)
    yield from ((f"{one.path}, {one.name},", one.claims) for one in evidence.tests)


def read_claims() -> Any:
    """Read `claims.toml`."""
    return parse_claims(DATA.read_text(encoding="utf-8"))
