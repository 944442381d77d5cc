"""Designs with a proposed key are those that a design file with that key declares."""

from __future__ import annotations

import pytest

from rowkey import Design
from rowkey.errors import InvalidDesign
from rowkey.proposals import KeyProposal, apply_proposal

TEXT = """\
table = "events"
key = "[host][ts]"
splits = ["m"]  # rowkey: allow unsplit-table - small

[fields]
host = { type = "text", max_bytes = 16 }
ts = "timestamp_ms"
value = "i64"

[[reads]]
name = "of a host"
where = "host = ?"
"""


@pytest.mark.parametrize("splits", ["", "sample"])
def test_a_copy_with_another_key_equals_the_design_that_declares_it(splits: str) -> None:
    design = Design.loads(TEXT)
    key = "[host][desc(ts)][value]"
    found = apply_proposal(design, KeyProposal(key=key, splits=splits))
    expected = design.copy_with_options(key=key, **({"splits": splits} if splits else {}))
    assert (expected, expected.dumps()) == (found, found.dumps())
    assert (expected.splits, repr(expected.key)) == (found.splits, repr(found.key))
    assert (expected.source, expected.first_source) == (found.source, found.first_source)
    assert list(expected.layout.fields) == list(found.layout.fields)
    assert ("[host][ts]", ("m",)) == (design.declaration.key, design.declaration.splits)


@pytest.mark.parametrize("key", ["[nothing]", "[", "[host:odd]"])
def test_a_copy_with_a_wrong_key_is_refused_as_the_design_that_declares_it(key: str) -> None:
    design = Design.loads(TEXT)
    with pytest.raises(InvalidDesign) as found:
        apply_proposal(design, KeyProposal(key=key))
    with pytest.raises(InvalidDesign) as expected:
        design.copy_with_options(key=key)
    assert str(expected.value) == str(found.value)
