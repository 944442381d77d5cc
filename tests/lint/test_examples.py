"""The findings of the designs that ship with rowkey, each listed after reading it by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

import rowkey
from rowkey.design import Design
from rowkey.lint import check_design
from samples import summarize_sample

EXAMPLES = Path(rowkey.__file__).parent / "examples"
EXPECTED_FINDINGS = {
    "apache/hashed": ["RK108 key"],
    "apache/mod": ["RK102 key", "RK108 key"],
    "apache/time_first": ["RK101 key", "RK108 key", "RK404 families.d.ttl"],
    "flights/hashed": [],
    "flights/mod": ["RK102 key"],
    "flights/time_first": ["RK101 key"],
}

QUICK_EXAMPLES = ("apache/hashed", "apache/time_first")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in QUICK_EXAMPLES else pytest.mark.long)
        for name in EXPECTED_FINDINGS
    ],
)
def test_each_shipped_design_has_exactly_the_listed_findings(name: str) -> None:
    path = EXAMPLES / f"{name}.toml"
    design = Design.read(path)
    assert design.sample_path is not None
    found = check_design(design, summarize_sample(design, design.sample_path))
    assert EXPECTED_FINDINGS[name] == sorted(f"{one.code} {one.path}" for one in found.findings)
    assert ["full-scan-read"] == [one.name for one in found.allowed_findings]


def test_the_findings_of_every_shipped_design_are_listed() -> None:
    shipped = {
        str(path.relative_to(EXAMPLES).with_suffix("")) for path in EXAMPLES.glob("*/*.toml")
    }
    assert shipped == set(EXPECTED_FINDINGS)
