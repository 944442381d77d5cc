"""The page on the claims of five documents on HBase, wrong ones first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tools.reference.claims import find_evidence, read_claims
from tools.reference.markdown import build_page, build_table, join_blocks

from rowkey.lint import format_rule_name

if TYPE_CHECKING:
    from tools.reference.claims import Claim, ClaimsFile, Evidence, Subject


def build_claims_page() -> str:
    """Five documents that teach how to design HBase tables, compared with HBase 2.6.

    Four are articles from the web, the fifth is a chapter of HBase's own book in translation. Most
    of their claims are right; these come last. The others come first, question by question, with a
    figure or a command to try. The output of every command is real.

    *The book* is HBase's reference guide. *Computed* verdicts follow from arithmetic on this page,
    on [Choosing a key](guides/choosing-a-key.md), or in the named test. *Checked by* lists the
    [rules](reference/rules.md) of `rowkey check` and the tests for a claim, or says why there are
    none.
    """
    book, evidence = read_claims(), find_evidence()
    return build_page(
        "Where the books are wrong",
        build_claims_page,
        _format_counts(book),
        _format_documents(book),
        "## In a minute",
        _format_overview(book),
        *(_format_subject(subject, book, evidence) for subject in book.subjects),
        "## What is right",
        _format_right_claims(book, evidence),
    )


def _format_counts(book: ClaimsFile) -> str:
    """Return the sentence that counts claims by verdict."""
    counts = Counter(claim.verdict for claim in book.claims)
    claims = counts.total() - counts["figures"]
    return (
        f"Of {claims} claims {counts['agrees']} agree with today's HBase, {counts['partly']} agree "
        f"in part, {counts['wrong']} are wrong, and {counts['open']} is incomplete. One more "
        "entry gives figures that all documents lack."
    )


def _format_documents(book: ClaimsFile) -> str:
    """Return the list of documents."""
    lines = (f"* Document {number}: {what}." for number, what in enumerate(book.documents))
    return "The documents, by number and subject:\n\n" + "\n".join(lines)


def _format_overview(book: ClaimsFile) -> str:
    """Return the table of questions and short answers."""
    rows = (
        [f"[{subject.question}](#{_format_anchor(subject.question)})", subject.answer]
        for subject in book.subjects
    )
    return build_table(["question", "answer"], rows)


def _format_anchor(heading: str) -> str:
    """Return the anchor of a heading.

    >>> _format_anchor("Should I salt?")
    'should-i-salt'
    """
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _format_subject(subject: Subject, book: ClaimsFile, evidence: Evidence) -> str:
    """Return the section of one question with its claims."""
    claims = (_format_claim(book.claims[number - 1], evidence) for number in subject.claims)
    return join_blocks(f"## {subject.question}", subject.answer, subject.text, "\n".join(claims))


_VERDICTS = {"partly": "right in part", "figures": "what is missing"}
"""The texts of verdicts that differ from their names."""


def _format_claim(claim: Claim, evidence: Evidence) -> str:
    """Return a claim that is not simply right, as an item of a list."""
    plural = "s" if len(claim.documents) > 1 else ""
    sources = f"document{plural} {_format_numbers(claim.documents)}" if claim.documents else ""
    return (
        f"* **{claim.number}**{f' ({sources})' if sources else ''}: *{claim.says}* "
        f"**{_VERDICTS.get(claim.verdict, claim.verdict).capitalize()}.** {claim.today} "
        f"Source: {claim.evidence}. {_format_evidence(claim, evidence)}."
    )


def _format_numbers(documents: Iterable[int]) -> str:
    """Return numbers of documents, separated by commas."""
    return ", ".join(map(str, documents))


def _format_right_claims(book: ClaimsFile, evidence: Evidence) -> str:
    """Return the table of claims that are right."""
    rows = (
        [
            str(claim.number),
            _format_numbers(claim.documents),
            " ".join(filter(None, (claim.says, claim.today and f"*{claim.today}*"))),
            claim.evidence,
            _format_evidence(claim, evidence),
        ]
        for claim in book.claims
        if claim.verdict == "agrees"
    )
    evidence_text = "Remarks in italics are added to the claim."
    return join_blocks(
        evidence_text, build_table(["claim", "document", "text", "source", "checked by"], rows)
    )


def _format_evidence(claim: Claim, evidence: Evidence) -> str:
    """Return the rules and tests of a claim, or why there are none, without a full stop."""
    links = ", ".join(_iter_links(claim, evidence))
    reasons = (("rule", claim.no_rule), ("test", claim.no_test))
    evidence_text = [f"Checked by {links}"] if links else []
    reason_texts = [f"no {one}, because {reason}" for one, reason in reasons if reason]
    sentence = "; ".join([*evidence_text, *reason_texts])
    return sentence[:1].upper() + sentence[1:]


def _iter_links(claim: Claim, evidence: Evidence) -> Iterator[str]:
    """Yield links to the rules and the tests of a claim."""
    for rule in evidence.find_rules(claim.number):
        yield f"[{rule.code}](reference/rules.md#{rule.code.lower()}-{format_rule_name(rule.name)})"
    for one in evidence.find_tests(claim.number):
        yield f"[{one.name.removeprefix('test_').replace('_', ' ')}](../{one.path})"
