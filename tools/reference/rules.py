"""The page of rules, with the bad and the good design of each."""

from __future__ import annotations

from collections.abc import Iterator

from tools.reference.markdown import build_page, build_table, format_code, join_blocks
from tools.reference.plugins import iter_own_plugins

from rowkey.lint import RULES, Rule, format_rule_name


def build_rules_page() -> str:
    """The findings of `rowkey check` in valid designs.

    Each rule has a code and a name. To allow a finding, write a comment with the reason on its line
    or directly above: `# rowkey: allow NAME - reason`. Rules follow today's HBase. The numbers of
    claims are those of [the documents' claims](../where-the-books-are-wrong.md), each of which was
    checked. *Bad* is a design in which the rule has a finding, and *good* the same design after the
    fix; the tests run both.
    """
    return build_page(
        "Rules",
        build_rules_page,
        _format_overview(),
        *(format_rule(rule) for rule in _sort_rules()),
    )


def _sort_rules() -> Iterator[type[Rule]]:
    """Yield rowkey's own lint rules in the order of their codes."""
    plugins = (rule for _, rule in iter_own_plugins(RULES))
    yield from sorted(plugins, key=lambda rule: rule.code)


def _format_overview() -> str:
    """Return the table of all lint rules."""
    rows = (
        [
            f"[{rule.code}](#{rule.code.lower()}-{format_rule_name(rule.name)})",
            format_rule_name(rule.name),
            rule.severity,
            rule.parse_docstring().summary,
        ]
        for rule in _sort_rules()
    )
    return build_table(["code", "name", "severity", "finds"], rows)


def format_rule(rule: type[Rule]) -> str:
    """Return the section of one rule."""
    docs = rule.parse_docstring()
    claims = f"Claims of the sources: {', '.join(map(str, rule.claims))}." if rule.claims else ""
    return join_blocks(
        f"## {rule.code} {format_rule_name(rule.name)}",
        docs.summary,
        f"**What it does.** {_join_paragraphs(docs.description)}",
        f"**Why it hurts.** {_join_paragraphs(docs.reason)}",
        f"**Use instead.** {_join_paragraphs(docs.remedy)}",
        f"**Source.** {_join_paragraphs(docs.source)}",
        claims,
        f"Cause of a hot spot: {format_code(rule.cause)}." if rule.cause else "",
        f"Bad:\n\n```toml\n{rule.bad_design}```",
        f"Good:\n\n```toml\n{rule.good_design}```",
        f"Under this sample:\n\n```csv\n{_shorten_sample(rule.sample_csv)}```"
        if rule.sample_csv
        else "",
    )


def _join_paragraphs(text: str) -> str:
    """Return a text with each paragraph in one line, and with a capital first letter.

    The name of a setting keeps its small letter.
    """
    if "." not in text.partition(" ")[0].rstrip("."):
        text = text[:1].upper() + text[1:]
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _shorten_sample(data: str) -> str:
    """Return the first lines of a sample."""
    lines = data.splitlines(keepends=True)
    return "".join(lines[:6]) + ("…\n" if len(lines) > 6 else "")
