"""What is found in the designs that ship with rowkey, read by hand and held here."""

from __future__ import annotations

from pathlib import Path

import pytest

import rowkey
from rowkey.design import Design
from rowkey.lint import check, look

EXAMPLES = Path(rowkey.__file__).parent / "examples"
FOUND = {
    "apache/hashed": ["overwritten-rows"],
    "apache/mod": ["overwritten-rows", "time-only-bucket"],
    "apache/time_first": ["monotone-lead", "overwritten-rows", "ttl-behind-the-front"],
    "flights/hashed": [],
    "flights/mod": ["time-only-bucket"],
    "flights/time_first": ["monotone-lead"],
}


@pytest.mark.parametrize("name", FOUND)
def test_an_example_has_the_findings_it_is_an_example_of(name: str) -> None:
    """Of each recording, one read is allowed to scan all, for it is asked of all three keys."""
    path = EXAMPLES / f"{name}.toml"
    design = Design.read(path)
    sample = design.declaration.sample
    assert sample is not None
    found = check(design, look(design, path.parent / sample.path))
    assert FOUND[name] == sorted(one.name for one in found.found)
    assert ["full-scan-read"] == [one.finding.name for one in found.allowed]


def test_every_example_is_read() -> None:
    """None ships without its findings having been read."""
    shipped = {
        str(path.relative_to(EXAMPLES).with_suffix("")) for path in EXAMPLES.glob("*/*.toml")
    }
    assert shipped == set(FOUND)
