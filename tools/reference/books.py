"""The page on what five documents say of HBase: what is wrong first, with what holds it."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from tools.reference.claims import held, stated
from tools.reference.markdown import page, section, table

from rowkey.lint import spoken

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tools.reference.claims import Book, Claim, Holding, Subject


def where_the_books_are_wrong() -> str:
    """Five documents that teach how to design tables of HBase, held against HBase 2.6.

    Four are articles from the web, the fifth is a chapter of HBase's own book in translation. Most
    of what they say is right, and comes last. First comes what is not, question by question, with a
    figure or a command to try; every command was run to print what stands under it.

    *The book* is HBase's reference guide. *Computed* is what follows from arithmetic: it stands on
    this page, on [Choosing a key](guides/choosing-a-key.md), or in a test that is named. A claim is
    *held* by the [rules](reference/rules.md) with which `rowkey check` looks for it in a design,
    and by tests; where neither could be, it says why.
    """
    book, holding = stated(), held()
    return page(
        "Where the books are wrong",
        where_the_books_are_wrong,
        _counted(book),
        _documents(book),
        "## In a minute",
        _minute(book),
        *(_subject(subject, book, holding) for subject in book.subjects),
        "## What is right",
        _right(book, holding),
    )


def _counted(book: Book) -> str:
    counts = Counter(claim.verdict for claim in book.claims)
    claims = counts.total() - counts["figures"]
    return (
        f"Of {claims} claims {counts['agrees']} agree with today's HBase, {counts['partly']} agree "
        f"in part, {counts['wrong']} are wrong, and {counts['open']} leaves work undone. One more "
        "entry gives figures that all of them lack."
    )


def _documents(book: Book) -> str:
    lines = (f"* Document {number}: {what}." for number, what in enumerate(book.documents))
    return "The documents, by number and subject:\n\n" + "\n".join(lines)


def _minute(book: Book) -> str:
    rows = (
        [f"[{subject.question}](#{_anchor(subject.question)})", subject.answer]
        for subject in book.subjects
    )
    return table(["question", "answer"], rows)


def _anchor(heading: str) -> str:
    """The name under which a heading is linked.

    >>> _anchor("Should I salt?")
    'should-i-salt'
    """
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _subject(subject: Subject, book: Book, holding: Holding) -> str:
    claims = (_claim(book.claims[number - 1], holding) for number in subject.claims)
    return section(f"## {subject.question}", subject.answer, subject.text, "\n".join(claims))


_VERDICTS = {"partly": "right in part", "figures": "what is missing"}
"""Verdicts in words, where they are not their own."""


def _claim(claim: Claim, holding: Holding) -> str:
    """A claim that is not simply right, as an entry of a list."""
    plural = "s" if len(claim.documents) > 1 else ""
    by = f"document{plural} {_by(claim.documents)}" if claim.documents else ""
    return (
        f"* **{claim.number}**{f' ({by})' if by else ''}: *{claim.says}* "
        f"**{_VERDICTS.get(claim.verdict, claim.verdict).capitalize()}.** {claim.today} "
        f"Source: {claim.evidence}. {_held(claim, holding)}."
    )


def _by(documents: Iterable[int]) -> str:
    return ", ".join(map(str, documents))


def _right(book: Book, holding: Holding) -> str:
    rows = (
        [
            str(claim.number),
            _by(claim.documents),
            " ".join(filter(None, (claim.says, claim.today and f"*{claim.today}*"))),
            claim.evidence,
            _held(claim, holding),
        ]
        for claim in book.claims
        if claim.verdict == "agrees"
    )
    told = "What rowkey or HBase adds to a claim is slanted."
    return section(told, table(["claim", "document", "says", "source", "held"], rows))


def _held(claim: Claim, holding: Holding) -> str:
    """What holds a claim, and why no rule or test does, in a sentence without its full stop."""
    links = ", ".join(_holders(claim, holding))
    reasons = (("rule", claim.no_rule), ("test", claim.no_test))
    told = [f"Held by {links}"] if links else []
    why = [f"no {one}, because {reason}" for one, reason in reasons if reason]
    sentence = "; ".join([*told, *why])
    return sentence[:1].upper() + sentence[1:]


def _holders(claim: Claim, holding: Holding) -> Iterator[str]:
    """Links to the rules and to the tests that hold a claim."""
    for rule in holding.rules_of(claim.number):
        yield f"[{rule.code}](reference/rules.md#{rule.code.lower()}-{spoken(rule.name)})"
    for one in holding.tests_of(claim.number):
        yield f"[{one.name.removeprefix('test_').replace('_', ' ')}](../{one.path})"
