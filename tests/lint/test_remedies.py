"""Each remedy that is written out removes its finding and adds no other."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import rowkey
from lint.remedies import NOTATION, apply_remedy
from lint.test_bad_and_good_twins import TWINS
from rowkey.advise import JudgedDesign
from rowkey.design import Design
from rowkey.lint import RULES, LintSubject, check_design
from rowkey.regions import to_string_binary
from rowkey.simulate import run
from rowkey.workload import WorkloadGenerator
from samples import summarize_sample

if TYPE_CHECKING:
    from rowkey.findings import Finding
    from rowkey.lint import LintResult

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
ROOT = Path(__file__).parents[2]
SHIPPED_PATHS = [
    *sorted((ROOT / "examples").glob("*/*/*.toml")),
    *sorted((Path(rowkey.__file__).parent / "examples").glob("*/*.toml")),
]
BAD_DESIGNS = sorted(RULES, key=lambda name: RULES[name].code)
BAD_TWINS = {name: bad for name, ((_, bad, rows), _) in TWINS.items() if not rows}
ALL_DESIGNS = [
    *BAD_DESIGNS,
    *BAD_TWINS,
    *(path.relative_to(path.parents[2]).with_suffix("").as_posix() for path in SHIPPED_PATHS),
]
PATHS = dict(zip(ALL_DESIGNS[-len(SHIPPED_PATHS) :], SHIPPED_PATHS, strict=True))
SLOW_DESIGNS = (
    "proof/",
    "examples/flights/",
    "examples/apache/",
    "sources/behaviour/",
    "sources/devices/",
    "sources/follows/",
    "sources/logs/",
    "sources/metrics/",
    "sources/order_status/",
    "sources/orders_by_day/",
    "sources/orders_hashed/",
    "sources/salted/",
    "sources/waybills/",
    "few_leading_values",
    "full_scan_read",
    "hot_entity",
    "read_asks_every_bucket",
    "reversed_under_range",
    "ttl_behind_the_front",
    "unexplained_allowance",
    "uneven_regions",
    "unserved_order",
)
CASES = [name for name in ALL_DESIGNS if IS_LONG or not name.startswith(SLOW_DESIGNS)]
"""Without those that judge whole recordings, and most of those for which keys are searched."""

NOT_APPLIED = {
    "RK202": "where the splits are a list, which of them to add is the author's to say",
    "RK413": "how long what was deleted is to be read is the author's to say",
    "RK508": "which of the fields tells events apart is the author's to say",
}
"""Rules whose remedies write something out that needs a decision besides."""
EXPECTED_PAIRS = {
    ("RK410", "RK803"): "growth is told once a file declares its families, and then it does",
    ("RK104", "RK611"): "that a read of one value asks every bucket is the remedy, and told",
    ("RK103", "RK611"): "the same",
    ("RK201", "RK611"): "the same",
    ("RK123", "RK611"): "the same read asked more buckets before, which was told instead",
    ("RK101", "RK608"): "what a read returns is told once it is no full scan any more",
    ("RK102", "RK608"): "the same",
    ("RK102", "RK101"): "the replay keeps the front, which does no harm, and the read loses ranges",
    ("RK123", "RK101"): "the same",
    ("RK601", "RK608"): "what a read returns is told once it is no full scan any more",
    ("RK802", "RK201"): "here the quantiles are listed, and a list may miss keys of no sample",
}
"""What is found after a remedy that was not found before, and why it is not the remedy's doing."""
COST_REMARKS = (
    "then ask",
    "then scan more key ranges",
    "asks every bucket",
    "reads ask several buckets",
    "by adding up its rows",
)
"""Words by which a remedy says that some reads then read more ranges."""
TRIED, IN_PROSE = 111 if IS_LONG else 70, 130
"""Ways of remedies that are tried, at the least, and remedies in prose, at the most."""


@dataclass(frozen=True)
class Judgement:
    """The findings and the read costs of a design.

    Args:
        found: the findings of all rules, allowed or not.
        ranges: the number of ranges of each read; infinite for a full scan.
    """

    found: Sequence[Finding]
    ranges: Mapping[str, float]


