"""The page of rules: what each says of itself, with its bad and its good design."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.reference.kinds import own
from tools.reference.markdown import code, page, section, table

from rowkey.lint import RULES, Rule, spoken

if TYPE_CHECKING:
    from collections.abc import Iterator


def rules() -> str:
    """What `rowkey check` finds in sound designs.

    Each rule has a code and a name. A finding is allowed by a comment on its line, or on the lines
    right above it, which gives the reason: `# rowkey: allow NAME - reason`. What rules say of the
    sources follows today's HBase; the numbers of claims are those of the sources' claims, each of
    which was checked. Under *bad* stands a design in which the rule finds something, and under
    *good* the same mended; the tests run both.
    """
    return page("Rules", rules, _overview(), *(told_rule(rule) for rule in _in_order()))


def _in_order() -> Iterator[type[Rule]]:
    kinds = (rule for _, rule in own(RULES))
    yield from sorted(kinds, key=lambda rule: rule.code)


def _overview() -> str:
    rows = (
        [
            f"[{rule.code}](#{rule.code.lower()}-{spoken(rule.name)})",
            spoken(rule.name),
            rule.severity,
            rule.told().summary,
        ]
        for rule in _in_order()
    )
    return table(["code", "name", "severity", "finds"], rows)


def told_rule(rule: type[Rule]) -> str:
    """The section of one rule."""
    told = rule.told()
    claims = f"Claims of the sources: {', '.join(map(str, rule.claims))}." if rule.claims else ""
    return section(
        f"## {rule.code} {spoken(rule.name)}",
        told.summary,
        f"**What it does.** {_joined(told.what)}",
        f"**Why it hurts.** {_joined(told.why)}",
        f"**Use instead.** {_joined(told.instead)}",
        f"**Source.** {_joined(told.source)}",
        claims,
        f"Cause of heat: {code(rule.cause)}." if rule.cause else "",
        f"Bad:\n\n```toml\n{rule.bad}```",
        f"Good:\n\n```toml\n{rule.good}```",
        f"Under this sample:\n\n```csv\n{_shortened(rule.data)}```" if rule.data else "",
    )


def _joined(text: str) -> str:
    """Paragraphs as they are, the lines of each as one, no indents; it begins as a sentence does.

    The name of a setting keeps its small letter.
    """
    if "." not in text.partition(" ")[0].rstrip("."):
        text = text[:1].upper() + text[1:]
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _shortened(data: str) -> str:
    lines = data.splitlines(keepends=True)
    return "".join(lines[:6]) + ("…\n" if len(lines) > 6 else "")
