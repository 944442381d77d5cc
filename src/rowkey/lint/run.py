"""The rules, run over a design."""

from __future__ import annotations

from dataclasses import dataclass, replace
from sys import maxsize
from typing import TYPE_CHECKING

from rowkey.errors import Refused, did_you_mean
from rowkey.lint.contract import spoken
from rowkey.lint.finding import SEVERITIES
from rowkey.lint.rules import KINDS
from rowkey.lint.subject import Subject
from rowkey.open_file_limit import explains_shortage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rowkey.design import Design
    from rowkey.heat import Finding as Foreseen
    from rowkey.lint.contract import Rule
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.seen import Seen
    from rowkey.schema import Facts

MOST_LISTED = 1_000
"""Findings of one rule that are listed: as many as a file may have fields."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """A finding that the file allows.

    Args:
        finding: what was found.
        why: the reason that the file gives.
        line: the line of the comment.
    """

    finding: Finding
    why: str
    line: int


@dataclass(frozen=True, slots=True)
class Findings:
    """What the rules say of a design.

    Args:
        found: what they found, in the order of the file, then of the codes.
        allowed: what they found and the file allows.
        seen: the sample that was looked at; None if there was none.
        causes: the causes of heat that the design shows by itself.
    """

    found: tuple[Finding, ...]
    allowed: tuple[Allowed, ...] = ()
    seen: Seen | None = None
    causes: tuple[Foreseen, ...] = ()

    @property
    def untold(self) -> tuple[Foreseen, ...]:
        """The causes of heat that no rule tells of."""
        told = {rule.cause for rule in KINDS.values()}
        return tuple(cause for cause in self.causes if cause.code not in told)

    def at_least(self, severity: Severity) -> tuple[Finding, ...]:
        """Those that matter as much as a severity, or more."""
        least = SEVERITIES.index(severity)
        return tuple(one for one in self.found if one.rank >= least)


@explains_shortage
def check(
    design: Design,
    seen: Seen | None = None,
    *,
    facts: Mapping[str, Facts] | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> Findings:
    """What the rules say of a design.

    Args:
        design: the design.
        seen: what a sample shows, from `look`; the declaration alone is judged if None.
        facts: what is known of the fields besides.
        select: beginnings of codes, or names, of the rules that are asked; all if none.
        ignore: the same of rules that are not.

    Raises:
        Refused: no rule has such a code or name.

    Cost: a few milliseconds; where regions, reads or fields are hundreds, tens of them.
    """
    rules = chosen(select, ignore)
    subject = Subject(design, seen, facts or {})
    found, allowed = _judged(subject)
    kept = {rule.code for rule in rules}
    return Findings(
        tuple(sorted((one for one in found if one.code in kept), key=_in_order)),
        tuple(one for one in allowed if one.finding.code in kept),
        seen,
        tuple(subject.causes.values()),
    )


def _in_order(finding: Finding) -> tuple[int, str, str]:
    return finding.line or maxsize, finding.code, finding.path


def _judged(subject: Subject) -> tuple[list[Finding], list[Allowed]]:
    """What all rules find, and what of it the file allows; those that look at the others last."""
    found: list[Finding] = []
    allowed: list[Allowed] = []
    for rule in sorted(KINDS.values(), key=lambda kind: (kind.after_others, kind.code)):
        unlisted = 0
        listed = len(found) + MOST_LISTED
        for bare in rule().findings(subject):
            one = bare if bare.line else replace(bare, line=subject.line_of(bare.path))
            meant = () if rule.after_others else subject.allowances_of(one.line)
            by = [allowance for allowance in meant if allowance.allows(one)]
            if by:
                allowed.append(Allowed(one, by[0].why, by[0].line))
            elif len(found) < listed:
                found.append(one)
            else:
                unlisted += 1
        if unlisted:
            found.append(_rest(rule, unlisted))
    return found, allowed


def _rest(rule: type[Rule], count: int) -> Finding:
    """What stands for the findings of a rule that are not listed: it is at no place of its own."""
    more = f"{count:,} more {'is' if count == 1 else 'are'} not listed"
    return rule().finding("", more, unlisted=count)


def chosen(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> list[type[Rule]]:
    """The rules that are asked for, in the order of their codes.

    Args:
        select: beginnings of codes, `RK1`, or names, `moving-front`; all rules if none.
        ignore: the same of rules that are left out.

    Raises:
        Refused: no rule has such a code or name.

    >>> [rule.code for rule in chosen(["RK00"])][:1]
    ['RK001']
    """
    every = sorted(KINDS.values(), key=lambda kind: kind.code)
    wanted = [rule for word in select for rule in _meant(word, every, "--select")]
    unwanted = [rule for word in ignore for rule in _meant(word, every, "--ignore")]
    return [rule for rule in every if (not wanted or rule in wanted) and rule not in unwanted]


def _meant(word: str, every: list[type[Rule]], path: str) -> Iterator[type[Rule]]:
    """The rules that a word means."""
    meant = [rule for rule in every if _is_meant(rule, word)]
    if not meant:
        names = [spoken(rule.name) for rule in every]
        what = f"no rule is called {word[:60]!r}"
        near = did_you_mean(word.replace("_", "-"), names)
        raise Refused(path, what, "a name, a code or its beginning, such as RK1", near)
    yield from meant


def _is_meant(rule: type[Rule], word: str) -> bool:
    is_code = len(word) > 2 and rule.code.startswith(word.upper())
    return is_code or spoken(rule.name) == word.replace("_", "-").lower()
