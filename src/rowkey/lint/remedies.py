"""Trying what remedies write out: a remedy that brings another finding is not proposed."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rowkey.design import Design
from rowkey.errors import InvalidDesign
from rowkey.findings import Finding
from rowkey.lint.checker import LintResult, check_design
from rowkey.lint.contract import Rule
from rowkey.lint.rules import RULES
from rowkey.messages import Message

if TYPE_CHECKING:
    Options = dict[str, Any]
    Change = Callable[[Options, Finding, re.Match[str]], Options | None]

MAX_FINDINGS = 64
"""Findings of a design up to which remedies are tried: each trial costs a check of the design."""
_SPLITS = re.compile(r'splits = ("\w+"|\{[^}]*\})')


def verify_remedies(
    design: Design, result: LintResult, *, is_measured: bool, ignore: Sequence[str] = ()
) -> LintResult:
    """Return findings without the remedies that, once followed, leave or bring a finding.

    What a remedy writes out of the key, the splits, the servers and the families is applied, and
    the rules judge the design again, without a replay. In place of a remedy that fails comes what
    its rule advises in general. Splits at quantiles of a sample are not tried before there is one,
    and nothing is tried in a design with more than `MAX_FINDINGS` findings.

    Args:
        design: the design with the findings.
        result: the findings of the rules in it.
        is_measured: whether a replay of a sample judged the writes, which the rules cannot foresee.
        ignore: codes or names of the rules that are left out.

    Cost: that of `check_design` for each different design that remedies write out. A key that the
    search recommends was judged by it. Another one is not tried where there is a sample, whose keys
    are those of the present one.
    """
    if len(result.findings) > MAX_FINDINGS:
        return result
    rules = {rule.code: rule for rule in RULES.values()}
    trials = _Trials(design, result, rules, is_measured=is_measured, ignore=ignore)
    findings = []
    for finding in result.findings:
        is_tried = finding.code in rules and not finding.needs_key
        brought = trials.find_brought_codes(finding) if is_tried else []
        if brought:
            general = rules[finding.code].format_general_advice(finding)
            remedy = Message(
                "remedy.brings_another",
                "{general}. The change that follows from the figures alone would not do: {codes}.",
                general=f"{general[:1].upper()}{general[1:]}",
                codes=" and ".join(brought),
            )
            finding = replace(finding, remedy=remedy)  # noqa: PLW2901
        findings.append(finding)
    return replace(result, findings=tuple(findings))


def list_remedied_designs(design: Design, finding: Finding) -> list[Design] | None:
    """Return the design that a finding's remedy writes out, as a list of one.

    The list is empty if the remedy is only prose or changes nothing; None stands for a remedy that
    does not give a valid design.

    Args:
        design: the design with the finding.
        finding: the finding with the remedy.
    """
    options = design.declaration.model_dump(by_alias=True, exclude_defaults=True)
    for pattern, change in _CHANGES:
        if match := re.search(pattern, finding.remedy):
            changed = change(json.loads(json.dumps(options)), finding, match)
            if changed is None or changed == options:
                return []
            try:
                remedied = design.copy_with_options(**changed)
            except InvalidDesign:
                return None
            remedied.companions = design.companions  # they serve the same reads
            return [remedied]
    return []


class _Trials:
    """The designs that remedies write out, each judged once by the rules.

    Args:
        design: the design with the findings.
        result: the findings of the rules in it.
        rules: the rules by code.
        is_measured: whether a replay judged the writes.
        ignore: codes or names of the rules that are left out.
    """

    def __init__(
        self,
        design: Design,
        result: LintResult,
        rules: Mapping[str, type[Rule]],
        *,
        is_measured: bool,
        ignore: Sequence[str],
    ) -> None:
        self._design = design
        self._result = result
        self._rules = rules
        self._ignore = ignore
        self._measured_codes = {
            code for code, rule in rules.items() if is_measured and rule.measured_by == "writes"
        }
        self._known: dict[str, dict[tuple[str, str], int]] = {}

    @cached_property
    def _present_ranks(self) -> dict[tuple[str, str], int]:
        """Return the severity of each present finding, also if allowed or softened by a replay."""
        present = self._result
        foreseen = check_design(self._design, present.sample, ignore=self._ignore)
        return _rank_findings([*present.findings, *present.allowed_findings, *foreseen.findings])

    def find_brought_codes(self, finding: Finding) -> list[str]:
        """Return what rules find in the design that a remedy writes out, and did not find before.

        Its own rule is among them if the finding stays.
        """
        designs = list_remedied_designs(self._design, finding)
        if designs is None:
            return ["no design can have it"]
        for design in designs:
            if design.splits.needs_sample and self._result.sample is None:
                return []
            has_other_key = design.declaration.key != self._design.declaration.key
            if has_other_key and self._result.sample is not None:
                return []
            ranks = self._judge(design)
            if ranks.get(_identify(finding), -1) >= finding.rank:
                return [f"{finding.code} stays"]
            expected = {finding.code, *self._rules[finding.code].announced_codes}
            return [
                f"it brings {code}"
                for (code, place), rank in sorted(ranks.items())
                if rank >= finding.rank
                and self._present_ranks.get((code, place), -1) < rank
                and code not in expected
            ]
        return []

    def _judge(self, design: Design) -> dict[tuple[str, str], int]:
        """Return the severity of each finding in a design of which the rules are the judge."""
        identity = repr(design.declaration)
        if identity not in self._known:
            found = check_design(design, self._result.sample, ignore=self._ignore).findings
            self._known[identity] = _rank_findings(
                one for one in found if one.code not in self._measured_codes
            )
        return self._known[identity]


def _rank_findings(findings: Iterable[Finding]) -> dict[tuple[str, str], int]:
    """Return the greatest severity of each rule at each place."""
    ranks: dict[tuple[str, str], int] = {}
    for one in findings:
        ranks[_identify(one)] = max(one.rank, ranks.get(_identify(one), -1))
    return ranks


def _identify(finding: Finding) -> tuple[str, str]:
    """Return the rule of a finding, and its place where a remedy does not move it."""
    is_moved = finding.path in ("key", "splits") or "families" in finding.evidence
    return finding.code, "" if is_moved else finding.path


def _parse_value(text: str) -> Any:
    """Return a value as TOML writes it."""
    return tomllib.loads(f"value = {text}")["value"]


def _set_splits(options: Options, remedy: str) -> Options:
    """Set the splits that a remedy writes out, if any."""
    if found := _SPLITS.search(remedy):
        options["splits"] = _parse_value(found[1])
    return options


def _replace_key(options: Options, finding: Finding, match: re.Match[str]) -> Options | None:
    """Set the key, and the splits and options of fields that are written with it."""
    if finding.remedy.count("key = ") > 1:
        return None  # several tables
    changed = _set_splits({**options, "key": _parse_value(match[1])}, finding.remedy)
    for values, name in re.findall(r"heavy = (\[.*?\]) under (\w+)", finding.remedy):
        changed["fields"][name]["heavy"] = json.loads(values)
    for name in re.findall(r"unique = true under (\w+)", finding.remedy):
        changed["fields"][name]["unique"] = True
    return changed


def _replace_part(options: Options, finding: Finding, match: re.Match[str]) -> Options | None:
    """Replace a part of the key: the one that is named, or that of the finding."""
    new, old = match[1], match[2] or str(finding.value)
    if not old.startswith("[") or options["key"].count(old) != 1:
        return None
    changed = {**options, "key": options["key"].replace(old, new)}
    return _set_splits(changed, finding.remedy)


def _set_servers(options: Options, finding: Finding, match: re.Match[str]) -> Options:
    """Set the number of servers, and the splits that are written with it."""
    servers = int(match[1].replace(",", ""))
    cluster = {**options.get("cluster", {}), "servers": servers}
    return _set_splits({**options, "cluster": cluster}, finding.remedy)


def _set_buckets(options: Options, finding: Finding, match: re.Match[str]) -> Options | None:
    """Set the number of the first buckets of the key."""
    number = match[1].replace(",", "")
    pattern = r"(\[\w+\((?:[a-z]\w*, )*)\d+"
    key, count = re.subn(pattern, rf"\g<1>{number}", options["key"], count=1)
    return _set_splits({**options, "key": key}, finding.remedy) if count else None


def _set_regions(options: Options, _finding: Finding, match: re.Match[str]) -> Options | None:
    """Set the number of regions of a split algorithm."""
    splits, regions = options.get("splits"), int(match[1].replace(",", ""))
    if isinstance(splits, str) and splits != "per_bucket":
        splits = {"algorithm": splits}
    return (
        {**options, "splits": {**splits, "regions": regions}} if isinstance(splits, dict) else None
    )


def _set_only_splits(options: Options, finding: Finding, _match: re.Match[str]) -> Options:
    """Set the splits."""
    return _set_splits(options, finding.remedy)


def _set_family_option(options: Options, finding: Finding, match: re.Match[str]) -> Options | None:
    """Set an option of the family at the path of the finding, or of all its families."""
    place, *rest = finding.path.split(".")
    if place != "families" or not rest:
        return None
    for name in finding.evidence.get("families", rest[:1]):
        options.setdefault("families", {}).setdefault(name, {})[match[1]] = _parse_value(match[2])
    return options


_CHANGES: list[tuple[str, Change]] = [
    (r'\bkey = ("(?:[^"\\]|\\.)*")', _replace_key),
    (r"^Write (\[[^\]]+\])(?: instead(?: of (\[[^\]]+\]))?)?[.,]", _replace_part),
    (r"^Use (\d[\d,]*) servers\b", _set_servers),
    (r"^(?:Take|Use|Create) (\d[\d,]*) buckets\b", _set_buckets),
    (r"^(?:Take|Use|Create) (\d[\d,]*) regions\b", _set_regions),
    (r'^(?:Write|Use) splits = ["{]', _set_only_splits),
    (r'^[Ss]et (\w+) = ("[^"]+"|\d+|true|false)(?! on)', _set_family_option),
]  # fmt: skip
"""How a design is changed as a remedy writes it: the first that matches."""
