"""What a design file allows: `# rowkey: allow monotone-lead - one writer, 10 rows a day`.

It stands on the line of a finding, or on comment lines right above it, and gives its reason.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding

_COMMENTS = re.compile(
    r'"""(?:[^\\]|\\.)*?"""|' r"'''.*?'''|" r'"(?:[^"\\\n]|\\.)*"|' r"'[^'\n]*'|" r"#([^\n]*)",
    re.DOTALL,
)
_NAME = r"(?:\w++|-++(?!\s))++"
_ALLOW = re.compile(
    rf"\s*+rowkey:\s*+allow\s++(?P<names>{_NAME}(?:\s*+,\s*+(?!because\s){_NAME})*+)"
    r"(?:\s*+(?:[-–—:]++|,?\s*+because)\s++(?P<why>\S.*+))?+\s*+",
    re.IGNORECASE,
)
"""It never goes back over what it has read: a comment may be as long as a file."""


@dataclass(slots=True)
class Allowance:
    """One comment that allows something.

    Args:
        line: its line, from 1.
        covers: the line it speaks of: its own, or the first below it that is no comment.
        names: names or codes of rules, as they are written.
        why: the reason; empty if none is given.
        used: the names among them that had something to allow, once the rules have run.
    """

    line: int
    covers: int
    names: tuple[str, ...]
    why: str
    used: set[str] = field(default_factory=set)

    def allows(self, finding: Finding) -> bool:
        """Whether it is meant for a finding; notes that it was needed."""
        if finding.line != self.covers:
            return False
        meant = [name for name in self.names if is_named(finding, name)]
        self.used.update(meant)
        return bool(meant)


def is_named(finding: Finding, name: str) -> bool:
    """Whether a name, with hyphens or underscores, or a code is that of a finding's rule."""
    return name.replace("_", "-").lower() == finding.name or name.upper() == finding.code


def allowances_in(text: str) -> Iterator[Allowance]:
    """The allowances of a design file, in its order.

    Args:
        text: the file, which is TOML.

    Cost: one pass over the text.

    >>> [one] = allowances_in("# rowkey: allow short-ttl - a test\\nkey = '[a]'")
    >>> one.covers, one.names, one.why
    (2, ('short-ttl',), 'a test')
    """
    found = []
    line = at = 1
    for match in _COMMENTS.finditer(text):
        said = _ALLOW.fullmatch(match[1]) if match[1] else None
        if said is not None:
            line += text.count("\n", at - 1, match.start())
            at = match.start() + 1
            found.append((line, said))
    covered = _covered(text) if found else {}
    for line, said in found:
        names = tuple(name.strip() for name in said["names"].split(","))
        yield Allowance(line, covered[line], names, (said["why"] or "").strip())


def _covered(text: str) -> dict[int, int]:
    """For each line, the one that a comment on it speaks of."""
    lines = text.split("\n")
    found = {len(lines): len(lines)}
    for line in range(len(lines) - 1, 0, -1):
        is_comment = lines[line - 1].lstrip().startswith("#")
        found[line] = found[line + 1] if is_comment else line
    return found
