"""The law of remedies: what one writes out, written into the file, mends and breaks nothing."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import islice
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import rowkey
from lint.remedies import WRITTEN, applied
from rowkey.design import Design
from rowkey.lint import RULES, LintSubject, check_design, summarize_sample
from rowkey.regions import to_string_binary
from rowkey.simulate import run
from rowkey.workload import WorkloadGenerator

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.lint import Finding

pytestmark = pytest.mark.xdist_group("remedies")  # every case is judged once
IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
ROOT = Path(__file__).parents[2]
SHIPPED = [
    *sorted((ROOT / "examples").glob("*/*/*.toml")),
    *sorted((Path(rowkey.__file__).parent / "examples").glob("*/*.toml")),
]
BAD = sorted(RULES, key=lambda name: RULES[name].code)
EVERY = [*BAD, *(path.relative_to(path.parents[2]).with_suffix("").as_posix() for path in SHIPPED)]
PATHS = dict(zip(EVERY[len(BAD) :], SHIPPED, strict=True))
LONG = ("proof/", "examples/flights/mod", "examples/flights/hashed")
CASES = [name for name in EVERY if IS_LONG or not name.startswith(LONG)]
"""Without those that judge whole recordings again, which is most of the time of all."""

NOT_APPLIED = {
    "RK202": "where the splits are a list, which of them to add is the author's to say",
    "RK413": "how long what was deleted is to be read is the author's to say",
    "RK508": "which of the fields tells events apart is the author's to say",
}
"""Rules whose remedies write something out that needs a decision besides."""
APPEARS = {
    ("RK105", "RK118"): "a counter's rows are added up, whichever salt they have",
    ("RK410", "RK803"): "growth is told once a file declares its families, and then it does",
    ("RK101", "RK607"): "a read that was a full scan is narrowed, and what still lacks is told",
    ("RK102", "RK607"): "the same",
    ("RK104", "RK611"): "that a read of one value asks every bucket is the remedy, and told",
    ("RK123", "RK611"): "the same read asked more buckets before, which was told instead",
    ("RK101", "RK608"): "what a read returns is told once it is no full scan any more",
    ("RK102", "RK608"): "the same",
    ("RK601", "RK608"): "what a read returns is told once it is no full scan any more",
}
"""What is found after a remedy that was not found before, and why it is not the remedy's doing."""
SAYS_SO = ("then ask", "asks every bucket", "reads ask several buckets", "by adding up its rows")
"""Words by which a remedy says that some reads then ask more ranges."""
TRIED, IN_PROSE = 125, 100
"""Ways of remedies that are tried, at the least, and remedies in prose, at the most."""


@dataclass(frozen=True)
class Judged:
    """What is known of a design.

    Args:
        found: what all rules find in it, allowed or not.
        ranges: how many each read asks; a full scan is as many as there can be.
    """

    found: Sequence[Finding]
    ranges: Mapping[str, float]


@dataclass(frozen=True)
class Tried:
    """A remedy that was written into the file.

    Args:
        finding: of which it is.
        design: the design with it.
        judged: that design.
    """

    finding: Finding
    design: Design
    judged: Judged

    @property
    def key(self) -> str:
        """The key of the design with it."""
        return self.design.declaration.key


@dataclass(frozen=True)
class Case:
    """A design that has findings.

    Args:
        design: it.
        judged: what is found in it.
        tried: every remedy that is written out, in each way it names.
    """

    design: Design
    judged: Judged
    tried: Sequence[Tried]


Cases = Callable[[str], Case]


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Cases:
    """Judges a bad design of a rule, or one that is shipped, once."""

    @cache
    def case(name: str) -> Case:
        if name in PATHS:
            design = Design.read(PATHS[name])
            sample = design.sample_path
        else:
            design = Design.loads(RULES[name].bad_design, source="design.toml")
            sample = tmp_path_factory.mktemp(name) / "rows.csv" if RULES[name].sample_csv else None
            if sample is not None:
                sample.write_text(RULES[name].sample_csv)
        first = judged(design, sample)
        tried = [
            Tried(one, made, judged(cut(made, sample), sample))
            for one in first.found
            if one.code not in NOT_APPLIED
            for made in applied(design, one)
        ]
        return Case(design, first, tried)

    return case


def judged(design: Design, sample: Path | None) -> Judged:
    """What is found in a design under a sample, and how its reads run."""
    seen = None if sample is None else summarize_sample(design, sample)
    found = check_design(design, seen)
    ranges = {
        one.read.name: inf if one.plan.is_full_scan else one.plan.fan_out
        for one in LintSubject(design, seen).reads
        if one.plan is not None
    }
    return Judged([*found.findings, *(one.finding for one in found.allowed_findings)], ranges)


def places(found: Sequence[Finding], code: str) -> Counter[str]:
    """Where a rule found something; reads by their names, for another table has not all of them."""
    return Counter(
        str(one.value) if one.path.startswith("reads") else one.path
        for one in found
        if one.code == code
    )


