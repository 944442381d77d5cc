"""Designs can be sent to other processes."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from rowkey import Design

ROOT = Path(__file__).parents[2]
SHIPPED_DESIGNS = sorted(
    path
    for folder in ("examples", "src/rowkey/examples")
    for path in (ROOT / folder).rglob("*.toml")
)


@pytest.mark.parametrize("path", SHIPPED_DESIGNS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_pickled_design_equals_the_original(path: Path) -> None:
    """A pickled design is the same design with the same keys, lines and sample."""
    design = Design.read(path)
    copy = pickle.loads(pickle.dumps(design))
    assert (design, repr(design.key)) == (copy, repr(copy.key))
    assert _find_key_line(design) == _find_key_line(copy) > 0
    assert (design.dumps(), design.sample_path) == (copy.dumps(), copy.sample_path)
    for row in design.key.generate_rows(5):
        salt = 0 if design.key.is_salted else None
        assert design.key.encode(row, salt=salt) == copy.key.encode(row, salt=salt)


def _find_key_line(design: Design) -> int:
    assert design.source is not None
    return design.source.source_map.find_line("key")


def test_a_copy_of_a_design_with_other_bucket_counts_leaves_the_original_unchanged() -> None:
    """A copy with other bucket counts or a dictionary does not change the design."""
    design = Design("t", "[bucket(id, 16)][code(host)][id]", fields={"id": "u64", "host": "text"})
    key, dictionary = design.key, design.key.dictionary
    changed = design.copy_for_reading([design.copy_with_counts({0: 32})])
    assert 2 == len(changed.key.variants)
    assert design.key is key
    assert () == tuple(key.variants)
    assert dictionary is design.key.dictionary


def test_a_pickled_design_still_finds_rows_of_several_bucket_counts() -> None:
    """A pickled design still finds rows of 16 and of 32 buckets."""
    one = Design("t", "[bucket(id, 16)][id]", fields={"id": "u64"})
    both = one.copy_for_reading([one.copy_with_counts({0: 32})])
    copy = pickle.loads(pickle.dumps(both))
    assert (repr(both.key), both.layout.key is both.key) == (repr(copy.key), True)
    for start in ("0a", "1a"):
        assert {"id": 5} == copy.key.decode(bytes.fromhex(f"{start}0000000000000005"))
