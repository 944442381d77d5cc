"""Running the rules over a design."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from sys import maxsize
from typing import TYPE_CHECKING

from rowkey.design import Design
from rowkey.errors import InvalidArgument, SampleError
from rowkey.findings import SEVERITIES, Finding, Severity
from rowkey.hotspots import CauseFinding
from rowkey.lint.contract import Rule, format_rule_name
from rowkey.lint.rules import RULES
from rowkey.lint.subject import LintSubject, MeasuredWrites
from rowkey.messages import pluralize, suggest_name
from rowkey.open_file_limit import explain_shortage
from rowkey.proposals import ANOTHER_KEY, KEY_BY_SAMPLE
from rowkey.schema import FieldFacts

if TYPE_CHECKING:
    from rowkey.workload import SampleSummary

MAX_FINDINGS_PER_RULE = 1_000
"""Findings of one rule that are listed at most: as many as a file may have fields."""


@dataclass(frozen=True, slots=True)
class LintResult:
    """The findings of all rules in a design.

    Args:
        findings: the findings, in the order of the file, then of the codes.
        allowed_findings: the findings that comments in the file allow.
        sample: the summary of the sample; None without one.
        causes: the causes of hot spots that the design and the sample predict.
    """

    findings: tuple[Finding, ...]
    allowed_findings: tuple[Finding, ...] = ()
    sample: SampleSummary | None = None
    causes: tuple[CauseFinding, ...] = ()

    @property
    def unreported_causes(self) -> tuple[CauseFinding, ...]:
        """Return the predicted causes of hot spots that no rule reports."""
        reported = {rule.cause for rule in RULES.values()}
        return tuple(cause for cause in self.causes if cause.code not in reported)

    def filter_by_severity(self, severity: Severity) -> tuple[Finding, ...]:
        """Return the findings of a severity or a more serious one."""
        least = SEVERITIES.index(severity)
        return tuple(one for one in self.findings if one.rank >= least)


@explain_shortage
def check_design(
    design: Design,
    sample: SampleSummary | None = None,
    *,
    facts: Mapping[str, FieldFacts] | None = None,
    measured_writes: MeasuredWrites | None = None,
    sample_problem: SampleError | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> LintResult:
    """Check a design with the lint rules and return their findings.

    Args:
        design: the design.
        sample: the summary of a sample, as `JudgedDesign.sample`; if None, only the declaration is
            judged.
        facts: further facts of fields, by name.
        measured_writes: what a replay of the sample shows; None without a replay. What rules
            predict of the writes, and it does not show, is then a remark.
        sample_problem: why the declared sample cannot be read, if so.
        select: names, codes or beginnings of codes of the rules to run; all rules if empty.
        ignore: the same for the rules to leave out.

    Raises:
        InvalidArgument: no rule has such a code or name.

    Cost: a few milliseconds; tens of them with hundreds of regions, reads or fields.
    """
    rules = select_rules(select, ignore)
    subject = LintSubject(design, sample, facts or {}, measured_writes, sample_problem)
    # Comments that allow findings are checked against those of all rules.
    needs_all = bool(subject.allowances) and any(rule.runs_last for rule in rules)
    findings, allowed = _run_rules(subject, RULES.values() if needs_all else rules)
    if sample is None and design.splits.needs_sample:
        findings = [
            replace(one, remedy=KEY_BY_SAMPLE) if one.remedy == ANOTHER_KEY else one
            for one in findings
        ]
    codes = {rule.code for rule in rules}
    return LintResult(
        tuple(sorted((one for one in findings if one.code in codes), key=_build_sort_key)),
        tuple(one for one in allowed if one.code in codes),
        sample,
        tuple(subject.causes.values()) if any(rule.cause for rule in rules) else (),
    )


def _build_sort_key(finding: Finding) -> tuple[int, str, str]:
    """Return the sort key of a finding: its line, code and path."""
    return finding.line or maxsize, finding.code, finding.path


def _run_rules(
    subject: LintSubject, rules: Iterable[type[Rule]]
) -> tuple[list[Finding], list[Finding]]:
    """Run rules on a design and return their findings and the allowed findings."""
    findings = subject.earlier_findings
    allowed: list[Finding] = []
    counts: Counter[type[Rule]] = Counter()
    for rule, finding in _collect_findings(subject, rules):
        if not finding.line:
            finding = replace(finding, line=subject.find_line(finding.path))  # noqa: PLW2901
        if matches := [] if rule.runs_last else list(subject.find_allowances(finding)):
            first = matches[0]
            allowed.append(replace(finding, allowed_reason=first.reason, allowed_line=first.line))
            continue
        counts[rule] += 1
        if counts[rule] <= MAX_FINDINGS_PER_RULE:
            findings.append(finding)
    findings = list(_join_families(findings))
    findings += [
        _build_overflow_finding(rule, count - MAX_FINDINGS_PER_RULE)
        for rule, count in counts.items()
        if count > MAX_FINDINGS_PER_RULE
    ]
    return findings, allowed


def _join_families(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield findings, with one for all families that a rule finds the same in, where it says so."""
    groups: dict[tuple[str, Severity], list[Finding]] = {}
    for one in findings:
        groups.setdefault((one.code, one.severity), []).append(one)
    rules = {rule.code: rule for rule in RULES.values()}
    for (code, _), group in groups.items():
        joined = rules[code]().join_findings(group) if len(group) > 1 else None
        if joined is None:
            yield from group
            continue
        message, remedy = joined
        names = [one.evidence["family"] for one in group]
        evidence = {**group[0].evidence, "families": names}
        yield replace(group[0], message=message, remedy=remedy, evidence=evidence)


