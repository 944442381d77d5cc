"""Rules run on random designs without an error, and give the same findings twice."""

from __future__ import annotations

import json

from hypothesis import given

from design.designs import designs
from example_counts import divide_examples
from rowkey.design import Design
from rowkey.lint import apply_fixes, check_design
from rowkey.render import build_findings_document


@given(designs)
def test_rules_run_on_any_random_design_and_give_the_same_findings_again(design: Design) -> None:
    """Each finding on a random design has a line and a JSON form, and a rerun finds the same."""
    text = design.dumps()
    written = Design.loads(text)
    found = check_design(written)
    json.dumps(build_findings_document(found), allow_nan=False)
    assert all(1 <= one.line <= text.count("\n") for one in found.findings)
    assert [str(one) for one in found.findings] == [
        str(one) for one in check_design(written).findings
    ]


@divide_examples(2)
@given(designs)
def test_a_fix_changes_no_row_keys_and_no_cells(design: Design) -> None:
    """A fixed design gives rows the same keys and cells as before."""
    after = apply_fixes(Design.loads(design.dumps())).design
    assert design.key.terms == after.key.terms
    assert design.declaration.fields == after.declaration.fields
    assert _list_cells(design) == _list_cells(after)


def _list_cells(design: Design) -> list[tuple[str, bytes, tuple[str, ...]]]:
    """Return family, qualifier and fields of each cell of an event."""
    return [(slot.family, slot.qualifier, slot.field_names) for slot in design.layout.slots]
