"""What is found in the designs that ship with rowkey, read by hand and held here."""

from __future__ import annotations

from pathlib import Path

import pytest

import rowkey
from rowkey.design import Design
from rowkey.lint import check_design, summarize_sample

EXAMPLES = Path(rowkey.__file__).parent / "examples"
FOUND = {
    "apache/hashed": ["RK108 key"],
    "apache/mod": ["RK102 key", "RK108 key"],
    "apache/time_first": ["RK101 key", "RK108 key", "RK404 families.d.ttl"],
    "flights/hashed": [],
    "flights/mod": ["RK102 key"],
    "flights/time_first": ["RK101 key"],
}


@pytest.mark.parametrize("name", FOUND)
def test_an_example_has_the_findings_it_is_an_example_of(name: str) -> None:
    """Of each recording, one read is allowed to scan all, for it is asked of all three keys."""
    path = EXAMPLES / f"{name}.toml"
    design = Design.read(path)
    sample = design.declaration.sample
    assert sample is not None
    found = check_design(design, summarize_sample(design, path.parent / sample.path))
    assert FOUND[name] == sorted(f"{one.code} {one.path}" for one in found.findings)
    assert ["full-scan-read"] == [one.finding.name for one in found.allowed_findings]


def test_every_example_is_read() -> None:
    """None ships without its findings having been read."""
    shipped = {
        str(path.relative_to(EXAMPLES).with_suffix("")) for path in EXAMPLES.glob("*/*.toml")
    }
    assert shipped == set(FOUND)