@pytest.mark.parametrize("name", CASES)
def test_a_remedy_that_is_written_out_mends(cases: Cases, name: str) -> None:
    """The design loads, the finding is gone, no other rule finds anything that was not there."""
    case = cases(name)
    codes = {one.code for one in case.judged.found}
    for tried in case.tried:
        code, after = tried.finding.code, tried.judged.found
        (place,) = places([tried.finding], code)
        told = f"{tried.finding.remedy} {tried.key}"
        assert places(case.judged.found, code)[place] > places(after, code)[place], told
        came = [str(one) for one in after if one.code not in codes]
        assert [] == [one for one in came if not _is_known(code, one)], told


def _is_known(mended: str, came: str) -> bool:
    """Whether it is known that something is found beside a remedy."""
    return any(mended == one and other in came for one, other in APPEARS)


@pytest.mark.parametrize("name", CASES)
def test_no_read_asks_more_unless_the_remedy_says_so(cases: Cases, name: str) -> None:
    """Each declared read that was served is served with as few ranges as before."""
    case = cases(name)
    for tried in case.tried:
        then = tried.judged.ranges
        dearer = [read for read, ranges in then.items() if case.judged.ranges[read] < ranges]
        remedy = tried.finding.remedy
        assert not dearer or any(words in remedy for words in SAYS_SO), (remedy, dearer)


OF_HEAT = {rule.code for rule in RULES.values() if getattr(rule, "cause", None)}
"""Rules that tell of a cause of heat."""
COOLER = 0.95
"""What is left of the skew once a remedy against heat is written into the file, at the most."""


@pytest.mark.parametrize("name", [name for name in BAD if RULES[name].code in OF_HEAT])
def test_a_remedy_against_heat_makes_it_cooler(cases: Cases, name: str) -> None:
    """The same events are replayed on the design before and after: hot ones are cooler then."""
    case = cases(name)
    before = skew(case.design)
    for tried in case.tried:
        if tried.finding.code in OF_HEAT:
            after = skew(tried.design)
            assert after <= max(COOLER * before, EVEN), tried.finding.remedy


EVEN = 1.1
"""Skew over what an even design shows below which there is nothing to cool."""
RATE = "200/s"
"""Events of a file that does not say how many: 120,000 in ten minutes, enough to see heat."""


def skew(design: Design) -> float:
    """How much fuller than an even design's the fullest server is, of events made from the file."""
    words = design.declaration.model_dump(by_alias=True, exclude_unset=True)
    words["writes"] = {"rate": RATE, **words.get("writes", {})}
    verdict = run(cut(Design(**words))).verdict
    return verdict.skew / verdict.even_skew


def cut(design: Design, sample: Path | None = None) -> Design:
    """The design, with the splits that quantiles of its own events are where no others came."""
    if sample is not None or not design.splits.needs_sample:
        return design
    workload = WorkloadGenerator(design.writes, design.collect_needed_fields(), 0, design.key)
    rows = [one.rows for one in islice(workload.generate_events(), 4)]
    keys = sorted(key for some in rows for key in design.key.encode_batch(some).to_pylist())
    regions = 2 * design.cluster.servers
    words = design.declaration.model_dump(by_alias=True, exclude_unset=True)
    splits = dict.fromkeys(keys[len(keys) * n // regions] for n in range(1, regions))
    return Design(**{**words, "splits": list(map(to_string_binary, splits))})


@pytest.mark.parametrize("name", CASES)
def test_what_is_written_out_is_tried(cases: Cases, name: str) -> None:
    """A remedy with notation or TOML in it is under the law, unless it leaves a choice."""
    case = cases(name)
    for one in case.judged.found:
        if WRITTEN.search(one.remedy) and one.code not in NOT_APPLIED:
            assert applied(case.design, one), one.remedy


def test_most_remedies_are_tried(cases: Cases) -> None:
    """How many are written out and under the law, and how many are prose."""
    every = [cases(name) for name in CASES]
    prose = [one for case in every for one in case.judged.found if not applied(case.design, one)]
    assert sum(len(case.tried) for case in every) >= TRIED
    assert len(prose) <= IN_PROSE


def test_each_rule_that_is_not_applied_writes_something_out(cases: Cases) -> None:
    """None stands in the list for nothing."""
    every = [cases(name) for name in CASES]
    written = {
        one.code for case in every for one in case.judged.found if WRITTEN.search(one.remedy)
    }
    assert set(NOT_APPLIED) <= written


@pytest.mark.long  # with the designs that judge whole recordings again
def test_each_pair_of_findings_comes(cases: Cases) -> None:
    """None stands in the list for nothing: a remedy of the one is followed by the other."""
    every = [cases(name) for name in EVERY]
    came = {
        (tried.finding.code, one.code)
        for case in every
        for tried in case.tried
        for one in tried.judged.found
    }
    assert set(APPEARS) <= came
