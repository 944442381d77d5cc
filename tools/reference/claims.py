"""The claims of five documents on HBase, each with its verdict, and what in this house holds it."""

from __future__ import annotations

import ast
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.lint import RULES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rowkey.lint import Rule

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).with_name("claims.toml")
CLAIMS = 88
"""Claims of the documents, numbered from 1."""
VERDICTS = ("wrong", "partly", "agrees", "figures", "open")


@dataclass(frozen=True)
class Claim:
    """One claim.

    Args:
        number: its number, from 1.
        says: what is claimed, in our own words.
        verdict: one of `VERDICTS`.
        evidence: where that is from: HBase's book, code or issues, or "computed".
        documents: the numbers of the documents that claim it; empty if none does.
        today: what HBase does, where that is more than yes.
        no_rule: why no rule holds it, as the end of a sentence; empty if one does.
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
    """A question that a reader has, and the claims that answer it wrongly.

    Args:
        question: as it would be asked.
        answer: in a sentence or two.
        claims: numbers of claims that are not simply right.
        text: what is known, with examples that run.
    """

    question: str
    answer: str
    claims: Sequence[int]
    text: str


@dataclass(frozen=True)
class Book:
    """All of the file.

    Args:
        documents: the subject of each document, from number 0 on.
        subjects: in the order of the page.
        claims: in the order of their numbers.
    """

    documents: Sequence[str]
    subjects: Sequence[Subject]
    claims: Sequence[Claim]


def book_of(text: str) -> Book:
    """The claims of a file.

    Raises:
        TypeError: an entry has an unknown word, or lacks one.
    """
    found = tomllib.loads(text)
    return Book(
        tuple(found["documents"]),
        tuple(Subject(**one) for one in found["subjects"]),
        tuple(Claim(**one) for one in found["claims"]),
    )


@dataclass(frozen=True)
class Marked:
    """A test that holds claims.

    Args:
        path: its file, from the root of the repository.
        name: its name.
        claims: the numbers in its markers, ascending.
    """

    path: str
    name: str
    claims: tuple[int, ...]


def marked_tests(path: str, text: str) -> Iterator[Marked]:
    """The tests of a file that are marked with claims, in their order.

    A marker may stand on a test, on its class, on the module as `pytestmark`, and among the marks
    of a parameter; its numbers must be written out.

    Raises:
        ValueError: they are not.
    """
    reading = _Reading(path, ast.parse(text))
    everywhere = reading.named("pytestmark")
    for node in reading.tree.body:
        if isinstance(node, ast.ClassDef):
            around = everywhere | reading.below(*node.decorator_list)
            yield from reading.tests(node.body, around)
    yield from reading.tests(reading.tree.body, everywhere)


class _Reading:
    """What the markers of one file say."""

    def __init__(self, path: str, tree: ast.Module) -> None:
        self.path = path
        self.tree = tree
        self.values = {
            target.id: node.value
            for node in tree.body
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
            for target in _targets(node)
            if isinstance(target, ast.Name)
        }

    def tests(self, body: Sequence[ast.stmt], around: set[int]) -> Iterator[Marked]:
        """The marked ones among the functions of a body."""
        for node in body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                claims = around | self.below(*node.decorator_list)
                if claims:
                    yield Marked(self.path, node.name, tuple(sorted(claims)))

    def named(self, name: str) -> set[int]:
        """The claims in the value of a name of the module."""
        return self.below(self.values[name]) if name in self.values else set()

    def below(self, *nodes: ast.expr) -> set[int]:
        """The claims of all markers in some expressions, and in the values of names in them."""
        found: set[int] = set()
        waiting: list[ast.AST] = list(nodes)
        seen: set[str] = set()
        while waiting:
            node = waiting.pop()
            if self._is_marker(node):
                assert isinstance(node, ast.Call)
                found.update(number for one in node.args for number in self._numbers(one))
                continue
            if isinstance(node, ast.Name) and node.id in self.values and node.id not in seen:
                seen.add(node.id)
                waiting.append(self.values[node.id])
            waiting += ast.iter_child_nodes(node)
        return found

    def _is_marker(self, node: ast.AST) -> bool:
        if not isinstance(node, ast.Call):
            return False
        called: ast.expr | None = node.func
        if isinstance(called, ast.Name):
            called = self.values.get(called.id)
        return isinstance(called, ast.Attribute) and called.attr == "claims"

    def _numbers(self, given: ast.expr) -> tuple[int, ...]:
        """The numbers of one argument: a number, or a starred list of them."""
        written = given.value if isinstance(given, ast.Starred) else given
        try:
            value = ast.literal_eval(written)
        except ValueError:
            value = None
        numbers = (value,) if isinstance(value, int) else tuple(value or ())
        if not numbers or not all(isinstance(number, int) for number in numbers):
            what = f"{self.path}:{given.lineno}: write the numbers of a claims marker out"
            raise ValueError(what)
        return numbers


def _targets(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def all_marked() -> tuple[Marked, ...]:
    """Every marked test of the repository, by path."""
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    return tuple(
        one
        for path in paths
        for one in marked_tests(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
    )


@dataclass(frozen=True)
class Holding:
    """What holds the claims to today's HBase.

    Args:
        rules: all rules of the package, by code.
        tests: all tests that are marked with claims.
    """

    rules: Sequence[type[Rule]]
    tests: Sequence[Marked]

    def rules_of(self, number: int) -> list[type[Rule]]:
        """The rules that answer a claim."""
        return [rule for rule in self.rules if number in rule.claims]

    def tests_of(self, number: int) -> list[Marked]:
        """The tests that hold a claim."""
        return [one for one in self.tests if number in one.claims]


def held(rules: Mapping[str, type[Rule]] = RULES) -> Holding:
    """What holds the claims: rowkey's own rules, and the tests of this repository."""
    own = (rule for rule in rules.values() if rule.__module__.startswith("rowkey."))
    return Holding(sorted(own, key=lambda rule: rule.code), all_marked())


