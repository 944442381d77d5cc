"""Rules over designs of every sort: they say what they find, and never fail."""

from __future__ import annotations

import json

from hypothesis import given

from design.designs import designs
from rowkey.design import Design
from rowkey.lint import apply_fixes, check_design
from rowkey.render import build_findings_document


@given(designs)
def test_every_design_is_judged(design: Design) -> None:
    """Each finding has a line of the file, and is told to machines; twice, the same is found."""
    text = design.dumps()
    written = Design.loads(text)
    found = check_design(written)
    json.dumps(build_findings_document(found), allow_nan=False)
    assert all(1 <= one.line <= text.count("\n") for one in found.findings)
    assert [str(one) for one in found.findings] == [
        str(one) for one in check_design(written).findings
    ]


@given(designs)
def test_fixes_leave_the_key_alone(design: Design) -> None:
    """Whatever is mended, rows have the same keys and the same cells."""
    after = apply_fixes(Design.loads(design.dumps())).design
    assert design.key.terms == after.key.terms
    assert design.declaration.fields == after.declaration.fields
    assert _places(design) == _places(after)


def _places(design: Design) -> list[tuple[str, bytes, tuple[str, ...]]]:
    """Where an event's values lie: family, qualifier and fields of each cell."""
    return [(slot.family, slot.qualifier, slot.field_names) for slot in design.layout.slots]
