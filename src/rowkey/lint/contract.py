"""The interface of a rule."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from rowkey.findings import Finding, Severity

if TYPE_CHECKING:
    from rowkey.design import KeyPath
    from rowkey.lint.subject import LintSubject


@dataclass(frozen=True, slots=True)
class RuleDoc:
    """The sections of a rule's docstring.

    Args:
        summary: its first sentence.
        description: the mistake that the rule looks for.
        reason: why the mistake hurts.
        remedy: what to write instead.
        source: the source of the rule and its figures.
    """

    summary: str
    description: str
    reason: str
    remedy: str
    source: str


MAX_STRAY_SHARE = 0.001
"""Share of sampled events below which those that overwrite another may just be recorded twice."""


class Rule(ABC):
    """One lint rule: finds a known mistake in table designs.

    Its docstring has a first sentence and the sections `What it does:`, `Why it hurts:`,
    `Use instead:` and `Source:`. `bad_design` and `good_design` are whole design files: the tests
    run them, the reference prints them.
    """

    name: ClassVar[str]
    """Its name in output and, with hyphens for underscores, in comments that allow it."""
    code: ClassVar[str]
    """RK and three digits, of which the first is its group."""
    severity: ClassVar[Severity]
    claims: ClassVar[tuple[int, ...]] = ()
    """Numbers of the claims in books and articles that the rule checks."""
    cause: ClassVar[str] = ""
    """The cause of hot spots that the rule predicts, if any; `check` then reports it once."""
    measured_by: ClassVar[Literal["", "writes", "reads"]] = ""
    """Which load a verdict measures in place of the rule's findings, which then decide nothing."""
    concerns_regions: ClassVar[bool] = False
    """Whether its remedy is about regions and their boundaries, which another key changes too."""
    holds_for_reads: ClassVar[bool] = False
    """Whether the writes that it finds uneven go where all rows are, so that reads go there too."""
    looks_at_sample: ClassVar[bool] = False
    """Whether it needs a sample for much of what it finds: without one, no allowance is idle."""
    runs_last: ClassVar[bool] = False
    """Whether it checks the findings of other rules; no comment can allow its findings."""
    bad_design: ClassVar[str]
    """An example design file that breaks the rule."""
    good_design: ClassVar[str]
    """The same design file without the mistake; no rule has a finding in it."""
    sample_csv: ClassVar[str] = ""
    """Rows of a CSV sample by which both examples are judged; empty for none."""
    announced_codes: ClassVar[tuple[str, ...]] = ()
    """Codes of other rules that find something once its remedy is followed, as the remedy says."""
    other_codes: ClassVar[tuple[str, ...]] = ()
    """Codes of other rules that `bad_design` breaks as well."""

    @abstractmethod
    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each place of a design that breaks the rule.

        Args:
            subject: the design and its facts.
        """

    def join_findings(self, findings: Sequence[Finding]) -> tuple[str, str] | None:
        """Return the message and the remedy of one finding for several families.

        None if each stays a finding of its own.

        Args:
            findings: the findings of this rule with one severity, which no comment allows; each
                has the `family` in its evidence.
        """
        return None

    def build_fix(self, subject: LintSubject, finding: Finding) -> Mapping[KeyPath, Any]:
        """Return the options of the design file to change, by path; empty if no fix is safe.

        A fix is safe if it changes no stored byte and no answer of a read: it may change attributes
        of families, never the key. `("families", "d", "ttl"): None` removes an option.

        Args:
            subject: the design with the finding.
            finding: a finding of this rule.
        """
        return {}

    @classmethod
    def format_general_advice(cls, finding: Finding) -> str:
        """Return what helps where the remedy that a finding writes out does not."""
        advice = " ".join(cls.parse_docstring().remedy.split())
        return advice.removesuffix(".").partition(". ")[0]

    def build_finding(
        self,
        path: str,
        message: str,
        remedy: str = "",
        *,
        value: Any = None,
        severity: Severity | None = None,
        verdict: str = "",
        line: int = 0,
        needs_key: bool = False,
        **evidence: Any,
    ) -> Finding:
        """Return a finding with this rule's code and name.

        Args:
            path: the place in the design, as `LintSubject.format_path` prints it.
            message: the problem with its figures, as a sentence without its full stop.
            remedy: what to write instead, as a sentence.
            value: the value that the finding is about.
            severity: the severity, if it is not that of the rule.
            verdict: where today's HBase differs from the sources, as a sentence.
            line: the line of the file, if it is not that of the path.
            needs_key: whether another key is the remedy.
            evidence: the figures by name.
        """
        return Finding(
            self.code,
            message,
            remedy,
            path=path,
            severity=severity or self.severity,
            name=format_rule_name(self.name),
            value=value,
            evidence=evidence,
            verdict=verdict,
            line=line,
            needs_key=needs_key,
        )

    @classmethod
    def parse_docstring(cls) -> RuleDoc:
        """Return the sections of this rule's docstring.

        Raises:
            AssertionError: a section is missing.
        """
        return parse_rule_doc(cleandoc(cls.__doc__ or ""))


_SECTION_TITLES = ("What it does", "Why it hurts", "Use instead", "Source")
_HEADING = re.compile(rf"^({'|'.join(_SECTION_TITLES)}):\s*", re.MULTILINE)


def parse_rule_doc(text: str) -> RuleDoc:
    """Parse a rule's docstring into its sections.

    >>> parse_rule_doc("It.\\n\\nWhat it does: a\\n\\nWhy it hurts: b\\n\\nUse instead: c\\n\\n"
    ...     "Source: d").remedy
    'c'
    """
    summary, *pieces = _HEADING.split(text)
    sections = {title: body.strip() for title, body in zip(pieces[::2], pieces[1::2], strict=True)}
    assert tuple(sections) == _SECTION_TITLES, (
        f"a rule's sections are {', '.join(_SECTION_TITLES)}: {summary}"
    )
    return RuleDoc(" ".join(summary.split()), *sections.values())


def format_rule_name(name: str) -> str:
    """Return a rule's name with hyphens, as comments and the command line write it.

    >>> format_rule_name("moving_front")
    'moving-front'
    """
    return name.replace("_", "-")
