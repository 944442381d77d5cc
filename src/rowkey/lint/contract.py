"""What a rule answers: what it finds in a design, and what its page says."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.lint.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rowkey.lint.finding import Severity
    from rowkey.lint.subject import Subject


@dataclass(frozen=True, slots=True)
class Sections:
    """What the docstring of a rule says.

    Args:
        summary: its first sentence.
        what: what the rule looks for.
        why: why that hurts.
        instead: what to write instead.
        source: where the rule and its figures are from.
    """

    summary: str
    what: str
    why: str
    instead: str
    source: str


class Rule(ABC):
    """One thing that experience knows of table designs.

    Its docstring has a first sentence and the sections `What it does:`, `Why it hurts:`,
    `Use instead:` and `Source:`. `bad` and `good` are whole design files: the tests run them, the
    reference prints them.
    """

    name: ClassVar[str]
    """The name of its file; with hyphens it reads after "allow"."""
    code: ClassVar[str]
    """RK and three digits, of which the first is its group."""
    severity: ClassVar[Severity]
    claims: ClassVar[tuple[int, ...]] = ()
    """Numbers of the claims of the sources that it answers."""
    cause: ClassVar[str] = ""
    """The cause of heat that it foresees, if it does; `check` then tells it once."""
    after_others: ClassVar[bool] = False
    """Whether it looks at what the other rules found; such a rule cannot be allowed away."""
    bad: ClassVar[str]
    """A design file in which it finds something."""
    good: ClassVar[str]
    """The same, mended: no rule finds anything in it."""
    data: ClassVar[str] = ""
    """Rows of a CSV sample under which both are judged; empty for none."""
    also: ClassVar[tuple[str, ...]] = ()
    """Codes of other rules that find something in `bad` and must, for it is bad in several ways."""

    @abstractmethod
    def findings(self, subject: Subject) -> Iterator[Finding]:
        """What the rule finds.

        Args:
            subject: the design, and what is known of it.
        """

    def fixed(self, subject: Subject, finding: Finding) -> Mapping[tuple[str | int, ...], Any]:
        """The words to write instead, by their steps; nothing where no fix is safe.

        Safe is what changes no stored byte and answers every read as before: attributes of
        families, never the key. `("families", "d", "ttl"): None` takes a word away.

        Args:
            subject: the design in which it was found.
            finding: one of its own.
        """
        return {}

    def finding(
        self,
        path: str,
        what: str,
        remedy: str = "",
        *,
        value: Any = None,
        severity: Severity | None = None,
        verdict: str = "",
        line: int = 0,
        **evidence: Any,
    ) -> Finding:
        """A finding of this rule.

        Args:
            path: where, as `Subject.at` prints it.
            what: what is the case, with its figures, without a full stop at its end.
            remedy: what to write instead, as a sentence.
            value: the value it is about.
            severity: how much it matters, where that is not the same for all.
            verdict: where today's HBase differs from what the sources say, as a sentence.
            line: the line of the file, where it is not that of the path.
            evidence: the figures by name.
        """
        return Finding(
            self.code,
            spoken(self.name),
            severity or self.severity,
            path,
            what,
            remedy,
            value,
            evidence,
            verdict,
            line,
        )

    @classmethod
    def told(cls) -> Sections:
        """What its docstring says, section by section.

        Raises:
            AssertionError: a section is missing.
        """
        return sections_of(cleandoc(cls.__doc__ or ""))


_TITLES = ("What it does", "Why it hurts", "Use instead", "Source")
_HEADING = re.compile(rf"^({'|'.join(_TITLES)}):\s*", re.MULTILINE)


def sections_of(text: str) -> Sections:
    """The sections of a rule's docstring.

    >>> sections_of("It.\\n\\nWhat it does: a\\n\\nWhy it hurts: b\\n\\nUse instead: c\\n\\n"
    ...     "Source: d").instead
    'c'
    """
    summary, *rest = _HEADING.split(text)
    found = {title: body.strip() for title, body in zip(rest[::2], rest[1::2], strict=True)}
    assert tuple(found) == _TITLES, f"a rule's sections are {', '.join(_TITLES)}: {summary}"
    return Sections(" ".join(summary.split()), *found.values())


def spoken(name: str) -> str:
    """A rule's name as it is written in a comment and on the command line.

    >>> spoken("moving_front")
    'moving-front'
    """
    return name.replace("_", "-")
