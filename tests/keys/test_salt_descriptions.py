"""Parts computed from a salt alone, with no field, are described."""

from __future__ import annotations

import pytest

from rowkey import Design
from rowkey.design import derive_properties


@pytest.mark.parametrize("part", ["truncate(salt(1, as=bytes), 1)", "digest(salt(1, as=bytes), 1)"])
def test_a_key_part_that_hashes_a_salt_can_be_described(part: str) -> None:
    """The description of a part that hashes a salt raises no error."""
    design = Design("t", f"[{part}][id]", fields={"id": "u64"})
    assert 2 == len(derive_properties(design).parts)