@dataclass(frozen=True)
class AppliedRemedy:
    """A design with a remedy written into its file.

    Args:
        finding: the finding with the remedy.
        design: the design with the remedy.
        judgement: the findings and ranges of that design.
    """

    finding: Finding
    design: Design
    judgement: Judgement

    @property
    def key(self) -> str:
        """The key of the design with the remedy."""
        return self.design.declaration.key


@dataclass(frozen=True)
class Case:
    """A design with findings, and the designs with each remedy applied.

    Args:
        design: the design.
        judgement: its findings and ranges.
        tried: the design with each alternative of each remedy that is written out.
    """

    design: Design
    judgement: Judgement
    tried: Sequence[AppliedRemedy]


Cases = Callable[[str], Case]


@pytest.fixture(scope="module")
def load_case(tmp_path_factory: pytest.TempPathFactory) -> Cases:
    """Check a rule's bad design or a shipped one, with all its remedies, once."""

    @cache
    def case(name: str) -> Case:
        if name in PATHS:
            design = Design.read(PATHS[name])
            sample = design.sample_path
        elif name in BAD_TWINS:
            design, sample = Design.loads(BAD_TWINS[name], source="design.toml"), None
        else:
            design = Design.loads(RULES[name].bad_design, source="design.toml")
            sample = tmp_path_factory.mktemp(name) / "rows.csv" if RULES[name].sample_csv else None
            if sample is not None:
                sample.write_text(RULES[name].sample_csv)
        judged = JudgedDesign(design, sample, names_keys=True)
        first = judge_design(design, sample, judged.lint_result)
        tried = [
            AppliedRemedy(one, made, judge_design(set_sample_splits(made, sample), sample))
            for one in first.found
            if one.code not in NOT_APPLIED
            for made in apply_remedy(design, one)
        ]
        return Case(design, first, tried)

    return case


def judge_design(
    design: Design, sample: Path | None, result: LintResult | None = None
) -> Judgement:
    """Return the findings of a design under a sample, and the ranges of its reads.

    Args:
        design: the design.
        sample: the sample.
        result: its findings with the keys that a search recommends; without them if None.
    """
    seen = None if sample is None else summarize_sample(design, sample)
    found = result or check_design(design, seen)
    ranges = {
        one.read.name: inf if one.plan.is_full_scan else one.plan.fan_out
        for one in LintSubject(design, seen).reads
        if one.plan is not None
    }
    return Judgement([*found.findings, *found.allowed_findings], ranges)


def count_findings(found: Sequence[Finding], code: str) -> Counter[str]:
    """Count the findings of a rule by path, or by name for reads."""
    return Counter(
        str(one.value) if one.path.startswith("reads") else one.path
        for one in found
        if one.code == code
    )


@pytest.mark.parametrize("name", CASES)
def test_a_design_with_the_written_remedy_lacks_the_finding(load_case: Cases, name: str) -> None:
    """A design with the remedy loads, lacks the finding, and has no new finding."""
    case = load_case(name)
    codes = {one.code for one in case.judgement.found}
    for tried in case.tried:
        code, after = tried.finding.code, tried.judgement.found
        (place,) = count_findings([tried.finding], code)
        told = f"{tried.finding.remedy} {tried.key}"
        assert (
            count_findings(case.judgement.found, code)[place] > count_findings(after, code)[place]
        ), told
        came = [str(one) for one in after if one.code not in codes]
        assert [] == [one for one in came if not _is_known(code, one)], told


def _is_known(mended: str, came: str) -> bool:
    """Return whether a new finding after a remedy is announced by it, or an expected one."""
    (rule,) = (one for one in RULES.values() if one.code == mended)
    expected = [other for one, other in EXPECTED_PAIRS if one == mended]
    return any(code in came for code in (*rule.announced_codes, *expected))


@pytest.mark.parametrize("name", CASES)
def test_no_remedy_raises_the_ranges_of_a_read_without_saying_so(
    load_case: Cases, name: str
) -> None:
    """Each declared read needs no more ranges after a remedy than before."""
    case = load_case(name)
    for tried in case.tried:
        then = tried.judgement.ranges
        dearer = [read for read, ranges in then.items() if case.judgement.ranges[read] < ranges]
        remedy = tried.finding.remedy
        assert not dearer or any(words in remedy for words in COST_REMARKS), (remedy, dearer)


