"""Comments that allow findings: `# rowkey: allow monotone-lead - one writer, 10 rows a day`.

Such a comment is on the line of a finding, or on the comment lines directly above it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_COMMENTS = re.compile(
    r'"""(?:[^\\]|\\.)*?"""|' r"'''.*?'''|" r'"(?:[^"\\\n]|\\.)*"|' r"'[^'\n]*'|" r"#([^\n]*)",
    re.DOTALL,
)
_RULE_NAME = r"(?:\w++|-++(?!\s))++"
_ALLOW_COMMENT = re.compile(
    rf"\s*+rowkey:\s*+allow\s++(?P<names>{_RULE_NAME}(?:\s*+,\s*+(?!because\s){_RULE_NAME})*+)"
    r"(?:\s*+(?:[-–—:]++|,?\s*+because)\s++(?P<why>\S.*+))?+\s*+",
    re.IGNORECASE,
)
"""The pattern of an allow comment. It never backtracks, because a comment may be very long."""


@dataclass(slots=True)
class Allowance:
    """One allow comment of a design file: the rules it names and its reason.

    Args:
        line: its line, from 1.
        covered_line: the line it covers: its own, or the first line below that is no comment.
        rule_names: names or codes of rules, as written.
        reason: the reason; empty if none is given.
    """

    line: int
    covered_line: int
    rule_names: tuple[str, ...]
    reason: str
    _folded: frozenset[str] = field(init=False)
    _unused: set[str] = field(init=False)

    def __post_init__(self) -> None:
        """Take every name for unused until a rule asks."""
        self._folded = frozenset(map(_fold_name, self.rule_names))
        self._unused = set(self._folded)

    def match_rule(self, name: str, code: str) -> bool:
        """Return whether the comment names a rule, and record that it is used."""
        meant = self._folded & {name, _fold_name(code)}
        self._unused -= meant
        return bool(meant)

    def find_unused_names(self) -> list[str]:
        """Return the names, as written, that allowed no finding, once the rules have run."""
        return [name for name in self.rule_names if _fold_name(name) in self._unused]


def _fold_name(written: str) -> str:
    """Return a rule's name or code as all spellings of it are compared."""
    return written.replace("_", "-").lower()


def parse_allowances(text: str) -> Iterator[Allowance]:
    """Yield the allow comments of a design file in its order.

    Args:
        text: the file, which is TOML.

    Cost: one pass over the text.

    >>> [one] = parse_allowances("# rowkey: allow short-ttl - a test\\nkey = '[a]'")
    >>> one.covered_line, one.rule_names, one.reason
    (2, ('short-ttl',), 'a test')
    """
    allow_matches = []
    line = at = 1
    for match in _COMMENTS.finditer(text):
        allow_match = _ALLOW_COMMENT.fullmatch(match[1]) if match[1] else None
        if allow_match is not None:
            line += text.count("\n", at - 1, match.start())
            at = match.start() + 1
            allow_matches.append((line, allow_match))
    covered = _map_covered_lines(text) if allow_matches else {}
    for line, allow_match in allow_matches:
        names = tuple(name.strip() for name in allow_match["names"].split(","))
        yield Allowance(line, covered[line], names, (allow_match["why"] or "").strip())


def _map_covered_lines(text: str) -> dict[int, int]:
    """Return, for each line of a file, the line that an allow comment on it covers."""
    lines = text.split("\n")
    covered_lines = {len(lines): len(lines)}
    for line in range(len(lines) - 1, 0, -1):
        is_comment = lines[line - 1].lstrip().startswith("#")
        covered_lines[line] = covered_lines[line + 1] if is_comment else line
    return covered_lines
