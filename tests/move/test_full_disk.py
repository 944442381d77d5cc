"""A move says that the disk is full, and goes on once it has space."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reliability.shim import build_shim, run_with_shim


def test_a_move_on_a_full_disk_continues_once_there_is_space(tmp_path: Path) -> None:
    """Whenever the disk becomes full, the move names that, and later no row or cell is lost."""
    place = tmp_path / "place"
    place.mkdir()
    module = Path(__file__).with_name("full_disk.py")
    lines = run_with_shim(build_shim(tmp_path), module, str(place))
    results: list[dict[str, Any]] = [json.loads(line) for line in lines]
    for result in results:
        assert "o space left" in result.pop("said")
    expected = {
        "has_passed": True, "rows": 200, "are_right": True, "foreign": 100, "are_equal": True
    }  # fmt: skip
    assert 4 * [expected] == results