def mistakes(book: Book, holding: Holding) -> Iterator[str]:
    """What is wrong with the claims, or with what holds them, a sentence each."""
    numbers = [claim.number for claim in book.claims]
    if numbers != list(range(1, CLAIMS + 1)):
        yield f"the claims are numbered {numbers}; expected 1 to {CLAIMS}"
    for claim in book.claims:
        yield from _mistakes_of(claim, book, holding)
    for told, claims in _all_held(holding):
        for number in claims:
            if number not in numbers:
                yield f"{told} holds claim {number}, which there is not"
    led = [number for subject in book.subjects for number in subject.claims]
    due = [claim.number for claim in book.claims if claim.verdict != "agrees"]
    if sorted(led) != due:
        yield f"subjects lead with claims {sorted(led)}; expected each of {due} once"


def _mistakes_of(claim: Claim, book: Book, holding: Holding) -> Iterator[str]:
    name = f"claim {claim.number}"
    if claim.verdict not in VERDICTS:
        yield f"{name}: the verdict is {claim.verdict!r}; expected one of {', '.join(VERDICTS)}"
    if any(number not in range(len(book.documents)) for number in claim.documents):
        yield f"{name}: there is no such document among {claim.documents}"
    for sentence in filter(None, (claim.says, claim.today)):
        if not sentence.endswith(".") or not (
            sentence[0].isupper() or sentence[0] in "`1234567890"
        ):
            yield f"{name}: {sentence!r} is no sentence"
    if claim.verdict != "agrees" and not claim.today:
        yield f"{name} is {claim.verdict}, and today says nothing"
    rules = holding.rules_of(claim.number)
    if rules and claim.no_rule:
        yield f"{name} has no_rule, and {rules[0].code} holds it"
    if not rules and not claim.no_rule:
        yield f"{name}: no rule holds it, and no_rule does not say why"
    tests = holding.tests_of(claim.number)
    if tests and claim.no_test:
        yield f"{name} has no_test, and {tests[0].name} holds it"
    if not tests and not claim.no_test:
        yield f"{name}: no test is marked with it, and no_test does not say why"


def _all_held(holding: Holding) -> Iterator[tuple[str, tuple[int, ...]]]:
    yield from ((rule.code, rule.claims) for rule in holding.rules)
    yield from ((f"{one.path}, {one.name},", one.claims) for one in holding.tests)


def stated() -> Any:
    """The claims as they stand in the file."""
    return book_of(DATA.read_text(encoding="utf-8"))
