"""The catalogue of rules as text for people and as a JSON document for machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from rowkey import lint
from rowkey.render.documents import FORMAT_VERSION

if TYPE_CHECKING:
    from rowkey.lint import Rule

RULES_FIELDS = {
    "format": "version of this document",
    "rules[].code": "the rule's code",
    "rules[].name": "its name, as a comment in a file may allow it",
    "rules[].severity": "error, warning or info; single findings may differ",
    "rules[].summary": "what it finds, in a few words",
    "rules[].description": "what it looks for",
    "rules[].reason": "why that hurts",
    "rules[].remedy": "what to write instead",
    "rules[].source": "where the rule and its figures are from",
    "rules[].claims[]": "numbers of the claims of the sources that it answers",
    "rules[].bad": "a design file in which it finds something",
    "rules[].good": "the same design without the finding",
}


def build_rules_document(rules: Iterable[type[Rule]]) -> dict[str, Any]:
    """Return lint rules as `rowkey rules -f json` prints them."""
    return {"format": FORMAT_VERSION, "rules": [_build_rule(rule) for rule in rules]}


def _build_rule(rule: type[Rule]) -> dict[str, Any]:
    sections = rule.parse_docstring()
    return {
        "code": rule.code,
        "name": lint.format_rule_name(rule.name),
        "severity": rule.severity,
        "summary": sections.summary,
        "description": _join_lines(sections.description),
        "reason": _join_lines(sections.reason),
        "remedy": _join_lines(sections.remedy),
        "source": _join_lines(sections.source),
        "claims": list(rule.claims),
        "bad": rule.bad_design,
        "good": rule.good_design,
    }


def _join_lines(text: str) -> str:
    """Return a docstring section as one line that begins with a capital letter."""
    line = " ".join(text.split())
    return line[:1].upper() + line[1:]


def format_rule_list(rules: Iterable[type[Rule]]) -> Iterator[str]:
    """Yield a line with code, severity, name and summary for each lint rule."""
    for rule in rules:
        yield (
            f"{rule.code}  {rule.severity:7}  {lint.format_rule_name(rule.name):24} "
            f"{rule.parse_docstring().summary}"
        )


def format_rule(rule: type[Rule]) -> Iterator[str]:
    """Yield the description of one lint rule with a bad and a good design."""
    document = _build_rule(rule)
    yield f"{rule.code} {document['name']} ({rule.severity}): {document['summary']}"
    titles = {
        "description": "What it does",
        "reason": "Why it hurts",
        "remedy": "Use instead",
        "source": "Source",
    }
    for word, title in titles.items():
        yield ""
        yield f"{title}: {document[word]}"
    for word in ("bad", "good"):
        yield ""
        yield f"{word.capitalize()}:"
        yield from (f"  {line}".rstrip() for line in document[word].splitlines())