def _collect_findings(
    subject: LintSubject, rules: Iterable[type[Rule]]
) -> Iterator[tuple[type[Rule], Finding]]:
    """Yield each finding with its rule, in the order in which rules run."""
    ordered = sorted(rules, key=lambda kind: kind.code)
    warned = False
    for rule in ordered:
        if rule.runs_last:
            continue
        if (rule.looks_at_sample or rule.cause) and subject.sample is None:
            for allowance in subject.allowances:
                allowance.match_rule(format_rule_name(rule.name), rule.code)
        is_harmless = (
            rule.measured_by == "writes"
            and subject.is_harmless(rule.cause)
            and (subject.can_read_from_one_server or not rule.holds_for_reads)
        )
        for finding in rule().collect_findings(subject):
            warned |= rule.measured_by == "writes" and not is_harmless and finding.rank > 0
            yield rule, replace(finding, severity="info") if is_harmless else finding
    if not warned:
        yield from _report_measured_cause(subject, ordered)
    for rule in ordered:
        if rule.runs_last:
            for finding in rule().collect_findings(subject):
                yield rule, finding


def _report_measured_cause(
    subject: LintSubject, rules: Iterable[type[Rule]]
) -> Iterator[tuple[type[Rule], Finding]]:
    """Yield the largest cause that a replay shows, of which no rule has warned, as a warning."""
    if subject.measured_writes is None:
        return
    rules_by_cause = {rule.cause: rule for rule in rules if rule.cause}
    for cause in subject.measured_writes.causes:
        rule = rules_by_cause.get(cause.code)
        if rule is not None:
            finding = rule().build_finding(
                "key",
                cause.message,
                cause.remedy,
                value=str(subject.key),
                severity="warning",
                needs_key=cause.needs_key,
            )
            yield rule, replace(finding, evidence=cause.evidence)
            return


def _build_overflow_finding(rule: type[Rule], count: int) -> Finding:
    """Return the finding that says how many more findings of a rule are not listed."""
    message = (
        f"{pluralize(count, 'more finding')} of this rule {'is' if count == 1 else 'are'} "
        "not listed"
    )
    return rule().build_finding("", message, unlisted=count)


def select_rules(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> list[type[Rule]]:
    """Return the selected rules in the order of their codes.

    Args:
        select: names such as `monotone-lead`, codes, or beginnings of codes such as `RK1`, of the
            rules to return; all rules if empty.
        ignore: the same for the rules to leave out.

    Raises:
        InvalidArgument: no rule has such a code or name.

    >>> [rule.code for rule in select_rules(["RK00"])][:1]
    ['RK001']
    """
    rules = {rule.code: rule for rule in sorted(RULES.values(), key=lambda kind: kind.code)}
    selected = {rule for word in select for rule in _match_rules(word, rules, "--select")}
    ignored = {rule for word in ignore for rule in _match_rules(word, rules, "--ignore")}
    return [
        rule
        for rule in rules.values()
        if (not selected or rule in selected) and rule not in ignored
    ]


def _match_rules(selector: str, rules: Mapping[str, type[Rule]], path: str) -> Iterator[type[Rule]]:
    """Yield the rules with a name, a code, or the beginning of a code.

    Args:
        rules: all rules by code.

    Raises:
        InvalidArgument: there is no such rule.
    """
    one = rules.get(selector)
    matches = [one] if one else [rule for rule in rules.values() if _is_match(rule, selector)]
    if not matches:
        names = [format_rule_name(rule.name) for rule in rules.values()]
        what = f"no rule has the name or code {selector[:60]!r}"
        suggestion = suggest_name(selector.replace("_", "-"), names)
        raise InvalidArgument(
            path,
            what,
            "a rule's name, its code or the beginning of a code, such as RK1",
            suggestion,
        )
    yield from matches


def _is_match(rule: type[Rule], selector: str) -> bool:
    """Return whether a selector is a rule's name or the beginning of its code."""
    is_code = len(selector) > 2 and rule.code.startswith(selector.upper())
    return is_code or format_rule_name(rule.name) == selector.replace("_", "-").lower()
