"""What a part says of itself where nothing of it is a field."""

from __future__ import annotations

import pytest

from rowkey import Design
from rowkey.design import derive_properties


@pytest.mark.parametrize("part", ["truncate(salt(1, as=bytes), 1)", "digest(salt(1, as=bytes), 1)"])
def test_a_part_of_a_salt_says_what_it_does(part: str) -> None:
    """A key that nobody would choose is described, not the end of the command."""
    design = Design("t", f"[{part}][id]", fields={"id": "u64"})
    assert 2 == len(derive_properties(design).parts)
