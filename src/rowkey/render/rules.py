"""The catalogue of rules, as text for people and as a document for machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.render.documents import FORMAT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rowkey.lint import Rule

RULES = {
    "format": "version of this document",
    "rules[].code": "the rule's code",
    "rules[].name": "its name, as a comment in a file may allow it",
    "rules[].severity": "error, warning or info; single findings may differ",
    "rules[].summary": "what it finds, in a few words",
    "rules[].what": "what it looks for",
    "rules[].why": "why that hurts",
    "rules[].instead": "what to write instead",
    "rules[].source": "where the rule and its figures are from",
    "rules[].claims[]": "numbers of the claims of the sources that it answers",
    "rules[].bad": "a design file in which it finds something",
    "rules[].good": "the same, mended",
}


def rules_document(rules: Iterable[type[Rule]]) -> dict[str, Any]:
    """The rules, as `rowkey rules -f json` prints them."""
    return {"format": FORMAT, "rules": [_rule(rule) for rule in rules]}


def _rule(rule: type[Rule]) -> dict[str, Any]:
    from rowkey.lint import spoken

    told = rule.told()
    return {
        "code": rule.code,
        "name": spoken(rule.name),
        "severity": rule.severity,
        "summary": told.summary,
        "what": _joined(told.what),
        "why": _joined(told.why),
        "instead": _joined(told.instead),
        "source": _joined(told.source),
        "claims": list(rule.claims),
        "bad": rule.bad,
        "good": rule.good,
    }


def _joined(text: str) -> str:
    """A section as one line, the first letter large."""
    line = " ".join(text.split())
    return line[:1].upper() + line[1:]


def rule_list(rules: Iterable[type[Rule]]) -> Iterator[str]:
    """The rules, one a line."""
    from rowkey.lint import spoken

    for rule in rules:
        yield f"{rule.code}  {rule.severity:7}  {spoken(rule.name):24} {rule.told().summary}"


def rule_lines(rule: type[Rule]) -> Iterator[str]:
    """All that one rule says of itself, with its bad and its good design."""
    told = _rule(rule)
    yield f"{rule.code} {told['name']} ({rule.severity}): {told['summary']}"
    titles = {
        "what": "What it does",
        "why": "Why it hurts",
        "instead": "Use instead",
        "source": "Source",
    }
    for word, title in titles.items():
        yield ""
        yield f"{title}: {told[word]}"
    for word in ("bad", "good"):
        yield ""
        yield f"{word.capitalize()}:"
        yield from (f"  {line}".rstrip() for line in told[word].splitlines())