LOAD_RULE_NAMES = {name for name, rule in RULES.items() if getattr(rule, "cause", None)}
LOAD_RULES = {RULES[name].code for name in LOAD_RULE_NAMES}
"""Rules that tell of a cause of heat."""
MAX_SKEW_RATIO = 0.95
"""What is left of the skew once a remedy against heat is written into the file, at the most."""


@pytest.mark.parametrize("name", [name for name in CASES if name in LOAD_RULE_NAMES])
def test_a_remedy_against_a_hot_spot_lowers_the_skew(load_case: Cases, name: str) -> None:
    """The same events are less skewed after a remedy against a hot spot."""
    case = load_case(name)
    before = compute_skew(case.design)
    for tried in case.tried:
        if tried.finding.code in LOAD_RULES:
            after = compute_skew(tried.design)
            assert after <= max(MAX_SKEW_RATIO * before, EVEN_SKEW), tried.finding.remedy


EVEN_SKEW = 1.1
"""Skew over what an even design shows below which there is nothing to cool."""
RATE = "200/s"
"""Events of a file that does not say how many: 120,000 in ten minutes, enough to see heat."""


def compute_skew(design: Design) -> float:
    """Return the skew over servers of events generated from the file."""
    words = design.declaration.model_dump(by_alias=True, exclude_unset=True)
    words["writes"] = {"rate": RATE, **words.get("writes", {})}
    verdict = run(set_sample_splits(Design(**words))).verdict
    return verdict.skew / verdict.even_skew


def set_sample_splits(design: Design, sample: Path | None = None) -> Design:
    """Return the design with quantiles of its own events for splits, unless it has a sample."""
    if sample is not None or not design.splits.needs_sample:
        return design
    workload = WorkloadGenerator(design.writes, design.collect_needed_fields(), 0, design.key)
    rows = [one.rows for one in islice(workload.generate_events(), 4)]
    keys = sorted(key for some in rows for key in design.key.encode_batch(some).to_pylist())
    regions = design.splits.request.regions or 2 * design.cluster.servers
    words = design.declaration.model_dump(by_alias=True, exclude_unset=True)
    splits = dict.fromkeys(keys[len(keys) * n // regions] for n in range(1, regions))
    return Design(**{**words, "splits": list(map(to_string_binary, splits))})


@pytest.mark.parametrize("name", CASES)
def test_every_remedy_with_notation_is_applied(load_case: Cases, name: str) -> None:
    """Each remedy with notation or TOML in it is applied, unless it leaves a choice."""
    case = load_case(name)
    for one in case.judgement.found:
        if NOTATION.search(one.remedy) and one.code not in NOT_APPLIED:
            assert apply_remedy(case.design, one), one.remedy


def test_most_remedies_are_applied_by_the_tests(load_case: Cases) -> None:
    """Most remedies are applied, and few are prose."""
    every = [load_case(name) for name in CASES]
    prose = [
        one for case in every for one in case.judgement.found if not apply_remedy(case.design, one)
    ]
    assert sum(len(case.tried) for case in every) >= TRIED
    assert len(prose) <= IN_PROSE


def test_each_rule_exempt_from_applying_has_a_written_remedy(load_case: Cases) -> None:
    """Each rule in the list of exceptions has a remedy that is written out."""
    every = [load_case(name) for name in CASES]
    written = {
        one.code for case in every for one in case.judgement.found if NOTATION.search(one.remedy)
    }
    assert set(NOT_APPLIED) <= written


@pytest.mark.long  # with the designs that judge whole recordings again
def test_each_listed_pair_of_findings_occurs(load_case: Cases) -> None:
    """Each listed pair occurs: a remedy of the first finding leads to the second."""
    every = [load_case(name) for name in ALL_DESIGNS]
    came = {
        (tried.finding.code, one.code)
        for case in every
        for tried in case.tried
        for one in tried.judgement.found
    }
    assert set(EXPECTED_PAIRS) <= came
